// Keys of all pages; none of them while somebody types.
const tabs = { e: "/e2e", b: "/benchmark", m: "/monitor", t: "/trash" };
let waitsForTab = 0;

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function move(by) {
  const rows = [...document.querySelectorAll("[data-rows] > *")];
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.classList.contains("here"));
  const next = rows[Math.min(Math.max(at + by, 0), rows.length - 1)];
  rows.forEach((row) => row.classList.toggle("here", row === next));
  next.querySelector("[data-open]")?.focus();
  next.scrollIntoView({ block: "nearest" });
}

function press(key) {
  if (performance.now() - waitsForTab < 1500 && tabs[key]) return location.assign(tabs[key]);
  waitsForTab = key === "g" ? performance.now() : 0;
  if (key === "j" || key === "k") return move(key === "j" ? 1 : -1);
  if (key === "x") return document.querySelector("[data-rows] > .here input[type=checkbox]")?.click();
  if (key === "c") return document.querySelector("[data-compare]")?.click();
  if (key === "?") return document.querySelector("#help").showModal();
  if (key === "n") return document.querySelector('a[href="/e2e/new"]')?.click();
  const field = { "/": "[data-search]", s: "[data-steer]" }[key];
  return field ? document.querySelector(field)?.focus() : undefined;
}

export function bindKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if ("jkgxcnsebmt?/".includes(event.key)) {
      if (event.key === "/" || event.key === "s") event.preventDefault();
      press(event.key);
    }
  });
}
