// Colours of the page for canvases, which cannot read a custom property that holds light-dark().

const probe = document.createElement("span");
probe.hidden = true;

/** What a custom property comes to at present, such as colour("--ink"). */
export function colour(name) {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

/** The same, seen through: share is its opacity in [0, 1]. */
export function faint(name, share) {
  const [red, green, blue] = colour(name).match(/[\d.]+/g);
  return `rgba(${red}, ${green}, ${blue}, ${share})`;
}

const SERIES = 5;
const DASHES = [[], [6, 3], [2, 3]];

/** Colour and dashes of curve number i: the sixth and later ones have the colours of the first, dashed. */
export function series(i) {
  return { name: `--series-${(i % SERIES) + 1}`, dash: DASHES[Math.min(DASHES.length - 1, Math.floor(i / SERIES))] };
}

/** Call redraw when the page changes between light and dark. */
export function onTheme(redraw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new MutationObserver(redraw).observe(document.documentElement, { attributes: true });
}
