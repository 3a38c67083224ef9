// The wall's voice: recorded clips, one after the other, never late. Browsers allow it after one tap.

const TOO_LATE_MS = 4000;
const WAITING_MAX = 2;

export class Voice {
  /**
   * @param {string[]} clips    names of the clips that there are
   * @param {HTMLElement} button  "enable sound"; it says so again whenever the browser refuses to play
   */
  constructor(clips, button) {
    this.clips = new Set(clips);
    this.button = button;
    this.waiting = [];
    this.playing = null;
    this.cache = new Map();
    this.on = localStorage.getItem("sound") === "on";
    button.addEventListener("click", () => (this.on && this.allowed ? this.disable() : this.enable()));
    this.allowed = false;
    this.#show();
  }

  enable() {
    this.on = true;
    localStorage.setItem("sound", "on");
    this.allowed = true;
    this.#show();
    this.#play({ clip: "sound_on", text: "Sound on" });
    for (const clip of this.clips) this.#element(clip);
  }

  disable() {
    this.on = false;
    this.waiting = [];
    localStorage.setItem("sound", "off");
    this.#show();
  }

  /** Say something soon or not at all; `urgent` for a correction, which goes first. */
  say(flash, urgent = false) {
    if (!this.on || !flash.clip) return;
    if (this.waiting.some((w) => w.clip === flash.clip)) return;
    const item = { clip: flash.clip, text: flash.text, since: Date.now() };
    if (urgent) this.waiting.unshift(item);
    else this.waiting.push(item);
    if (this.waiting.length > WAITING_MAX) this.waiting.splice(urgent ? WAITING_MAX : 0, 1);
    if (!this.playing) this.#next();
  }

  #next() {
    this.playing = null;
    const now = Date.now();
    this.waiting = this.waiting.filter((w) => now - w.since <= TOO_LATE_MS);
    const item = this.waiting.shift();
    if (item) this.#play(item);
  }

  /** `twenty_light_x` falls back to `twenty_light`, then to `twenty`, then to the browser's own voice. */
  #clipFor(name) {
    for (let words = name.split("_"); words.length; words = words.slice(0, -1)) {
      const clip = words.join("_");
      if (this.clips.has(clip)) return clip;
    }
    return null;
  }

  #element(clip) {
    if (!this.cache.has(clip)) {
      const audio = new Audio(`/static/sound/${clip}.mp3`);
      audio.preload = "auto";
      this.cache.set(clip, audio);
    }
    return this.cache.get(clip);
  }

  #play(item) {
    const clip = this.#clipFor(item.clip);
    if (!clip) {
      this.#speak(item);
      return;
    }
    const audio = this.#element(clip);
    this.playing = audio;
    let over = false;
    const done = () => {
      if (over) return;
      over = true;
      this.#next();
    };
    audio.onended = done;
    audio.onerror = () => {
      this.clips.delete(clip); // a broken file silences itself, not those that follow
      if (!over) {
        over = true;
        this.#play(item);
      }
    };
    audio.currentTime = 0;
    audio.play().then(
      () => {
        this.allowed = true;
        this.button.dataset.spoken = item.clip;
        this.#show();
      },
      (error) => {
        if (error.name === "NotAllowedError") {
          this.allowed = false;
          this.waiting = [];
          this.#show();
        }
        done();
      },
    );
  }

  #speak(item) {
    if (!("speechSynthesis" in window) || !item.text) {
      this.#next();
      return;
    }
    const words = new SpeechSynthesisUtterance(item.text);
    this.playing = words;
    const done = () => this.playing === words && this.#next();
    words.onend = done;
    words.onerror = done;
    setTimeout(done, TOO_LATE_MS); // some browsers have the interface but no voice, and never answer
    speechSynthesis.speak(words);
  }

  #show() {
    const blocked = this.on && !this.allowed;
    this.button.dataset.sound = blocked ? "blocked" : this.on ? "on" : "off";
    this.button.textContent = blocked ? "Tap to enable sound" : this.on ? "Sound is on" : "Enable sound";
    this.button.setAttribute("aria-pressed", String(this.on && this.allowed));
  }
}
