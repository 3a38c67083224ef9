// Follows a stream of the dashboard: a whole snapshot first, then changes. Says by itself when nothing comes any more.

import { text } from "./dom.js";

const STALE_MS = 4000;
const REOPEN_MS = 8000;
const LOOK_MS = 500;

/**
 * @param {string} url  the stream
 * @param {{snapshot: function(object, boolean): void, board: function(object): void, fresh: function(boolean, number): void}} on
 *   snapshot(body, first): everything; first is true once in the life of a page.
 *   board(body): one board changed.  fresh(isFresh, heardAt): called whenever freshness changes.
 */
export function follow(url, on) {
  let source = null;
  let lastId = "";
  let heard = 0;
  let opened = 0;
  let fresh = null;
  let first = true;

  function hear(event) {
    heard = Date.now();
    if (event.lastEventId) lastId = event.lastEventId;
    tell(true);
  }

  function tell(isFresh) {
    if (fresh === isFresh) return;
    fresh = isFresh;
    on.fresh(isFresh, heard);
  }

  function open() {
    if (source) source.close();
    opened = Date.now();
    const joint = url.includes("?") ? "&" : "?";
    source = new EventSource(lastId ? `${url}${joint}last=${encodeURIComponent(lastId)}` : url);
    source.addEventListener("snapshot", (event) => {
      hear(event);
      const body = JSON.parse(event.data);
      if ((body.pages ?? "") !== document.body.dataset.pages) {
        location.reload(); // the dashboard was replaced by another version since this page was opened
        return;
      }
      on.snapshot(body, first);
      first = false;
    });
    source.addEventListener("board", (event) => {
      hear(event);
      on.board(JSON.parse(event.data));
    });
    source.addEventListener("beat", hear);
  }

  function look() {
    const silent = Date.now() - Math.max(heard, opened);
    if (Date.now() - heard > STALE_MS && Date.now() - opened > 1500) tell(false);
    // A browser gives up for good when the answer was an error, and may wait long when the line was cut.
    if (source.readyState === EventSource.CLOSED ? silent > 1500 : silent > REOPEN_MS) open();
  }

  function wake() {
    if (document.visibilityState === "visible" && Date.now() - heard > 2000) open();
  }

  open();
  setInterval(look, LOOK_MS);
  document.addEventListener("visibilitychange", wake);
  window.addEventListener("online", wake);
  window.addEventListener("pagehide", () => source.close());
  window.addEventListener("pageshow", (event) => event.persisted && open());
}

/** What is wrong with the whole picture, in one line; empty when nothing is. */
export function trouble(isFresh, heardAt, broker, hub) {
  if (!isFresh) {
    const since = heardAt ? ` since ${new Date(heardAt).toLocaleTimeString()}` : "";
    return `No news from the dashboard${since}. What you see is old; reconnecting …`;
  }
  if (!broker) return "The message broker is away. What you see is the last known; it comes back by itself.";
  if (!hub) return "The hub is offline. What you see is the last known; it comes back by itself.";
  return "";
}

/** Say at a place of the page what is wrong, and mark the page, so that what is old looks so. */
export function sayTrouble(place, link) {
  const words = trouble(link.fresh, link.heard, link.broker, link.hub);
  text(place, words);
  document.body.dataset.link = words ? (link.fresh ? "away" : "stale") : "live";
}
