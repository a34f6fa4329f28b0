// The charts of the workbench, over uPlot. Those of a rollout stand on a clock: a click or a drag moves it.

import { colour, faint, onTheme, series } from "./colours.js";

const AXIS_PX = 48;
const END_PX = 64; // right of curves, where their names are
const GROUND_SHARE = 0.1; // of the range, left free above and below
const FONT = "12px system-ui, sans-serif";
const NO_POINTS = { show: false };

/** Charts that are redrawn when the page changes between light and dark. */
const drawn = new Set();
onTheme(() => drawn.forEach((chart) => chart.redraw(false)));

function axis(options = {}) {
  return {
    stroke: () => colour("--soft"),
    font: FONT,
    grid: { stroke: () => colour("--line"), width: 1 },
    ticks: { show: false },
    ...options,
  };
}

/** A range that holds the data and whatever is drawn besides. */
function rangeWith(...besides) {
  return (_chart, low, high) => {
    const all = [low, high, ...besides].filter((value) => value !== null && value !== undefined);
    if (!all.length) return [0, 1];
    return uPlot.rangeNum(Math.min(...all), Math.max(...all), GROUND_SHARE, true);
  };
}

/**
 * A chart in an element, which it fills in width.
 * @param {HTMLElement} host
 * @param {object} options of uPlot, without size
 * @param {Array} data
 */
function chartIn(host, options, data) {
  const height = () => Number.parseFloat(getComputedStyle(host).getPropertyValue("--chart-height")) || 160;
  const size = () => ({ width: Math.max(80, host.clientWidth), height: height() });
  for (const old of drawn) {
    if (old.root.parentElement === host) {
      old.destroy();
      drawn.delete(old);
    }
  }
  host.replaceChildren();
  const chart = new uPlot({ ...size(), ...options }, data, host);
  chart.root.querySelector("canvas").setAttribute("aria-hidden", "true"); // its numbers are in the legend and beside it
  drawn.add(chart);
  new ResizeObserver(() => {
    if (drawn.has(chart) && chart.width !== size().width) chart.setSize(size());
  }).observe(host);
  return chart;
}

/** A chart over the time of a rollout, whose cursor is the clock. */
export class RolloutChart {
  #clock;

  constructor(host, options, data, clock) {
    this.#clock = clock;
    const moved = { cursor: { y: false, points: { show: false }, drag: { x: false, y: false, setScale: false } } };
    const x = { scales: { x: { time: false }, ...options.scales } };
    const axes = [axis({ size: 26 }), axis({ size: AXIS_PX, ...options.yAxis })];
    this.chart = chartIn(host, { ...moved, axes, ...options, ...x }, data);
    this.#listen(this.chart.over);
    this.#onRow = () => this.show(clock.row);
    clock.addEventListener("row", this.#onRow);
    this.show(clock.row);
  }

  #onRow;

  destroy() {
    this.#clock.removeEventListener("row", this.#onRow);
    drawn.delete(this.chart);
    this.chart.destroy();
  }

  /** Put the cursor and the numbers of the legend at a row. */
  show(row) {
    const { chart } = this;
    const last = chart.data[0].length - 1;
    const left = chart.valToPos(chart.data[0][Math.min(row, last)], "x");
    chart.setCursor({ left, top: 10 }, false);
  }

  /** A pointer that presses or drags sets the clock; one that only passes changes nothing. */
  #listen(over) {
    const seek = (event) => {
      const box = over.getBoundingClientRect();
      this.#clock.seek(this.chart.posToIdx(Math.max(0, Math.min(box.width, event.clientX - box.left))));
    };
    over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      over.setPointerCapture(event.pointerId);
      seek(event);
    });
    over.addEventListener("pointermove", (event) => {
      if (event.buttons === 1 && over.hasPointerCapture(event.pointerId)) seek(event);
    });
    // uPlot follows the mouse by itself, which would part the cursor from the clock
    for (const name of ["mousemove", "mouseenter", "mouseleave", "mousedown", "mouseup"]) {
      over.addEventListener(name, (event) => event.stopImmediatePropagation(), { capture: true });
    }
  }
}

