// The workbench: rollouts, charts and stick figure on one clock, and the moment in the address.

import * as charts from "./charts.js";
import { Clock } from "./clock.js";
import { Figure } from "./figure.js";

const JUMP_ROWS = 10;
const REPORTED = ["median", "p10", "p90"]; // rollouts that can be scored
const ANNOTATOR = "p2p_annotator";
const TEXT_FIELDS = "input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";

const root = document.querySelector("[data-workbench]");
const clock = new Clock();
const marks = JSON.parse(root.dataset.marks);
const address = new URL(location.href);
const registry = new Map();
for (const { value, label, dataset } of document.querySelectorAll("#clips option")) {
  registry.set(value, { key: value, words: label, video: dataset.video, trace: dataset.trace });
}
const traces = new Map(); // address -> promise of a trace: finished recordings do not change
let slots = [];
let figure = null;
let feature = address.searchParams.get("feature");
let featureChart = null;

function traceAt(path) {
  if (!traces.has(path)) {
    const answer = fetch(path).then(async (found) => {
      if (found.ok) return found.json();
      const problem = await found.json();
      throw new Error(problem.detail);
    });
    traces.set(path, answer);
  }
  return traces.get(path);
}

// ---- rollouts -----------------------------------------------------------------------------------------------------

/** One rollout on the page: its element, its rows, and its video or the stick figure in place of it. */
class Slot {
  constructor(element) {
    this.element = element;
    this.video = element.querySelector("video");
    const canvas = element.querySelector("canvas.in-place-of-video");
    this.figure = canvas && new Figure(canvas);
    element.querySelector("[data-change]")?.addEventListener("change", (event) => replace(this, event.target.value));
    element.querySelector("[data-remove]")?.addEventListener("click", () => show(slots.filter((one) => one !== this)));
    this.video?.addEventListener("click", () => clock.toggle());
    this.video?.addEventListener("error", () => this.#fallBack(), { once: true });
  }

  get key() {
    return this.element.dataset.clip;
  }

  async load() {
    this.trace = await traceAt(this.element.dataset.trace);
    if (this.video?.error) this.#fallBack(); // it failed before anybody listened
    if (this.figure) this.figure.trace = this.trace;
    return this;
  }

  get track() {
    return { rows: this.trace.time.length, video: this.video };
  }

  /** A browser without the codec, or a file that is gone: the stick figure shows the same. */
  #fallBack() {
    const canvas = document.createElement("canvas");
    canvas.className = "in-place-of-video";
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Stick figure: the video cannot be played");
    this.video.replaceWith(canvas);
    this.video = null;
    this.figure = new Figure(canvas);
    if (this.trace && slots.every((slot) => slot.trace)) arrange();
  }
}

function elementFor(key) {
  const one = registry.get(key);
  const template = document.getElementById(one.video ? "clip" : "clip-without-video");
  const element = template.content.firstElementChild.cloneNode(true);
  element.dataset.clip = key;
  element.dataset.trace = one.trace;
  const video = element.querySelector("video");
  if (video) {
    video.src = one.video;
    video.setAttribute("aria-label", `Video: ${one.words}`);
  }
  const select = element.querySelector("[data-change]");
  if (select) select.value = key;
  element.querySelector("[data-remove]")?.setAttribute("aria-label", `Take ${one.words} away`);
  return element;
}

function replace(slot, key) {
  const element = elementFor(key);
  slot.element.replaceWith(element);
  show(slots.map((one) => (one === slot ? new Slot(element) : one)));
}

/** Put these rollouts on the page, in this order; the first is what charts and figure are of. */
async function show(wanted) {
  const host = document.querySelector("[data-clips]");
  for (const { element } of slots) if (!wanted.some((one) => one.element === element)) element.remove();
  wanted.forEach(({ element }, place) => {
    if (host.children[place] !== element) host.insertBefore(element, host.children[place] ?? null);
    element.querySelector(".swatch")?.setAttribute("class", `swatch series-${place}`);
    const remove = element.querySelector("[data-remove]");
    if (remove) remove.hidden = wanted.length === 1;
  });
  slots = wanted;
  try {
    await Promise.all(slots.map((slot) => slot.load()));
  } catch (error) {
    say(error.message);
    return;
  }
  arrange();
}

function arrange() {
  const { dt, steps_per_picture: rowsPerPicture } = slots[0].trace;
  for (const slot of slots) if (slot.figure) slot.figure.trace = slot.trace;
  clock.follow(slots.map((slot) => slot.track), dt, rowsPerPicture);
  for (const host of document.querySelectorAll("[data-terms]")) {
    const slot = slots[Number(host.dataset.terms)];
    host.p2pChart?.destroy();
    host.p2pChart = slot ? charts.stackedTerms(host, slot.trace, clock) : null;
  }
  const contacts = document.querySelector("[data-contacts]");
  if (contacts) {
    contacts.p2pChart?.destroy();
    contacts.p2pChart = charts.contactChart(contacts, slots[0].trace, clock);
  }
  if (figure) figure.trace = slots[0].trace;
  offerFeatures();
  drawFeature();
  const seek = document.querySelector("[data-seek]");
  seek.max = clock.rows - 1;
  const add = document.querySelector("[data-add]");
  if (add) add.hidden = slots.length >= Number(root.dataset.most) || slots.length >= registry.size;
  onRow();
}

