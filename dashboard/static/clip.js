// A slow-motion clip: single pictures with their times, drawn one after the other. Nothing is decoded before it is wanted.

import { make, text } from "./dom.js";

const SLOW = 4; // a quarter of the speed
const LAST_MS = 700; // the last frame stays so long before it begins anew

/** A player of a clip; `frames` = [{at_ms, bytes}], `url` = where the pictures lie one after the other. */
export function makeClip(url, frames) {
  const canvas = make("canvas");
  const place = make("input");
  const time = make("output");
  const buttons = [["−1", "One frame back", -1], ["Pause", "Pause", 0], ["+1", "One frame on", +1]].map(([label, words, by]) => {
    const button = make("button", "", label);
    button.type = "button";
    button.setAttribute("aria-label", words);
    button.addEventListener("click", () => (by ? step(by) : toggle()));
    return button;
  });
  Object.assign(place, { type: "range", min: 0, max: frames.length - 1, value: 0 });
  place.setAttribute("aria-label", "Place in the clip");
  const box = make("figure", "clip", canvas, make("div", "controls", ...buttons, place, time));
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "The last shot at a quarter of its speed");
  const starts = [];
  let at = 0;
  for (const frame of frames) starts.push(at), (at += frame.bytes);
  let data = null;
  let number = 0;
  let playing = true;
  let timer = 0;
  let drawing = false;

  async function show(wanted) {
    if (drawing || !data) return;
    drawing = true;
    try {
      const { bytes, at_ms } = frames[wanted];
      const picture = await createImageBitmap(new Blob([data.slice(starts[wanted], starts[wanted] + bytes)], { type: "image/jpeg" }));
      if (canvas.width !== picture.width) Object.assign(canvas, { width: picture.width, height: picture.height });
      canvas.getContext("2d").drawImage(picture, 0, 0);
      picture.close();
      number = wanted;
      place.value = wanted;
      canvas.dataset.frame = wanted;
      text(time, `${at_ms > 0 ? "+" : ""}${(at_ms / 1000).toFixed(2)} s`);
    } finally {
      drawing = false;
    }
  }

  async function run() {
    clearTimeout(timer);
    if (!playing || !box.isConnected) return;
    const begun = performance.now();
    const next = (number + 1) % frames.length;
    const wait = next ? Math.min(2000, (frames[next].at_ms - frames[number].at_ms) * SLOW) : LAST_MS;
    await show(next).catch(() => {});
    timer = setTimeout(run, Math.max(0, wait - (performance.now() - begun)));
  }

  function set(isPlaying) {
    playing = isPlaying;
    text(buttons[1], playing ? "Pause" : "Play");
    buttons[1].setAttribute("aria-label", playing ? "Pause" : "Play at a quarter of the speed");
    box.dataset.playing = playing ? "yes" : "no";
    if (playing) run();
    else clearTimeout(timer);
  }
  const toggle = () => set(!playing);
  function step(by) {
    set(false);
    show((number + by + frames.length) % frames.length);
  }
  place.addEventListener("input", () => {
    set(false);
    show(Number(place.value));
  });

  fetch(url)
    .then((response) => (response.ok ? response.arrayBuffer() : Promise.reject(new Error(response.status))))
    .then(async (whole) => {
      data = whole;
      await show(0);
      set(true);
    })
    .catch(() => text(time, "The clip cannot be shown."));
  return box;
}