/** Reward terms, stacked: positive ones up from zero, negative ones down, and the reward as a line. */
export function stackedTerms(host, trace, clock) {
  const { data, names, bands, reward } = stack(trace);
  const lines = data.slice(1, reward).map((_, i) => {
    const place = names[i];
    if (!place) return { show: true, stroke: "transparent", points: NO_POINTS, class: "unlisted" };
    const { name, dash } = series(place.term);
    return {
      label: place.name,
      ...(place.up ? {} : { class: "unlisted" }), // once in the legend is enough
      stroke: () => colour(name),
      dash,
      width: 1,
      points: NO_POINTS,
      value: (_chart, _value, _series, row) => (row === null ? "–" : short(trace.terms[place.name][row])),
    };
  });
  const total = {
    label: "reward",
    stroke: () => colour("--ink"),
    width: 1.5,
    points: NO_POINTS,
    value: (_chart, value) => short(value),
  };
  const filled = bands.map(({ term, ...band }) => ({ ...band, fill: () => faint(series(term).name, 0.55) }));
  const options = { series: [timeSeries(), ...lines, total], bands: filled };
  const made = new RolloutChart(host, options, data, clock);
  const upper = (reward - 1) / 2; // each half begins with its line of zeros
  made.ends = { upper, lower: reward - 1, reward };
  return made;
}

/** What is drawn of a stack: time, up from zero in turn, down from zero in turn, reward. */
export function stack(trace) {
  const terms = Object.keys(trace.terms);
  const data = [trace.time];
  const names = [];
  const bands = [];
  for (const up of [true, false]) {
    let base = trace.time.map(() => 0);
    data.push(base);
    names.push(null);
    terms.forEach((name, term) => {
      const under = data.length - 1;
      base = base.map((sum, row) => {
        const value = trace.terms[name][row];
        if (sum === null || value === null) return null;
        return value > 0 === up ? sum + value : sum;
      });
      data.push(base);
      names.push({ name, term, up });
      bands.push({ series: up ? [under + 1, under] : [under, under + 1], term });
    });
  }
  data.push(trace.reward);
  return { data, names, bands, reward: data.length - 1 };
}

/**
 * One feature of each rollout, with the thresholds that criteria have for it.
 * @param {{label: string, trace: object}[]} rollouts
 * @param {object[]} marks thresholds, see FeatureMark
 */
export function featureChart(host, rollouts, feature, marks, clock) {
  const longest = rollouts.reduce((a, b) => (b.trace.time.length > a.trace.time.length ? b : a));
  const { time } = longest.trace;
  const data = [time];
  const lines = [];
  rollouts.forEach(({ label, trace }, i) => {
    const values = trace.features[feature];
    if (!values) return;
    data.push(time.map((_, row) => values[row] ?? null));
    const { name, dash } = series(i);
    const value = (_chart, number) => short(number);
    lines.push({ label, stroke: () => colour(name), dash, width: i ? 1.5 : 2, points: NO_POINTS, value });
  });
  const here = marks.filter((mark) => mark.feature === feature);
  const levels = here.flatMap((mark) => thresholds(mark));
  const options = {
    scales: { y: { range: rangeWith(...levels) } },
    series: [timeSeries(), ...lines],
    hooks: { draw: [(chart) => drawNamed(chart, here)] },
  };
  return new RolloutChart(host, options, data, clock);
}

