// A rollout as a stick figure, from the recorded positions of its bodies: there before any video is made.
//
// <p2p-figure session="ID" iteration="3" live> shows the newest evaluation of an iteration, and looks for a newer one.

import { colour, onTheme } from "./colours.js";

const GROUND_PX = 16; // below the ground line
const MARGIN_PX = 12;
const LOOK_MS = 1000;
const SIDES = { side: 0, front: 1 }; // which horizontal axis lies in the picture

/** Draws rows of a trace on a canvas. */
export class Figure {
  #trace = null;
  #row = 0;
  #bounds = null;
  #side = "side";

  constructor(canvas) {
    this.canvas = canvas;
    new ResizeObserver(() => this.draw()).observe(canvas);
    onTheme(() => this.draw());
  }

  set trace(trace) {
    this.#trace = trace;
    this.#bounds = null;
    this.draw();
  }

  set side(side) {
    this.#side = side;
    this.#bounds = null;
    this.draw();
  }

  show(row) {
    if (row === this.#row) return; // a screen has more frames than a rollout has rows
    this.#row = row;
    this.draw();
  }

  draw() {
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    if (!this.#trace) return;
    this.#bounds ??= bounds(this.#trace, SIDES[this.#side]);
    const row = Math.min(this.#row, this.#trace.time.length - 1);
    canvas.dataset.row = row;
    const { reach, top, bottom } = this.#bounds;
    const scale = Math.min((height - GROUND_PX - MARGIN_PX) / (top - bottom), (width / 2 - MARGIN_PX) / reach);
    const axis = SIDES[this.#side];
    const centre = this.#at(1, axis, row);
    const x = (metres) => width / 2 + scale * (metres - centre);
    const y = (metres) => height - GROUND_PX - scale * (metres - bottom);
    this.#drawGround(pen, { x, y, width, centre, scale });
    const [ink, accent] = ["--ink", "--accent"].map(colour);
    pen.lineWidth = Math.max(3, Math.min(7, scale / 14));
    pen.lineCap = "round";
    for (const [body, parent] of this.#trace.bones) {
      if (parent === 0) continue; // the world is no limb
      const points = [parent, body].map((one) => [x(this.#at(one, axis, row)), y(this.#at(one, 2, row))]);
      if (!points.flat().every(Number.isFinite)) continue;
      pen.strokeStyle = parent === 1 ? accent : ink;
      pen.beginPath();
      pen.moveTo(...points[0]);
      pen.lineTo(...points[1]);
      pen.stroke();
    }
    pen.fillStyle = accent;
    pen.beginPath();
    pen.arc(x(centre), y(this.#at(1, 2, row)), pen.lineWidth * 1.1, 0, 2 * Math.PI);
    pen.fill();
  }

  #at(body, axis, row) {
    return this.#trace.positions[3 * body + axis][row] ?? Number.NaN;
  }

  #drawGround(pen, { x, y, width, centre, scale }) {
    pen.strokeStyle = colour("--line");
    pen.fillStyle = colour("--soft");
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(0, y(0) + 0.5);
    pen.lineTo(width, y(0) + 0.5);
    const span = width / 2 / scale;
    const step = span > 12 ? 5 : 1;
    for (let metre = Math.ceil((centre - span) / step) * step; metre <= centre + span; metre += step) {
      pen.moveTo(x(metre), y(0));
      pen.lineTo(x(metre), y(0) + 4);
      pen.fillText(`${metre} m`, x(metre), y(0) + 15);
    }
    pen.stroke();
  }
}

/** How far the bodies get from the first one, and how high, over a whole trace [m]. */
function bounds(trace, axis) {
  let reach = 0.3;
  let top = 0.5;
  let bottom = 0;
  for (let row = 0; row < trace.time.length; row++) {
    const centre = trace.positions[3 + axis][row];
    for (let body = 1; body < trace.bodies.length; body++) {
      const across = trace.positions[3 * body + axis][row];
      const up = trace.positions[3 * body + 2][row];
      if (across === null || up === null || centre === null) continue;
      reach = Math.max(reach, Math.abs(across - centre));
      top = Math.max(top, up);
      bottom = Math.min(bottom, up);
    }
  }
  return { reach: reach * 1.15, top: top * 1.1, bottom };
}

class LiveFigure extends HTMLElement {
  #figure = null;
  #shown = "";
  #trace = null;
  #begun = 0;
  #timer = 0;
  #still = matchMedia("(prefers-reduced-motion: reduce)");
  #news = () => this.#look();

  connectedCallback() {
    const canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
    this.caption = document.createElement("p");
    this.caption.className = "figure-caption";
    this.caption.textContent = "The stick figure is here after the first evaluation.";
    this.replaceChildren(canvas, this.caption);
    this.#figure = new Figure(canvas);
    document.addEventListener("p2p-news", this.#news);
    if (this.hasAttribute("live")) this.#timer = setInterval(this.#news, LOOK_MS);
    this.#look();
  }

  disconnectedCallback() {
    clearInterval(this.#timer);
    document.removeEventListener("p2p-news", this.#news);
    this.#trace = null;
  }

  async #look() {
    if (document.hidden) return;
    const address = `/api/sessions/${this.getAttribute("session")}/iterations/${this.getAttribute("iteration")}`;
    const found = await fetch(`${address}/recordings`);
    if (!found.ok) return;
    const { recordings } = await found.json();
    const made = recordings.filter((one) => one.trace && one.label === "median");
    const newest = made.find((one) => one.report) ?? made.toSorted((a, b) => b.checkpoint - a.checkpoint)[0];
    if (!newest) return;
    const query = newest.report ? "" : `?checkpoint=${newest.checkpoint}&run=${encodeURIComponent(newest.run_id)}`;
    if (query + newest.checkpoint === this.#shown) return;
    const answer = await fetch(`${address}/trace/median${query}`);
    if (!answer.ok || !this.isConnected) return;
    const moving = this.#trace !== null;
    this.#shown = query + newest.checkpoint;
    this.#trace = await answer.json();
    this.#figure.trace = this.#trace;
    this.#begun = performance.now();
    const kind = newest.report ? "median report rollout" : "median rollout";
    const words = `${kind}, ${newest.checkpoint.toLocaleString("en")} steps, ${newest.run_id}`;
    this.caption.textContent = words;
    this.querySelector("canvas").setAttribute("aria-label", `Stick figure: ${words}`);
    this.dataset.checkpoint = newest.checkpoint;
    if (!moving && !this.#still.matches) requestAnimationFrame((now) => this.#animate(now));
  }

  #animate(now) {
    if (!this.#trace || !this.isConnected) return;
    const row = Math.floor(Math.max(0, now - this.#begun) / 1000 / this.#trace.dt) % this.#trace.time.length;
    this.#figure.show(row);
    requestAnimationFrame((next) => this.#animate(next));
  }
}

customElements.define("p2p-figure", LiveFigure);
