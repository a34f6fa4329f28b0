// Videos in lists: played, muted, while a pointer rests on their picture. Not where there is no pointer that can rest
// on something, nor for who asks for less motion.
const rest = 150; // before it begins [ms]

export function playOnHover() {
  const pointer = matchMedia("(hover: hover) and (pointer: fine)");
  const less = matchMedia("(prefers-reduced-motion: reduce)");
  let timer = 0;
  document.addEventListener("pointerover", ({ target }) => {
    const picture = target.closest?.("img[data-video]");
    clearTimeout(timer);
    if (picture && pointer.matches && !less.matches) timer = setTimeout(play, rest, picture);
  });
}

function play(picture) {
  const video = document.createElement("video");
  Object.assign(video, { className: "thumb", muted: true, loop: true, playsInline: true, src: picture.dataset.video });
  video.setAttribute("aria-hidden", "true");
  const stop = () => {
    document.removeEventListener("pointerover", elsewhere);
    if (video.isConnected) video.replaceWith(picture);
  };
  // a pointer that has gone on before the browser knew it to be on the video never leaves that
  const elsewhere = ({ target }) => target !== video && stop();
  video.addEventListener("pointerleave", stop);
  video.addEventListener("error", stop);
  video.addEventListener("canplay", () => {
    if (!picture.matches(":hover")) return;
    picture.replaceWith(video);
    document.addEventListener("pointerover", elsewhere);
    video.play().catch(stop);
  }, { once: true });
}
