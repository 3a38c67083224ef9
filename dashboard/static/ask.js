// People's requests: one POST each, never done twice, every refusal shown as a sentence.

import { requestId } from "./dom.js";

const TIMEOUT_MS = 8000;

export class Refused extends Error {
  constructor(code, message, status) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

async function post(url, csrf, payload) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify(payload),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer.body ?? {};
  const { code = "error", message = `The dashboard answered ${response.status}.` } = answer.error ?? {};
  throw new Refused(code, message, response.status);
}

/** Ask the hub something about a board; the same id is used again when the line broke, so it is done once. */
export function ask(board, request, body, rev) {
  return send(`/api/1/boards/${encodeURIComponent(board)}/ask/${request}`, { id: requestId(), rev, body });
}

/** Ask the hub something that belongs to no board. */
export function askHub(request, body) {
  return send(`/api/1/hub/ask/${request}`, { id: requestId(), body });
}

/** Ask for a QR code that opens a board's table page on other devices. */
export function askCode(board) {
  return send(`/api/1/boards/${encodeURIComponent(board)}/code`, {});
}

async function send(url, payload) {
  const csrf = document.querySelector("meta[name=csrf]").content;
  try {
    return await post(url, csrf, payload);
  } catch (error) {
    if (error instanceof Refused) throw error;
  }
  try {
    return await post(url, csrf, payload);
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused("unreachable", "The dashboard cannot be reached. Look at the score, then try again.", 0);
  }
}
