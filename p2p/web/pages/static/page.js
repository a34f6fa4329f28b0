// What every page has: theme, keys, live updates. Without it, pages are read and forms are sent as usual.
import { goLive, morph } from "./live.js";
import { bindKeys } from "./keys.js";
import { playOnHover } from "./hover.js";
import { followLog } from "./log.js";
import { showSheets } from "./no_codec.js";
import { showWhileWriting } from "./preview.js";

const year = 31536000;

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-theme-form]")) return;
  event.preventDefault();
  const theme = form.querySelector("button").value;
  document.documentElement.dataset.theme = theme;
  document.cookie = `p2p_theme=${theme}; Path=/; Max-Age=${year}; SameSite=Strict`;
  offerOther(theme);
  document.dispatchEvent(new CustomEvent("p2p:theme", { detail: theme }));
});

function offerOther(theme) {
  const button = document.querySelector("[data-theme-form] button");
  button.value = theme === "dark" ? "light" : "dark";
  button.textContent = theme === "dark" ? "☀" : "☾";
  button.ariaLabel = button.title = theme === "dark" ? "Light theme" : "Dark theme";
}

if (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches) offerOther("dark");
bindKeys();
goLive();
playOnHover();
followLog();
showSheets();
showWhileWriting(morph);