function offerFeatures() {
  const select = document.querySelector("[data-feature]");
  const names = Object.keys(slots[0].trace.features).filter((name) => name !== "time");
  const judged = new Set(marks.map((mark) => mark.feature));
  const order = [...names.filter((name) => judged.has(name)), ...names.filter((name) => !judged.has(name))];
  if (!order.includes(feature)) feature = order[0];
  select.replaceChildren(
    ...order.map((name) => new Option(judged.has(name) ? `${name} (judged)` : name, name, false, name === feature)),
  );
}

function drawFeature() {
  const host = document.querySelector("[data-feature-chart]");
  featureChart?.destroy();
  const rollouts = slots.map((slot) => ({ label: registry.get(slot.key).words.split(",")[0], trace: slot.trace }));
  featureChart = charts.featureChart(host, rollouts, feature, marks, clock);
  host.p2pChart = featureChart;
}

// ---- clock --------------------------------------------------------------------------------------------------------

function onRow() {
  const { row } = clock;
  const seek = document.querySelector("[data-seek]");
  const time = `${clock.timeOf(row).toFixed(clock.dt < 0.01 ? 3 : 2)} s`;
  seek.value = row;
  seek.setAttribute("aria-valuetext", `row ${row}, ${time}`);
  const output = document.querySelector("[data-clock]");
  output.textContent = `row ${row} of ${clock.rows - 1} · ${time}`;
  output.dataset.row = row;
  figure?.show(row);
  for (const slot of slots) slot.figure?.show(row);
  if (!clock.playing) remember();
}

let remembering = 0;

/** Keep the moment in the address, at most four times a second: browsers refuse more. */
function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(() => {
    const query = moment();
    const link = document.querySelector("[data-link]");
    if (link) link.href = `?${query}`;
    history.replaceState(null, "", `${location.pathname}?${query}`);
    for (const one of document.querySelectorAll("a[data-keep]")) one.search = elsewhere(query);
  }, 250);
}

function moment() {
  const query = new URLSearchParams({ label: slots[0].key });
  if (slots.length > 1) query.set("with", slots.slice(1).map((slot) => slot.key).join(","));
  query.set("row", clock.row);
  if (feature) query.set("feature", feature);
  return query;
}

/** The same moment in another iteration: rollouts of checkpoints are this one's own. */
function elsewhere(query) {
  const kept = new URLSearchParams({ row: query.get("row"), label: query.get("label").replace(/^\d+\.|@.*$/g, "") });
  if (query.has("feature")) kept.set("feature", query.get("feature"));
  return kept;
}

function onState() {
  const play = document.querySelector("[data-play]");
  play.textContent = clock.playing ? "⏸" : "▶";
  play.setAttribute("aria-label", clock.playing ? "Pause" : "Play");
  if (!clock.playing && slots.length && slots[0].trace) remember();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const { target } = event;
  if (target.closest?.(`${TEXT_FIELDS}, dialog`)) return;
  const step = event.shiftKey ? JUMP_ROWS : 1;
  const pressed = target.closest?.("button, summary, a, input[type=checkbox], input[type=radio]");
  const actions = {
    " ": () => !pressed && clock.toggle(),
    ArrowLeft: () => clock.seek(clock.row - step),
    ArrowRight: () => clock.seek(clock.row + step),
    "[": () => follow("prev"),
    "]": () => follow("next"),
  };
  const action = actions[event.key] ?? choice(event.key);
  if (!action || (event.key.startsWith("Arrow") && target.closest?.("input[type=radio]"))) return;
  if (action() !== false) event.preventDefault();
}

/** A key of a form that says what somebody thinks: the score of a rollout, or which of two is better. */
function choice(key) {
  const radio = root.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!radio) return null;
  return () => {
    const { form } = radio;
    if (form.elements.rollout && REPORTED.includes(slots[0]?.key)) form.elements.rollout.value = slots[0].key;
    radio.checked = true;
    if (form.reportValidity() && form.matches("[data-score-form]")) form.requestSubmit();
    else form.querySelector("input:invalid, input[name=reason]")?.focus();
  };
}

