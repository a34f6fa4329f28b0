// One clock for videos, charts and stick figures. Its time is a row of the recording, so that all show the same moment.
//
// Row k is the state after control step k + 1. Picture i of a video shows row i * rowsPerPicture, and is on the screen
// from i * pictureS on. A seek goes into the middle of a picture: at its edge, rounding decides which one is shown.

const SOFT_DRIFT = 1 / 8; // of a picture: a video this far off is played a little faster or slower
const HARD_DRIFT = 1 / 2; // of a picture: a video this far off is set
const CATCH_UP = 0.05; // share by which it is played faster or slower
const PATIENCE_MS = 1000; // after which videos play, ready or not

/** Number of the last picture of a video. */
function lastPicture(track, rowsPerPicture) {
  return Math.floor((track.rows - 1) / rowsPerPicture);
}

export class Clock extends EventTarget {
  #dt = 1;
  #rowsPerPicture = 1;
  #tracks = [];
  #row = 0;
  #playing = false;
  #rate = 1;
  #begun = null; // [time of the page in ms, row] at which playing without a video began
  loop = false;

  /** Events: "row" when another row is shown, "state" when it plays, stops, or has other tracks. */
  constructor() {
    super();
  }

  get dt() {
    return this.#dt;
  }

  get pictureS() {
    return this.#rowsPerPicture * this.#dt;
  }

  get row() {
    return this.#row;
  }

  get playing() {
    return this.#playing;
  }

  get rows() {
    return Math.max(1, ...this.#tracks.map((track) => track.rows));
  }

  /** Time of a row [s]. */
  timeOf(row) {
    return (row + 1) * this.#dt;
  }

  get rate() {
    return this.#rate;
  }

  set rate(rate) {
    this.#rate = rate;
    for (const { video } of this.#filmed) video.playbackRate = rate;
    this.#begun = [performance.now(), this.#row];
  }

  /**
   * Show other rollouts from now on.
   * @param {{rows: number, video: HTMLVideoElement | null}[]} tracks
   * @param {number} dt control period [s]
   * @param {number} rowsPerPicture every so many rows is a picture of the videos
   */
  follow(tracks, dt, rowsPerPicture) {
    this.pause();
    this.#tracks = tracks;
    this.#dt = dt;
    this.#rowsPerPicture = rowsPerPicture;
    const lead = this.#lead;
    if (lead) {
      lead.video.requestVideoFrameCallback((_now, frame) => this.#onPicture(lead, frame));
      lead.video.onended = () => this.#onEnd(lead);
    }
    this.seek(Math.min(this.#row, this.rows - 1));
    this.dispatchEvent(new Event("state"));
  }

  /** Show a row, and stand still there. */
  seek(row) {
    if (this.#playing) this.#stop();
    this.#show(Math.max(0, Math.min(this.rows - 1, Math.round(row))));
    for (const track of this.#filmed) this.#set(track, this.#row);
  }

  async play() {
    if (this.#playing) return;
    if (this.#row >= this.rows - 1) this.seek(0);
    this.#playing = true;
    this.dispatchEvent(new Event("state"));
    const picture = Math.floor(this.#row / this.#rowsPerPicture);
    const going = this.#filmed.filter((track) => picture <= lastPicture(track, this.#rowsPerPicture));
    await Promise.all(going.map(({ video }) => arrived(video))); // together, and not each when it is ready
    if (!this.#playing) return;
    for (const { video } of going) {
      video.playbackRate = this.#rate;
      video.play().catch(() => this.pause()); // the browser does not let it, or another file was put in
    }
    if (!this.#lead) {
      this.#begun = [performance.now(), this.#row];
      requestAnimationFrame((now) => this.#onFrame(now));
    }
  }

  pause() {
    if (!this.#playing) return;
    this.#stop();
    this.seek(this.#row); // all to the same picture
  }

  toggle() {
    return this.#playing ? this.pause() : this.play();
  }

  get #filmed() {
    return this.#tracks.filter((track) => track.video);
  }

  /** The longest video: the others are held to it. */
  get #lead() {
    return this.#filmed.reduce((lead, track) => (lead && lead.rows >= track.rows ? lead : track), null);
  }

  #stop() {
    this.#playing = false;
    for (const { video } of this.#filmed) video.pause();
    this.dispatchEvent(new Event("state"));
  }

  #show(row) {
    this.#row = row;
    this.dispatchEvent(new CustomEvent("row", { detail: row }));
  }

  #set(track, row) {
    const picture = Math.min(Math.floor(row / this.#rowsPerPicture), lastPicture(track, this.#rowsPerPicture));
    const time = (picture + 0.5) * this.pictureS;
    if (Math.abs(track.video.currentTime - time) > this.pictureS / 1000) track.video.currentTime = time;
  }

  #onPicture(lead, frame) {
    if (lead !== this.#lead) return; // other rollouts are shown now
    lead.video.requestVideoFrameCallback((_now, next) => this.#onPicture(lead, next));
    if (!this.#playing) return;
    const row = Math.round(frame.mediaTime / this.pictureS) * this.#rowsPerPicture;
    this.#show(Math.min(this.rows - 1, row));
    for (const track of this.#filmed) if (track !== lead) this.#hold(track, lead.video.currentTime);
  }

  /** Keep a video with the leading one; a shorter one holds its last picture. */
  #hold({ video, rows }, time) {
    const end = rows * this.#dt;
    if (video.ended || video.paused || time >= end) return;
    const ahead = video.currentTime - time;
    if (Math.abs(ahead) > HARD_DRIFT * this.pictureS) video.currentTime = time;
    const off = Math.abs(ahead) > SOFT_DRIFT * this.pictureS;
    video.playbackRate = this.#rate * (off ? 1 - Math.sign(ahead) * CATCH_UP : 1);
  }

  #onEnd(lead) {
    if (lead !== this.#lead || !this.#playing) return;
    this.#stop();
    this.seek(this.rows - 1);
    this.#again();
  }

  #onFrame(now) {
    if (!this.#playing || this.#lead) return;
    const [then, first] = this.#begun;
    const row = first + Math.floor(((now - then) / 1000 / this.#dt) * this.#rate);
    this.#show(Math.max(0, Math.min(this.rows - 1, row)));
    if (row < this.rows - 1) {
      requestAnimationFrame((next) => this.#onFrame(next));
      return;
    }
    this.#stop();
    this.#again();
  }

  #again() {
    if (!this.loop) return;
    this.seek(0);
    this.play();
  }
}

/**
 * Resolves when a video has reached where it was sent, and can go on from there, or after a second: a browser that loads
 * no more until it plays, or that is at the end, never says that it can.
 */
function arrived(video) {
  if (!video.seeking && video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA) return Promise.resolve();
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(late);
      for (const name of ["seeked", "canplay", "error"]) video.removeEventListener(name, look);
      resolve();
    };
    const look = () => {
      if (!video.seeking && (video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA || video.error)) go();
    };
    const late = setTimeout(go, PATIENCE_MS);
    for (const name of ["seeked", "canplay", "error"]) video.addEventListener(name, look);
  });
}
