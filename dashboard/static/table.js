// The table page: shows one board and turns taps into requests.

import { draw, makeBoard } from "./board.js";
import { boardName, eventWords, make, mark, pips, pointsOf, preselect, sideName, sidesOf, text } from "./dom.js";
import { follow, sayTrouble } from "./live.js";
import { more } from "./more.js";
import { fillQuestions, fillRemovals } from "./questions.js";
import { request as ask } from "./request.js";
import { sheet } from "./sheet.js";
import { askTotals } from "./totals.js";

const at = (id) => document.getElementById(id);
const board = document.body.dataset.board;
const mayAsk = "mayAsk" in document.body.dataset;
const link = { fresh: true, heard: 0, broker: true, hub: true };
const state = { view: null, pending: null };
const rows = new Map();
const picture = makeBoard(Number(document.body.dataset.half));

at("drawing").append(picture);
text(at("title"), boardName(board));

// ---- the picture, turned to the seat of whoever holds the phone

function turn(by) {
  const quarter = (Number(localStorage.getItem("turn")) || 0) + by;
  localStorage.setItem("turn", quarter);
  at("drawing").style.setProperty("--turn", `${quarter * 90}deg`);
}
at("turn").addEventListener("click", () => turn(1));
turn(0);

// ---- asking

const request = (what, body, done = "") => ask(board, state.view?.table?.rev ?? 0, what, body, done);
const answer = (question, choice) => request("answer", { question, choice });

// ---- score and twenties

function makeRow(key) {
  const parts = {
    disc: make("span", "token"),
    name: make("span", "player"),
    hammer: make("span", "hammer"),
    pips: make("span", "pips"),
    score: make("span", "score"),
    live: make("span", "live"),
    twenties: make("b", "count"),
    provisional: make("i", "provisional"),
    total: make("small", "total"),
    less: make("button", "step ask-only", "−"),
    more: make("button", "step ask-only", "+"),
  };
  parts.hammer.setAttribute("role", "img");
  parts.hammer.setAttribute("aria-label", "has the hammer");
  parts.pips.setAttribute("role", "img");
  parts.less.type = parts.more.type = "button";
  parts.less.addEventListener("click", () => step(key, -1));
  parts.more.addEventListener("click", () => step(key, +1));
  const row = make(
    "article",
    "side",
    parts.disc,
    make("div", "who", make("div", "line", parts.name, parts.hammer), make("div", "line", parts.pips, parts.live)),
    parts.score,
    make("div", "twenties", parts.less, make("span", "number", make("small", "", "20s"), parts.twenties, parts.provisional), parts.more, parts.total),
  );
  return { row, parts };
}

function fillRow({ row, parts }, key, side, table) {
  row.dataset.side = key;
  row.dataset.colour = side.colour;
  mark(row, "turn", table.turn === key);
  mark(row, "winner", table.winner === key);
  text(parts.name, sideName(side));
  parts.hammer.hidden = !side.hammer;
  pips(parts.pips, side.shots_left, side.colour);
  text(parts.score, side.score);
  text(parts.live, ["round", "settling", "round_over"].includes(table.phase) ? roundWords(side) : "");
  const pending = state.pending?.side === key ? state.pending.twenties : null;
  text(parts.twenties, pending ?? side.twenties);
  mark(parts.twenties, "pending", pending !== null);
  text(parts.provisional, side.provisional ? `+${side.provisional}?` : "");
  text(parts.total, `${side.total_twenties} in all${side.games ? ` · ${side.games} won` : ""}`);
  const who = sideName(side);
  parts.less.setAttribute("aria-label", `One 20 less for ${who}`);
  parts.more.setAttribute("aria-label", `One 20 more for ${who}`);
  parts.less.disabled = (pending ?? side.twenties) <= 0;
}

const roundWords = (side) => `${pointsOf(side)} this round${side.entered == null ? "" : ", entered by people"}`;

function step(key, by) {
  const side = state.view.table.sides[key];
  const from = state.pending?.side === key ? state.pending.twenties : side.twenties;
  const twenties = Math.max(0, from + by);
  state.pending = twenties === side.twenties ? null : { side: key, twenties };
  show();
}

at("pending-save").addEventListener("click", async () => {
  const { side, twenties } = state.pending;
  await request("correct", { side, twenties }, "Corrected.");
  state.pending = null;
  show();
});
at("pending-drop").addEventListener("click", () => {
  state.pending = null;
  show();
});