/** Scores are sent without leaving the page, and whose they are is remembered by this browser. */
function sendScores() {
  const form = root.querySelector("[data-score-form]");
  if (!form) return;
  form.elements.annotator.value ||= localStorage.getItem(ANNOTATOR) ?? "";
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { annotator, rollout, score } = Object.fromEntries(new FormData(form));
    const said = form.querySelector("[data-said]");
    const answer = await fetch(`/api/sessions/${root.dataset.session}/labels`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ annotator, rollout, score: Number(score), iteration: Number(root.dataset.iteration) }),
    });
    localStorage.setItem(ANNOTATOR, annotator);
    said.textContent = answer.ok ? `✓ ${rollout} saved: ${score}` : `! ${(await answer.json()).detail}`;
  });
}

function follow(relation) {
  const link = root.querySelector(`a[rel=${relation}]`);
  if (!link) return false;
  if (slots.length) link.search = elsewhere(moment());
  link.click();
  return true;
}

function say(text) {
  const problem = document.createElement("p");
  problem.className = "card bad";
  problem.setAttribute("role", "alert");
  problem.textContent = text;
  root.querySelector(".head").after(problem);
}

function listen() {
  const canvas = document.querySelector("canvas[data-figure]");
  if (canvas) figure = new Figure(canvas);
  clock.addEventListener("row", onRow);
  clock.addEventListener("state", onState);
  document.querySelector("[data-play]").addEventListener("click", () => clock.toggle());
  document.querySelector("[data-seek]").addEventListener("input", (event) => clock.seek(Number(event.target.value)));
  document.querySelector("[data-rate]").addEventListener("change", (event) => {
    clock.rate = Number(event.target.value);
  });
  document.querySelector("[data-loop]").addEventListener("change", (event) => {
    clock.loop = event.target.checked;
  });
  document.querySelector("[data-feature]").addEventListener("change", (event) => {
    feature = event.target.value;
    drawFeature();
    remember();
  });
  document.querySelector("[data-add]")?.addEventListener("click", () => {
    const free = [...registry.keys()].find((key) => !slots.some((slot) => slot.key === key));
    show([...slots, new Slot(elementFor(free))]);
  });
  for (const radio of document.querySelectorAll("[name=side]")) {
    radio.addEventListener("change", () => {
      figure.side = radio.value;
    });
  }
  for (const link of document.querySelectorAll("a[data-show]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      if (registry.has(link.dataset.show)) replace(slots[0], link.dataset.show);
      document.querySelector(".stage").scrollIntoView({ block: "nearest" });
    });
  }
}

// ---- training -----------------------------------------------------------------------------------------------------

const metrics = (query) =>
  fetch(`/api/sessions/${root.dataset.session}/iterations/${root.dataset.iteration}/metrics?${query}`).then((found) =>
    found.ok ? found.json() : { runs: [], best_run_id: null },
  );

async function drawCriteria() {
  const hosts = document.querySelectorAll("[data-criterion]");
  if (!hosts.length) return;
  const { runs, best_run_id: best } = await metrics("names=episodic_return&points=2"); // evaluations come with any name
  for (const host of hosts) {
    const criterion = JSON.parse(host.dataset.criterion);
    if (runs.some((run) => run.evaluations.length)) charts.criterionChart(host, criterion, runs, best);
    else host.textContent = "No evaluation yet.";
    host.setAttribute("role", "img");
    host.setAttribute("aria-label", `${criterion.title} at the evaluations of ${runs.length} runs`);
  }
}

function drawTraining(details) {
  details.addEventListener(
    "toggle",
    async () => {
      const wanted = details.dataset.training;
      const { runs, best_run_id: best } = await metrics("points=600");
      const known = [...new Set(runs.flatMap((run) => run.names))];
      const names = known.filter((name) =>
        wanted === "*" ? !name.startsWith("reward_term_") && name !== "episodic_return" : name.startsWith(wanted),
      );
      const grid = details.querySelector(".chart-grid");
      if (!names.length) grid.textContent = "Nothing is written yet.";
      for (const name of names) {
        const figureOfOne = document.createElement("div");
        const title = document.createElement("h3");
        title.textContent = name.replace("reward_term_", "");
        const host = document.createElement("div");
        host.className = "chart-host";
        figureOfOne.append(title, host);
        grid.append(figureOfOne);
        charts.trainingChart(host, runs, best, name);
      }
    },
    { once: true },
  );
}

// ---- begin --------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", onKey);
sendScores();
document.querySelectorAll("details[data-training]").forEach(drawTraining);
const begun = [drawCriteria()];
if (document.querySelector("[data-clips]")) {
  listen();
  const row = Number(address.searchParams.get("row") ?? 0);
  begun.push(
    show([...document.querySelectorAll("[data-clips] > .clip")].map((element) => new Slot(element))).then(() => {
      if (Number.isFinite(row)) clock.seek(row);
    }),
  );
}
await Promise.all(begun);
document.body.dataset.ready = "yes";
