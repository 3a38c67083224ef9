// The overlay: one board's names, scores, 20s, hammer and turn, and for some seconds what was just called.

import { eventWords, make, mark, pointsOf, sidesOf, text } from "./dom.js";
import { FlashGate } from "./flash.js";
import { follow, sayTrouble } from "./live.js";
import { fillSide, fit } from "./side.js";

const CALL_MS = 4500;
const at = (id) => document.getElementById(id);
const { board } = document.body.dataset;
const gate = new FlashGate();
const link = { fresh: true, heard: 0, broker: true, hub: true };
const rows = new Map();
let timer = 0;

function makeRow() {
  const cell = (label, value) => make("span", "cell", make("small", "", label), value);
  const parts = {
    name: make("span", "name"),
    hammer: make("span", "hammer"),
    twenties: make("b"),
    provisional: make("i", "provisional"),
    round: make("b"),
    score: make("span", "score"),
  };
  parts.hammer.setAttribute("role", "img");
  parts.hammer.setAttribute("aria-label", "has the hammer");
  const who = make("span", "who", parts.name, parts.hammer);
  const twenties = cell("20s", make("span", "", parts.twenties, parts.provisional));
  const row = make("div", "side", make("span", "token"), who, twenties, cell("round", parts.round), parts.score);
  return { row, parts };
}

function fillRow({ row, parts }, key, side, table) {
  fillSide({ row, parts }, key, side, table);
  text(parts.round, pointsOf(side));
}

function describe(table) {
  const words = [eventWords(table.event) || table.rules];
  if (table.game > 1) words.push(`game ${table.game}`);
  words.push(table.phase === "match_over" ? "match over" : table.round ? `round ${table.round}` : "");
  return words.filter(Boolean).join(" · ");
}

function fill({ table }) {
  const sides = table ? sidesOf(table) : [];
  at("card").hidden = sides.length === 0; // nobody plays: nothing is laid over the picture
  if (!table) return;
  text(at("what"), describe(table));
  for (const [key, { row }] of rows) if (!sides.some(([k]) => k === key)) row.remove(), rows.delete(key);
  for (const [key, side] of sides) {
    if (!rows.has(key)) {
      rows.set(key, makeRow());
      at("sides").append(rows.get(key).row);
    }
    fillRow(rows.get(key), key, side, table);
  }
}

function call(view, nowMs) {
  const flash = view.table?.flash;
  if (!gate.judge(board, flash, nowMs)) return;
  const box = at("call");
  text(box, flash.text);
  mark(box, "tone", flash.clip === "" || /^(foul|twenty_withdrawn)/.test(flash.clip) ? "bad" : "");
  mark(box, "provisional", flash.provisional);
  box.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => (box.hidden = true), CALL_MS);
}

follow(`/api/1/boards/${board}/stream`, {
  snapshot(body, first) {
    Object.assign(link, { broker: body.broker, hub: body.hub });
    for (const view of body.boards.filter((each) => each.board === board)) {
      fill(view);
      if (first) gate.skip(board, view.table?.flash);
      else call(view, body.now_ms);
    }
    sayTrouble(at("trouble"), link);
  },
  board({ view, now_ms }) {
    fill(view);
    call(view, now_ms);
  },
  fresh(isFresh, heard) {
    Object.assign(link, { fresh: isFresh, heard });
    sayTrouble(at("trouble"), link);
  },
});

new ResizeObserver(() => at("sides").querySelectorAll(".name").forEach(fit)).observe(document.documentElement);
