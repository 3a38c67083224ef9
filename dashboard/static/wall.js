// The wall: one tile for every board, as large as they fit, brought up to date by the stream.

import { draw, makeBoard } from "./board.js";
import { LEVELS, boardName, eventWords, make, mark, pips, pointsOf, sideName, sidesOf, text } from "./dom.js";
import { FlashGate } from "./flash.js";
import { follow, trouble } from "./live.js";
import { fillSide, fit } from "./side.js";
import { Voice } from "./sound.js";

const FLASH_MS = 3800;
const TILE_SHAPE = 1.7; // width to height at which a tile's contents sit best
const BAR_SHOWN_TROUBLE_MS = 1200;

const tiles = document.getElementById("tiles");
const half = Number(document.body.dataset.half);
const voice = new Voice(document.body.dataset.clips.split(" ").filter(Boolean), document.getElementById("sound"));
const gate = new FlashGate();
const shown = new Map(); // board -> tile
const link = { fresh: true, heard: 0, broker: true, hub: true, since: 0 };
const only = new Set((new URLSearchParams(location.search).get("boards") || "").split(",").filter(Boolean));

function makeTile(id) {
  const tile = make("article", "tile");
  tile.dataset.board = id;
  const parts = {
    name: make("a", "name", boardName(id)),
    what: make("span", "what"),
    chip: make("span", "chip"),
    sides: make("div", "sides"),
    play: make("div", "play"),
    board: makeBoard(half),
    verdict: make("p", "verdict"),
    history: make("ol", "history"),
    flash: make("div", "flash"),
    flashWord: make("strong"),
    flashText: make("span"),
    flashWhy: make("small"),
    free: make("p", "free"),
    veil: make("div", "veil"),
    veilText: make("strong"),
  };
  parts.name.href = `/table/${id}`;
  parts.play.append(parts.board);
  parts.sides.append(parts.free);
  parts.flash.append(parts.flashWord, parts.flashText, parts.flashWhy);
  parts.flash.setAttribute("role", "status");
  parts.veil.append(parts.veilText);
  parts.history.setAttribute("aria-label", "Finished rounds");
  tile.append(
    make("header", "head", parts.name, parts.what, parts.chip),
    make("div", "body", parts.sides, parts.play),
    make("footer", "foot", parts.verdict, parts.history),
    parts.veil,
    parts.flash,
  );
  return { tile, parts, rows: new Map(), timer: 0 };
}

function makeRow() {
  const parts = {
    disc: make("span", "token"),
    name: make("span", "player"),
    hammer: make("span", "hammer"),
    pips: make("span", "pips"),
    twenties: make("b", "count"),
    provisional: make("i", "provisional"),
    total: make("small", "total"),
    score: make("span", "score"),
    games: make("span", "games"),
    live: make("span", "onboard"),
  };
  parts.hammer.title = "has the hammer: the last shot of the round";
  parts.hammer.setAttribute("role", "img");
  parts.hammer.setAttribute("aria-label", "hammer");
  parts.pips.setAttribute("role", "img");
  const row = make(
    "section",
    "side",
    parts.disc,
    make(
      "div",
      "who",
      make("div", "line", parts.name, parts.hammer),
      make("div", "line", make("span", "twenties", make("small", "", "20s"), parts.twenties, parts.provisional), parts.total),
      make("div", "line third", parts.pips, parts.live),
    ),
    make("div", "points", parts.score, parts.games),
  );
  return { row, parts };
}

function fillRow({ row, parts }, key, side, table) {
  fillSide({ row, parts }, key, side, table);
  pips(parts.pips, side.shots_left, side.colour);
  const playing = ["round", "settling", "round_over"].includes(table.phase);
  text(parts.live, playing ? `${pointsOf(side)} pts` : "");
  parts.live.title = side.entered == null ? "this round, as it lies" : "this round, as people entered it";
  parts.provisional.title = "not yet confirmed";
  text(parts.total, `${side.total_twenties} in all`);
  mark(parts.score, "digits", String(side.score).length);
  text(parts.games, side.games ? `${side.games} ${side.games === 1 ? "game" : "games"}` : "");
}

