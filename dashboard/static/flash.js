// Decides what is flashed and spoken: every flash once, none that is old, and a correction in place of what it corrects.

const TOO_OLD_MS = 8000;
const IDS_KEPT = 50;

export class FlashGate {
  constructor() {
    this.seen = new Map(); // board -> Map(id -> last content)
  }

  /** Remember a flash without showing it: what was there when the page was opened. */
  skip(board, flash) {
    if (flash) this.#remember(board, flash);
  }

  /**
   * What to do about the flash of a board: null, or {kind, flash}.
   * kind "new" is shown and spoken; "correction" replaces what is shown and is spoken; "confirmed" only replaces.
   */
  judge(board, flash, nowMs) {
    if (!flash) return null;
    const before = this.seen.get(board)?.get(flash.id);
    if (before && same(before, flash)) return null;
    this.#remember(board, flash);
    if (before) return { kind: before.clip === flash.clip && before.side === flash.side ? "confirmed" : "correction", flash };
    if (flash.at_ms && nowMs - flash.at_ms > TOO_OLD_MS) return null;
    return { kind: "new", flash };
  }

  #remember(board, flash) {
    if (!this.seen.has(board)) this.seen.set(board, new Map());
    const ids = this.seen.get(board);
    ids.delete(flash.id);
    ids.set(flash.id, flash);
    if (ids.size > IDS_KEPT) ids.delete(ids.keys().next().value);
  }
}

function same(a, b) {
  return a.clip === b.clip && a.text === b.text && a.side === b.side && a.provisional === b.provisional;
}