/** What touches the ground when, and the moments of take-off and landing. */
export function contactChart(host, trace, clock) {
  const lanes = Object.keys(trace.features).filter((name) => /^contact_|^torso_contact$|^airborne$/.test(name));
  if (!lanes.length) {
    host.textContent = "This robot has no contacts that are measured.";
    return null;
  }
  host.style.setProperty("--chart-height", String(44 + 18 * lanes.length));
  const words = (name) => name.replace(/^contact_/, "").replaceAll("_", " ").replace("torso contact", "trunk");
  const options = {
    yAxis: {
      splits: () => lanes.map((_, i) => i + 0.5),
      values: () => lanes.map(words),
      grid: { show: false },
      space: 1,
      size: 72,
    },
    scales: { y: { range: () => [0, lanes.length], dir: -1 } },
    series: [timeSeries(), ...lanes.map((name) => ({
      label: words(name),
      stroke: "transparent",
      points: NO_POINTS,
      value: (_chart, _value, _series, row) => (row === null ? "–" : trace.features[name][row] > 0.5 ? "yes" : "no"),
    }))],
    hooks: { draw: [(chart) => drawLanes(chart, lanes.map((name) => trace.features[name]), lanes, trace.dt)] },
  };
  return new RolloutChart(host, options, [trace.time, ...lanes.map((_, i) => trace.time.map(() => i))], clock);
}

/**
 * A criterion at the evaluations of every run.
 * @param {object} criterion threshold, upper, comparison, margin; judged, where it was: value, low, high, step
 * @param {object[]} runs as /metrics answers them
 */
export function criterionChart(host, criterion, runs, best) {
  const { data, configs } = table(runs, (run) => run.evaluations.map((one) => [one.step, one.criteria[criterion.key]]));
  const levels = thresholds(criterion);
  const judged = criterion.judged;
  const besides = judged ? [judged.low ?? judged.value, judged.high ?? judged.value] : [];
  const options = {
    legend: { show: false },
    padding: [null, END_PX, null, null],
    scales: { x: { time: false }, y: { range: rangeWith(...levels, ...besides) } },
    axes: [axis({ size: 22, values: steps, space: 60 }), axis({ size: AXIS_PX, space: 24 })],
    cursor: { show: false },
    series: [{}, ...runs.map((run, i) => runSeries(run, configs[i], run.run_id === best))],
    hooks: {
      drawClear: [(chart) => drawMargin(chart, criterion)],
      draw: [(chart) => drawThreshold(chart, criterion), (chart) => judged && drawInterval(chart, judged),
        (chart) => drawEnds(chart, runs.map((run) => `seed ${run.seed}`))],
    },
  };
  return chartIn(host, options, data);
}

/** One number over training, of every run; labels at the ends of the curves. */
export function trainingChart(host, runs, best, name) {
  const points = (run) => {
    const curve = run.curves.find((one) => one.name === name);
    return curve ? curve.steps.map((step, i) => [step, curve.values[i]]) : [];
  };
  const { data, configs } = table(runs, points);
  const options = {
    scales: { x: { time: false } },
    padding: [null, END_PX, null, null],
    hooks: { draw: [(chart) => drawEnds(chart, runs.map((run) => `seed ${run.seed}`))] },
    axes: [axis({ size: 26, values: steps, space: 70 }), axis({ size: AXIS_PX })],
    cursor: { y: false, drag: { x: false, y: false } },
    series: [
      { label: "step", value: (_chart, step) => step?.toLocaleString("en") ?? "–" },
      ...runs.map((run, i) => ({ ...runSeries(run, configs[i], run.run_id === best), points: NO_POINTS })),
    ],
  };
  return chartIn(host, options, data);
}

/** Rows of several runs on one axis, and the number of each run's configuration. */
function table(runs, pointsOf) {
  const all = runs.map((run) => new Map(pointsOf(run)));
  const axisSteps = [...new Set(all.flatMap((points) => [...points.keys()]))].sort((a, b) => a - b);
  const known = [...new Set(runs.map((run) => run.config_id))];
  return {
    data: [axisSteps, ...all.map((points) => axisSteps.map((step) => (points.has(step) ? points.get(step) : undefined)))],
    configs: runs.map((run) => known.indexOf(run.config_id)),
  };
}