function fillHistory(list, table) {
  const last = table.rounds.slice(-10);
  const key = JSON.stringify(last);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(
    ...last.map((round) => {
      const totals = sidesOf(table).map(([side, { colour }]) => {
        const total = make("b", "", String(round.totals[side] ?? 0));
        total.dataset.colour = colour;
        mark(total, "best", (round.added[side] ?? 0) > 0);
        return total;
      });
      const cell = make("li", "", make("small", "", `R${round.number}`), ...totals);
      mark(cell, "open", Object.keys(round.low).some((side) => round.low[side] !== round.high[side]));
      return cell;
    }),
  );
}

function describe(table) {
  if (!table) return "";
  const words = [eventWords(table.event) || table.rules];
  if (table.phase === "match_over") words.push("match over");
  else if (table.round) words.push(`Round ${table.round}`);
  if (table.game > 1) words.splice(1, 0, `Game ${table.game}`);
  if (table.match_id && table.phase !== "match_over") words.push(LEVELS[table.level]);
  return words.filter(Boolean).join("\u00a0· "); // a line may end with the dot, and never begins with it
}

function saying(view) {
  const table = view.table;
  if (!table) return view.state.text;
  if (table.referee) return "The referee is called";
  if (table.questions.length) return table.questions[0].text;
  if (table.remove.length) return table.remove[0].text;
  if (table.winner) return `${sideName(table.sides[table.winner])} wins`;
  if (table.message) return table.message;
  if (table.verdict) return table.verdict.text;
  if (table.phase === "idle") return table.practice ? `Practice: ${table.practice} twenties` : `Start a match: ${location.host}/table/${view.board}`;
  return "";
}

function fillTile(entry, view) {
  const { tile, parts, rows } = entry;
  const table = view.table;
  tile.dataset.state = view.state.code;
  mark(tile, "phase", table?.phase);
  text(parts.what, describe(table));
  text(parts.chip, view.state.text);
  text(parts.veilText, ["offline", "partial"].includes(view.state.code) ? view.state.text : "");
  const sides = table ? sidesOf(table) : [];
  mark(tile, "sides", sides.length);
  text(parts.free, sides.length ? "" : table ? "Free board" : "");
  for (const [key, { row }] of rows) if (!sides.some(([k]) => k === key)) row.remove(), rows.delete(key);
  for (const [key, side] of sides) {
    if (!rows.has(key)) {
      rows.set(key, makeRow());
      parts.sides.append(rows.get(key).row);
      requestAnimationFrame(() => tiles.querySelectorAll(".player").forEach(fit));
    }
    fillRow(rows.get(key), key, side, table);
  }
  draw(parts.board, view.marks);
  text(parts.verdict, saying(view));
  mark(parts.verdict, "tone", table?.questions.length || table?.remove.length ? "ask" : table?.verdict && !table.verdict.valid ? "foul" : "");
  if (table) fillHistory(parts.history, table);
  else parts.history.replaceChildren();
}

const FLASH_WORDS = { twenty: "20", foul: "FOUL", withdrawn: "NO 20" };

/** The kind of a flash: the first word of its clip; one without a clip takes back what was announced. */
function familyOf(flash) {
  return flash.clip === "" || flash.clip.startsWith("twenty_withdrawn") ? "withdrawn" : flash.clip.split("_")[0];
}

function showFlash(entry, view, { kind, flash }) {
  const { tile, parts } = entry;
  const side = flash.side && view.table?.sides[flash.side];
  const family = familyOf(flash);
  if (kind === "confirmed" && !("flash" in tile.dataset)) return; // confirming what was shown before is no news
  text(parts.flashWord, FLASH_WORDS[family] ?? "");
  const named = side && ["twenty", "foul"].includes(family);
  text(parts.flashText, named ? sideName(side) : family === "withdrawn" ? "" : flash.text);
  const verdict = view.table?.verdict;
  text(parts.flashWhy, family === "foul" && verdict && !verdict.valid && verdict.side === flash.side ? verdict.text : "");
  mark(parts.flash, "kind", family);
  mark(parts.flash, "colour", side?.colour);
  mark(parts.flash, "provisional", flash.provisional);
  tile.dataset.flash = family;
  tile.dataset.flashId = flash.id;
  tile.dataset.flashes = Number(tile.dataset.flashes || 0) + (kind === "new" ? 1 : 0);
  clearTimeout(entry.timer);
  entry.timer = setTimeout(() => delete tile.dataset.flash, FLASH_MS);
  if (kind !== "confirmed") voice.say(flash, kind === "correction");
}