function fillPending(table) {
  const { pending } = state;
  at("pending").hidden = !pending;
  if (!pending) return;
  const side = table.sides[pending.side];
  text(at("pending-text"), `${sideName(side)}: ${side.twenties} → ${pending.twenties} ${pending.twenties === 1 ? "twenty" : "twenties"} in this round`);
}

// ---- verdict, discs, rounds

function fillVerdict(verdict) {
  at("verdict").hidden = !verdict;
  if (!verdict) return;
  text(at("verdict-text"), `Shot ${verdict.shot}: ${verdict.text}${verdict.ruled ? ` (referee: ${verdict.ruled})` : ""}`);
  mark(at("verdict"), "tone", verdict.valid ? "good" : "foul");
  mark(at("verdict"), "provisional", verdict.provisional);
}

at("verdict-change").addEventListener("click", () => {
  const { verdict } = state.view.table;
  sheet(`Shot ${verdict.shot}`, verdict.text, [
    [verdict.valid ? "It was a foul" : "The shot was good", () => request("correct", { shot: verdict.shot, valid: !verdict.valid }, "Corrected.")],
  ]);
});

function tapDisc(id) {
  const found = state.view.table?.discs.find((disc) => disc.id === id);
  if (!found) return;
  const choices = [15, 10, 5, 0].map((value) => [
    value === found.value ? `${value} (as it is)` : String(value),
    () => value !== found.value && request("correct", { disc: id, value }, "Corrected."),
    value === found.value ? "" : "primary",
  ]);
  sheet(`A ${found.colour} disc worth ${found.value}`, "What is it really worth?", choices);
}

function fillRounds(table) {
  at("rounds").hidden = !table.rounds.length;
  const key = JSON.stringify([table.rounds, table.game, sidesOf(table).map(([, side]) => sideName(side))]);
  if (at("rounds").dataset.key === key) return;
  at("rounds").dataset.key = key;
  const sides = sidesOf(table);
  const names = sides.map(([, side]) => make("th", "", sideName(side)));
  at("rounds").querySelector("thead").replaceChildren(make("tr", "", make("th", "", "#"), ...names, ...(mayAsk ? [make("th")] : [])));
  at("rounds").querySelector("tbody").replaceChildren(
    ...table.rounds.toReversed().map((round) => {
      const cells = sides.map(([side]) => {
        const cell = make("td", "", String(round.totals[side] ?? 0), make("small", "", ` ${round.twenties[side] ?? 0}×20`));
        const added = round.added[side] ?? 0;
        if (added) cell.append(make("b", "", ` +${added}`));
        if (round.conceded === side) cell.append(make("small", "", " gave up"));
        return cell;
      });
      const row = make("tr", "", make("td", "", String(round.number)), ...cells);
      if (mayAsk && round.game === table.game) {
        const change = make("button", "ask-only", "Change");
        change.type = "button";
        change.setAttribute("aria-label", `Change the totals of round ${round.number}`);
        change.addEventListener("click", () => enterTotals(round.number, round.number));
        row.append(make("td", "", change));
      }
      const ruled = round.ruled ?? [];
      if (!ruled.length) return [row];
      const words = make("td", "ruled", `Referee: ${ruled.join("; ")}`);
      words.colSpan = row.children.length;
      return [row, make("tr", "", words)];
    }).flat(),
  );
}

// ---- actions

at("confirm").addEventListener("click", () => request("confirm", { round: state.view.table.round }, "Round confirmed."));
at("totals").addEventListener("click", () => enterTotals(0, state.view.table.round));

function enterTotals(number, shownNumber) {
  askTotals(state.view.table, number, shownNumber, (body) => request("correct", body, "Totals entered."));
}

const saidOf = (lead) => ({ told }) => `${lead}${told ? `: ${told}` : ""}.`;
at("undo").addEventListener("click", () => request("undo", {}, saidOf("Taken back")));
at("redo").addEventListener("click", () => request("redo", {}, saidOf("Done again")));
at("abandon").addEventListener("click", () =>
  sheet("End this match?", "It ends without a winner. Undo brings it back.", [["End the match", () => request("abandon", {}, "The match has ended."), "danger"]]),
);

at("more").addEventListener("click", () => more(state.view.table, request));

