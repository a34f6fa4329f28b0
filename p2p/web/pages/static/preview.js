// The form of a new session: shows the criteria of what is written while it is written.
const wait = 450; // after the last change [ms]

export function showWhileWriting(morph) {
  const form = document.querySelector("form[data-preview]");
  if (!form) return;
  let timer = 0;
  let newest = 0;
  const ask = async () => {
    const asked = ++newest;
    const fields = new URLSearchParams(new FormData(form));
    fields.delete("once");
    if (!fields.get("prompt").trim()) return;
    const address = `/e2e/new?${fields}`;
    const answer = await fetch(address);
    if (asked !== newest || !answer.ok) return;
    morph(await answer.text());
    history.replaceState(null, "", address);
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, wait);
  });
}