/** Runs of one configuration share its colour; the best one is thick. */
function runSeries(run, config, best) {
  const { name } = series(config);
  return {
    label: `seed ${run.seed}${best ? " (best)" : ""}`,
    stroke: () => colour(name),
    dash: best ? [] : [5, 3],
    width: best ? 2.5 : 1.25,
    spanGaps: true,
    points: { size: best ? 7 : 5, fill: () => colour(name) },
    value: (_chart, value) => short(value),
  };
}

function timeSeries() {
  return { label: "t [s]", value: (_chart, time) => (time === null ? "–" : time.toFixed(3).replace(/0$/, "")) };
}

function steps(_chart, values) {
  return values.map((step) => (step >= 1e6 ? `${step / 1e6} M` : step >= 1000 ? `${Math.round(step / 1000)} k` : step));
}

/** A number with three digits. */
export function short(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  return magnitude >= 1e5 || magnitude < 1e-3 ? value.toExponential(1) : Number(value.toPrecision(3)).toString();
}

/** Levels that a criterion or a bound of one has, both ways where the magnitude counts. */
function thresholds(mark) {
  const levels = [mark.threshold, mark.upper].filter((level) => level !== null && level !== undefined);
  return mark.absolute ? levels.flatMap((level) => [level, -level]) : levels;
}

function drawThreshold(chart, mark) {
  const { ctx: pen, bbox } = chart;
  pen.save();
  pen.setLineDash([6 * uPlot.pxRatio, 4 * uPlot.pxRatio]);
  pen.strokeStyle = colour(mark.kind === "step" ? "--soft" : "--ink");
  pen.lineWidth = (mark.kind === "step" ? 1 : 1.5) * uPlot.pxRatio;
  for (const level of thresholds(mark)) {
    const y = Math.round(chart.valToPos(level, "y", true));
    pen.beginPath();
    pen.moveTo(bbox.left, y);
    pen.lineTo(bbox.left + bbox.width, y);
    pen.stroke();
  }
  pen.restore();
}

/** Thresholds with their names, as far as these do not cover each other: those of the whole rollout first. */
function drawNamed(chart, marks) {
  const { ctx: pen, bbox } = chart;
  const height = 12 * uPlot.pxRatio;
  const taken = [];
  for (const mark of marks.toSorted((a, b) => (a.kind === b.kind ? 0 : a.kind === "step" ? 1 : -1))) {
    drawThreshold(chart, mark);
    const y = chart.valToPos(mark.threshold, "y", true) - height / 3;
    if (taken.some((other) => Math.abs(other - y) < height * 1.1) || y - height < bbox.top) continue;
    taken.push(y);
    pen.save();
    pen.font = `${height}px system-ui, sans-serif`;
    pen.textAlign = "right";
    const right = bbox.left + bbox.width - height / 2;
    pen.fillStyle = faint("--page", 0.8);
    const width = pen.measureText(mark.title).width;
    pen.fillRect(right - width - height / 4, y - height * 0.85, width + height / 2, height * 1.1);
    pen.fillStyle = colour(mark.kind === "step" ? "--soft" : "--ink");
    pen.fillText(mark.title, right, y);
    pen.restore();
  }
}

/** Where a criterion gives a part of its credit. */
function drawMargin(chart, { threshold, upper, comparison, margin }) {
  if (!margin) return;
  const { ctx: pen, bbox } = chart;
  const ends = [];
  if (comparison !== "at_most") ends.push([threshold - margin, threshold]);
  if (comparison === "at_most") ends.push([threshold, threshold + margin]);
  if (comparison === "between") ends.push([upper, upper + margin]);
  pen.save();
  pen.fillStyle = faint("--series-other", 0.16);
  for (const [low, high] of ends) {
    const top = Math.max(bbox.top, chart.valToPos(high, "y", true));
    const bottom = Math.min(bbox.top + bbox.height, chart.valToPos(low, "y", true));
    if (bottom > top) pen.fillRect(bbox.left, top, bbox.width, bottom - top);
  }
  pen.restore();
}

