// A page's requests: one at a time, every refusal shown, and back to the PIN when a device is no longer signed in.

import { ask, askCode, askHub } from "./ask.js";
import { mark, text } from "./dom.js";

const TOAST_MS = 6000;
const SIGN_IN_MS = 1500;
let busy = false;
let timer = 0;

/** Say something at the foot of the page for a while. */
export function toast(words, good = false) {
  const box = document.getElementById("toast");
  text(box, words);
  box.hidden = false;
  mark(box, "good", good);
  clearTimeout(timer);
  timer = setTimeout(() => (box.hidden = true), TOAST_MS);
}

async function carried(board, send, done) {
  if (busy) return false;
  busy = true;
  document.body.dataset.busy = "yes";
  try {
    const answer = await send();
    const words = typeof done === "function" ? done(answer) : done;
    if (words) toast(words, true);
    else document.getElementById("toast").hidden = true;
    return true;
  } catch (refusal) {
    toast(refusal.message);
    if (refusal.status === 401) setTimeout(() => location.assign(`/login?board=${encodeURIComponent(board)}`), SIGN_IN_MS);
    return false;
  } finally {
    busy = false;
    delete document.body.dataset.busy;
  }
}

/** Ask something of a board whose table has a revision; whether it was done. `done` may make its words of the answer. */
export function request(board, rev, what, body, done = "") {
  return carried(board, () => ask(board, what, body, rev), done);
}

/** Ask something of the hub. */
export function requestHub(what, body, done = "") {
  return carried("hub", () => askHub(what, body), done);
}

/** Ask for a board's QR code; `done` is given it. */
export function requestCode(board, done) {
  return carried("hub", () => askCode(board), done);
}
