// Scores by keyboard: 1 to 5, the next clip comes by itself, and what judges gave is asked for after the last one.

const root = document.querySelector("[data-labelling]");

class Labelling {
  #at = 0;
  #busy = false;

  constructor() {
    this.clips = [...root.querySelectorAll("[data-queue] > li")];
    this.video = root.querySelector("video");
    this.buttons = [...root.querySelectorAll("[data-score]")];
    this.comment = root.querySelector("#comment");
    this.scores = new Map();
    this.buttons.forEach((button) => button.addEventListener("click", () => this.#score(button)));
    document.addEventListener("keydown", (event) => this.#onKey(event));
    this.#still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#show(0);
  }

  #still;

  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea")) return;
    const button = this.buttons[Number(event.key) - 1];
    if (button) this.#score(button);
    else if (event.key === "u") this.#show(Math.max(0, this.#at - 1));
    else if (event.key === " " && !event.target.closest("button, video")) this.#toggle();
    else return;
    event.preventDefault();
  }

  #toggle() {
    if (this.video.paused) this.video.play();
    else this.video.pause();
  }

  #show(place) {
    this.#at = place;
    const { dataset, textContent } = this.clips[place];
    root.querySelector("[data-prompt]").textContent = textContent;
    root.querySelector("[data-env]").textContent = dataset.env;
    root.querySelector("[data-progress]").textContent = place + 1;
    this.comment.value = "";
    this.video.src = dataset.video;
    if (!this.#still) this.video.play().catch(() => {}); // another one was put in meanwhile
    for (const button of this.buttons) {
      button.setAttribute("aria-pressed", String(this.scores.get(place) === button.dataset.score));
    }
    const next = this.clips[place + 1];
    if (next) fetch(next.dataset.video, { priority: "low" }).catch(() => {}); // so that it is there at once
  }

  async #score(button) {
    if (this.#busy) return;
    this.#busy = true;
    const place = this.#at;
    const { session, iteration, rollout } = this.clips[place].dataset;
    const problem = root.querySelector("[data-problem]");
    const body = {
      score: Number(button.dataset.score),
      annotator: root.dataset.annotator,
      rollout,
      iteration: Number(iteration),
      comment: this.comment.value,
    };
    try {
      const answer = await fetch(`/api/sessions/${session}/labels`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error((await answer.json()).detail);
      problem.textContent = "";
      this.scores.set(place, button.dataset.score);
      if (place + 1 < this.clips.length) this.#show(place + 1);
      else await this.#end();
    } catch (error) {
      problem.textContent = `It was not saved: ${error.message}`;
    } finally {
      this.#busy = false;
    }
  }

  async #end() {
    this.video.pause();
    const { session } = root.dataset;
    const found = await (await fetch(session ? `/api/sessions/${session}/labels` : "/api/labels")).json();
    const { n, kappa, spearman, same_side: sameSide, threshold } = found.agreement;
    const result = document.querySelector("[data-result]");
    const number = (value) => (value === null ? "–" : value.toFixed(2));
    const lines = [
      ["Rollouts that both scored", n],
      [`Both say good (${threshold} or more), or both do not`, sameSide === null ? "–" : `${Math.floor(sameSide * 100)}%`],
      ["Cohen's kappa of that", number(kappa)],
      ["Rank correlation (Spearman)", number(spearman)],
    ];
    const title = document.createElement("h1");
    title.textContent = "All scored. How far the judges agree";
    const list = document.createElement("dl");
    list.className = "pairs";
    for (const [name, value] of lines) {
      const term = document.createElement("dt");
      const words = document.createElement("dd");
      term.textContent = name;
      words.textContent = value;
      list.append(term, words);
    }
    result.replaceChildren(title, list);
    result.hidden = false;
    root.hidden = true;
    document.body.dataset.ended = "yes";
  }
}

if (root) new Labelling();