/** The judged value with its 95 % interval, at the checkpoint that was judged. */
function drawInterval(chart, { value, low, high, step }) {
  if (value === null) return;
  const { ctx: pen } = chart;
  const x = chart.valToPos(step, "x", true);
  const cap = 4 * uPlot.pxRatio;
  pen.save();
  pen.strokeStyle = pen.fillStyle = colour("--ink");
  pen.lineWidth = 1.5 * uPlot.pxRatio;
  pen.beginPath();
  for (const end of [low ?? value, high ?? value]) {
    const y = chart.valToPos(end, "y", true);
    pen.moveTo(x - cap, y);
    pen.lineTo(x + cap, y);
  }
  pen.moveTo(x, chart.valToPos(low ?? value, "y", true));
  pen.lineTo(x, chart.valToPos(high ?? value, "y", true));
  pen.stroke();
  pen.beginPath();
  pen.arc(x, chart.valToPos(value, "y", true), 3 * uPlot.pxRatio, 0, 2 * Math.PI);
  pen.fill();
  pen.restore();
}

/** The name of each curve right of its end, in its colour; names do not cover each other. */
function drawEnds(chart, names) {
  const { ctx: pen, bbox } = chart;
  const height = 12 * uPlot.pxRatio;
  const ends = names.map((name, i) => {
    const values = chart.data[i + 1];
    const row = values.findLastIndex((value) => value !== null && value !== undefined);
    return row < 0 ? null : { name, i, y: chart.valToPos(values[row], "y", true) };
  });
  const order = ends.filter((end) => end !== null).toSorted((a, b) => a.y - b.y);
  let above = bbox.top - height;
  order.forEach((end, rank) => {
    const lowest = bbox.top + bbox.height - 2 * uPlot.pxRatio - height * 1.1 * (order.length - rank - 1);
    end.at = above = Math.max(Math.min(end.y + height / 3, lowest), above + height * 1.1);
  });
  pen.save();
  pen.font = `${height}px system-ui, sans-serif`;
  pen.textAlign = "left";
  for (const { name, i, at } of order) {
    pen.fillStyle = chart.series[i + 1].stroke();
    pen.fillText(name, bbox.left + bbox.width + height / 2, at);
  }
  pen.restore();
}

function drawLanes(chart, columns, names, dt) {
  const { ctx: pen } = chart;
  const bar = 8 * uPlot.pxRatio;
  const { bbox } = chart;
  pen.save();
  pen.beginPath();
  pen.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  pen.clip();
  columns.forEach((values, lane) => {
    const y = chart.valToPos(lane + 0.5, "y", true);
    const flying = names[lane] === "airborne";
    pen.fillStyle = colour(flying ? "--series-2" : names[lane] === "torso_contact" ? "--bad" : "--series-1");
    for (const [first, last] of spans(values)) {
      const x = chart.valToPos((first + 0.5) * dt, "x", true);
      const end = chart.valToPos((last + 1.5) * dt, "x", true);
      pen.fillRect(x, y - bar / 2, Math.max(1, end - x), bar);
      if (!flying) continue;
      if (first > 0) triangle(pen, x, y, -bar); // takes off
      if (last < values.length - 1) triangle(pen, end, y, bar); // lands
    }
  });
  pen.restore();
}

/** First and last row of each stretch in which a feature is on. */
function spans(values) {
  const found = [];
  values.forEach((value, row) => {
    if (!(value > 0.5)) return;
    const last = found.at(-1);
    if (last && last[1] === row - 1) last[1] = row;
    else found.push([row, row]);
  });
  return found;
}

/** Up for a negative height, down for a positive one; half as wide to each side. */
function triangle(pen, x, y, height) {
  const fill = pen.fillStyle;
  pen.fillStyle = colour("--ink");
  pen.beginPath();
  pen.moveTo(x, y + height / 2);
  pen.lineTo(x - height / 3, y - height / 4);
  pen.lineTo(x + height / 3, y - height / 4);
  pen.fill();
  pen.fillStyle = fill;
}
