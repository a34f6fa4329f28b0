// A video that this browser cannot play is replaced by the contact sheet of the same rollouts.
const ours = 'video/mp4; codecs="avc1.640028"';

function replace(video) {
  const picture = new Image();
  picture.src = video.dataset.sheet;
  picture.className = "picture";
  picture.alt = "Contact sheet: moments of the judged rollout, in the order in which they happened";
  const said = document.createElement("p");
  said.className = "small soft";
  said.textContent = "This browser cannot play the video; these are moments of it.";
  video.replaceWith(picture, said);
}

export function showSheets() {
  const without = document.createElement("video").canPlayType(ours) === "";
  const look = () => {
    for (const video of document.querySelectorAll("video[data-sheet]")) if (without || video.error) replace(video);
  };
  // errors do not bubble
  document.addEventListener("error", (event) => event.target.matches?.("video[data-sheet]") && replace(event.target), true);
  document.addEventListener("p2p-news", look);
  look();
}