at("start-form").elements.players.addEventListener("change", ({ target }) => {
  at("third-name").hidden = target.value !== "cutthroat";
});
at("start-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  const names = {};
  if (form.get("light_name").trim()) names.A = form.get("light_name").trim();
  if (form.get("dark_name").trim()) names.B = form.get("dark_name").trim();
  const players = form.get("players");
  if (players === "cutthroat" && form.get("third_name").trim()) names.C = form.get("third_name").trim();
  const body = { names, rules: form.get("rules"), level: form.get("level"), light: "A", opener: form.get("opener"), games: Number(form.get("games")) };
  if (players !== "singles") body.players = players;
  const start = async (more = {}) => {
    if (await request("start", { ...body, ...more }, "The match has started.")) at("start").open = false;
  };
  const replace = async () => {
    if (await request("abandon", {})) await start();
  };
  const { phase, auto, match_id } = state.view.table ?? {};
  const running = phase && !["idle", "match_over"].includes(phase);
  const fresh = ["Start a new match", running ? replace : () => start(), running ? "danger" : ""];
  if (auto && match_id) {
    const given = ["Give it these names and rules", () => start(running ? {} : { match: match_id })];
    sheet("A first shot opened a match here", running ? "A new match ends it without a winner." : "It is over.", [given, fresh]);
  } else if (running) sheet("Start a new match?", "The match that is running ends without a winner.", [fresh]);
  else start();
});

function fillActions(table) {
  const running = table && !["idle", "match_over"].includes(table.phase);
  const counted = table?.rounds.some((round) => round.number === table.round && round.game === table.game);
  const done = table && ["settling", "round_over"].includes(table.phase);
  const unseen = table && !table.sensors.camera?.online;
  const entered = table && sidesOf(table).some(([, side]) => side.entered != null);
  at("actions").hidden = !table;
  at("confirm").hidden = !running || counted || !(done || unseen || entered);
  at("totals").hidden = !running || counted;
  mark(at("confirm"), "ready", done || entered);
  text(at("confirm"), table?.round ? `Confirm round ${table.round}` : "Confirm round");
  at("undo").disabled = !table?.can_undo;
  at("redo").disabled = !table?.can_redo;
  at("abandon").hidden = !running;
  const wanted = String(!running);
  if (at("start").dataset.offered !== wanted) {
    at("start").dataset.offered = wanted;
    at("start").open = wanted === "true";
  }
}

// ---- all of it

function describe(table) {
  if (!table) return "";
  const words = [eventWords(table.event), table.rules, table.game > 1 ? `game ${table.game}` : "", table.round && table.phase !== "match_over" ? `round ${table.round}` : ""];
  return words.filter(Boolean).join(" · ");
}

function saying(table) {
  if (table.referee) return "The referee is called; play rests.";
  if (table.winner) return `${sideName(table.sides[table.winner])} wins the match.`;
  if (table.message) return table.message;
  if (table.turn && table.phase === "round") return `${sideName(table.sides[table.turn])} to shoot`;
  if (table.phase === "idle") return table.practice ? `Practice: ${table.practice} twenties` : "No match is running.";
  return "";
}

function show() {
  const { view } = state;
  if (!view) return;
  const { table } = view;
  document.body.dataset.state = view.state.code;
  text(at("chip"), view.state.text);
  text(at("what"), describe(table));
  fillActions(table);
  if (!table) return;
  preselect(at("start-form"), table.standing);
  const sides = sidesOf(table);
  for (const [key, { row }] of rows) if (!table.sides[key]) row.remove(), rows.delete(key);
  for (const [key, side] of sides) {
    if (!rows.has(key)) {
      rows.set(key, makeRow(key));
      at("sides").append(rows.get(key).row);
    }
    fillRow(rows.get(key), key, side, table);
  }
  if (state.pending && !table.sides[state.pending.side]) state.pending = null;
  fillPending(table);
  text(at("message"), saying(table));
  fillQuestions(at("questions"), table, mayAsk ? answer : null);
  fillRemovals(at("remove"), table.remove);
  draw(picture, view.marks, mayAsk && table.match_id ? tapDisc : null);
  text(at("hint"), mayAsk && table.match_id && view.marks.length ? "Tap a disc to correct its value." : "");
  fillVerdict(table.verdict);
  fillRounds(table);
}

follow(`/api/1/boards/${encodeURIComponent(board)}/stream`, {
  snapshot(body) {
    Object.assign(link, { broker: body.broker, hub: body.hub });
    state.view = body.boards[0] ?? state.view;
    show();
    sayTrouble(at("trouble"), link);
  },
  board({ view }) {
    state.view = view;
    show();
  },
  fresh(isFresh, heard) {
    Object.assign(link, { fresh: isFresh, heard });
    sayTrouble(at("trouble"), link);
  },
});
