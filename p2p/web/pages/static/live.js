// Keeps a page as the server has it: asks for the page again when something it shows has changed, and morphs it, so
// that text being typed, focus, videos and opened details stay.
import { listen } from "./notices.js";

const least = 250; // between two requests [ms]
let lastFresh = Date.now();
let connected = true;
let refused = false;
let asked = false;
let load = null; // gives the page as the server has it now
let again = false;

const callbacks = {
  beforeAttributeUpdated: (name, node) =>
    !(name === "open" && node.matches("details, dialog")) && !(name === "checked" && node.matches("[data-select]")),
  beforeNodeMorphed: (old) => !(old instanceof Element && old.hasAttribute("data-keep")),
};

export function morph(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const main = fresh.querySelector("#main");
  if (!main) return false;
  window.Idiomorph.morph(document.querySelector("#main"), main.innerHTML, {
    morphStyle: "innerHTML",
    // what holds the focus keeps its content too: a button that was pressed would keep its old words
    ignoreActiveValue: document.activeElement?.matches("input, textarea, select") ?? false,
    callbacks,
  });
  document.title = fresh.title;
  const command = fresh.querySelector("#command");
  if (command) document.querySelector("#command")?.replaceChildren(command.textContent);
  document.dispatchEvent(new CustomEvent("p2p-news"));
  return true;
}

async function refresh() {
  if (document.hidden || asked) return void (again = true);
  again = false;
  asked = true;
  const html = await load(location.pathname + location.search);
  if (html !== null) {
    lastFresh = Date.now();
    morph(html);
  }
  setTimeout(() => {
    asked = false;
    if (again) refresh();
  }, least);
}

function concerns(notice, topics) {
  return topics.some((topic) => {
    const [name, id] = topic.split(":");
    return name === notice.topic && (!id || notice.id === id || notice.id.startsWith(`${id}.`) || notice.id.startsWith(`${id}/`));
  });
}

function showAge() {
  const bar = document.querySelector("#stale");
  bar.hidden = connected || Date.now() - lastFresh < 5000;
  bar.querySelector("[data-refused]").hidden = !refused;
  bar.querySelector("[data-age]").textContent = `${Math.round((Date.now() - lastFresh) / 1000)} s`;
}

export function goLive() {
  const main = document.querySelector("#main[data-live]");
  if (!main) return;
  const topics = main.dataset.live.split(" ");
  const known = new Map();
  load = listen((message) => {
    if (message.live !== undefined) {
      if (message.live && !connected) refresh();
      connected = message.live;
      refused = message.refused ?? false;
      return showAge();
    }
    let changed = false;
    for (const notice of message.notices) {
      const key = `${notice.topic} ${notice.id}`;
      if (!concerns(notice, topics) || known.get(key) === notice.version) continue;
      changed = changed || known.has(key) || message.later;
      known.set(key, notice.version);
    }
    if (changed) refresh();
  });
  setInterval(showAge, 1000);
  document.addEventListener("visibilitychange", () => !document.hidden && again && refresh());
  document.addEventListener("submit", send);
}

// A form of a page that is live is sent without leaving the page, and its answer morphed in.
async function send(event) {
  const form = event.target;
  if (!form.matches("#main form[method=post][data-here]") || event.defaultPrevented) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const answer = await fetch(form.action, { method: "POST", body });
  const html = await answer.text();
  if (answer.redirected && new URL(answer.url).pathname !== location.pathname) return location.assign(answer.url);
  if (answer.ok) form.reset();
  morph(html);
  if (!answer.ok) document.querySelector("#main").focus();
}