function takeFlash(view, nowMs, flash = view.table?.flash) {
  const decision = gate.judge(view.board, flash, nowMs);
  if (decision) showFlash(shown.get(view.board), view, decision);
}

function take(view) {
  if (only.size && !only.has(view.board)) return false;
  const isNew = !shown.has(view.board);
  if (isNew) shown.set(view.board, makeTile(view.board));
  fillTile(shown.get(view.board), view);
  return isNew;
}

function arrange() {
  const width = tiles.clientWidth;
  const height = tiles.clientHeight;
  const count = shown.size || 1;
  let best = { scale: 0, columns: 1 };
  for (let columns = 1; columns <= count; columns += 1) {
    const rows = Math.ceil(count / columns);
    const scale = Math.min(width / columns, (height / rows) * TILE_SHAPE);
    if (scale > best.scale + 0.5) best = { scale, columns };
  }
  tiles.style.setProperty("--columns", best.columns);
  tiles.style.setProperty("--rows", Math.ceil(count / best.columns));
  requestAnimationFrame(() => tiles.querySelectorAll(".player").forEach(fit));
  tiles.dataset.density = best.scale < 330 ? "tiny" : best.scale < 620 ? "small" : "large";
}

function summarise(views) {
  document.getElementById("empty").hidden = views > 0;
  text(document.getElementById("summary"), views > 1 ? `${views} boards` : "");
}

function showTrouble() {
  const words = trouble(link.fresh, link.heard, link.broker, link.hub);
  // A broker that has just come back tells of the hub a moment later; nobody needs to see that moment.
  if (!words) link.since = 0;
  else if (!link.since) link.since = Date.now();
  const wait = words && link.fresh && Date.now() - link.since < BAR_SHOWN_TROUBLE_MS;
  if (wait) setTimeout(showTrouble, BAR_SHOWN_TROUBLE_MS);
  else text(document.getElementById("trouble"), words);
  document.body.dataset.link = words && !wait ? (link.fresh ? "away" : "stale") : "live";
}

follow("/api/1/stream", {
  snapshot(body, first) {
    Object.assign(link, { broker: body.broker, hub: body.hub });
    const views = new Map(body.boards.map((view) => [view.board, view]));
    for (const [board, { tile }] of shown) if (!views.has(board)) tile.remove(), shown.delete(board);
    for (const view of body.boards) {
      const news = take(view);
      if (!shown.has(view.board)) continue;
      tiles.append(shown.get(view.board).tile); // in the order of the snapshot
      if (first || news) gate.skip(view.board, view.table?.flash);
    }
    if (!first) {
      for (const { board, flash } of body.missed) if (shown.has(board)) takeFlash(views.get(board), body.now_ms, flash);
      for (const view of body.boards) if (shown.has(view.board)) takeFlash(view, body.now_ms);
    }
    arrange();
    summarise(shown.size);
    showTrouble();
  },
  board({ view, now_ms }) {
    if (only.size && !only.has(view.board)) return;
    if (take(view)) {
      tiles.append(shown.get(view.board).tile);
      arrange();
      summarise(shown.size);
    }
    takeFlash(view, now_ms);
  },
  fresh(isFresh, heard) {
    Object.assign(link, { fresh: isFresh, heard });
    showTrouble();
  },
});

const clock = document.getElementById("clock");
const tick = () => text(clock, new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
setInterval(tick, 1000);
tick();
new ResizeObserver(arrange).observe(tiles);
