// The organiser's page: every board in one list, and what an evening needs done at them.

import { LEVELS, boardName, eventWords, make, mark, preselect, sideName, sidesOf, text } from "./dom.js";
import { follow, sayTrouble } from "./live.js";
import { move, names, valuesOf } from "./more.js";
import { request, requestCode, requestHub } from "./request.js";
import { sheet } from "./sheet.js";

const RUNNING = ["round", "settling", "round_over", "paused"];
const at = (id) => document.getElementById(id);
const link = { fresh: true, heard: 0, broker: true, hub: true };
const rows = new Map();
const views = new Map();

function makeRow(board) {
  const parts = {
    name: make("a", "name", boardName(board)),
    chip: make("span", "chip"),
    match: make("p", "match"),
    about: make("p", "about"),
    ask: make("a", "big primary"),
    buttons: make("div", "buttons"),
    code: make("button", "code", "QR code"),
  };
  parts.code.type = "button";
  parts.code.addEventListener("click", () => acts.code(board));
  parts.name.href = `/table/${board}`;
  parts.ask.href = `/referee/${board}`;
  const row = make("article", "card board-row", make("header", "", parts.name, parts.code, parts.chip), parts.match, parts.about, parts.ask, parts.buttons);
  row.dataset.board = board;
  for (const [word, label] of [["start", "Start a match"], ["names", "Names, event"], ["move", "Move"], ["walk_over", "Walk-over"], ["end", "End"]]) {
    const button = make("button", word === "end" ? "danger" : "", label);
    button.type = "button";
    button.dataset.act = word;
    button.addEventListener("click", () => acts[word](board));
    parts.buttons.append(button);
  }
  return { row, parts };
}

function fillRow({ row, parts }, view) {
  const { table } = view;
  const running = table ? RUNNING.includes(table.phase) : false;
  row.dataset.state = view.state.code;
  mark(row, "running", running);
  text(parts.chip, view.state.text);
  const sides = table ? sidesOf(table) : [];
  text(parts.match, sides.map(([, side]) => `${sideName(side)} ${side.score}`).join(" – ") || "No match.");
  const where = running ? `round ${table.round}` : table?.match_id ? "over" : "";
  const words = table?.match_id ? [eventWords(table.event), table.rules, where, LEVELS[table.level]] : [];
  text(parts.about, words.filter(Boolean).join(" · "));
  const open = table?.referee ? "The referee is called" : (table?.questions[0]?.text ?? "");
  parts.ask.hidden = !open;
  text(parts.ask, open);
  for (const button of parts.buttons.children) {
    const { act } = button.dataset;
    if (act === "start") button.hidden = running && !table.auto;
    else if (act === "names") button.hidden = !table?.match_id && !table?.evening?.length;
    else button.hidden = !running;
    if (act === "start") text(button, running ? "Names, rules" : "Start a match");
  }
}

const asker = (board) => (what, body, done) => request(board, views.get(board)?.table?.rev ?? 0, what, body, done);

const acts = {
  start(board) {
    const fields = [...at("start-fields").content.cloneNode(true).children];
    const table = views.get(board).table ?? { phase: "idle" }; // a board without sensors has none before its first match
    for (const field of fields) preselect(field, table.standing);
    const save = (more, done) => {
      const { A, B, ...how } = valuesOf(fields);
      const given = Object.fromEntries(Object.entries({ A, B }).filter(([, name]) => name));
      asker(board)("start", { names: given, light: "A", games: 1, ...how, ...more }, done);
    };
    const running = RUNNING.includes(table.phase);
    const choices = [];
    if (table.auto) {
      const which = running ? {} : { match: table.match_id };
      choices.push(["Give the match these names and rules", () => save(which, "The match has its names and rules.")]);
    }
    if (!running) choices.push(["Start the match", () => save({}, `A match has started at ${boardName(board)}.`), table.auto ? "" : "primary"]);
    sheet(`A match at ${boardName(board)}`, table.auto ? "A first shot opened it." : "", choices, fields);
  },
  names: (board) => names(views.get(board).table, asker(board)),
  move: (board) => move(views.get(board).table, asker(board)),
  walk_over(board) {
    const choices = sidesOf(views.get(board).table).map(([key, side]) => [
      `${sideName(side)} does not go on`,
      () => asker(board)("walk_over", { side: key }, "The match has ended."),
      "danger",
    ]);
    sheet("Walk-over", "The match is the other side's. Undo at the table brings it back.", choices);
  },
  code(board) {
    requestCode(board, ({ picture, here_only: hereOnly }) => {
      const image = make("img", "qr");
      Object.assign(image, { src: picture, alt: `QR code of ${boardName(board)}` });
      const words = hereOnly
        ? "Phones cannot follow this code: open this page by the machine's address in the network first."
        : "A phone that scans it opens this table, and may do for a day what people at the table may.";
      sheet(boardName(board), words, [], [image]);
      return "";
    });
  },
  end(board) {
    sheet(`End the match at ${boardName(board)}?`, "It ends without a winner. Undo at the table brings it back.", [
      ["End the match", () => asker(board)("abandon", {}, "The match has ended."), "danger"],
    ]);
  },
};

// ---- what concerns the whole club

at("close").addEventListener("click", () => {
  const playing = [...views.values()].filter((view) => RUNNING.includes(view.table?.phase));
  const words = playing.length
    ? `Still playing: ${playing.map((view) => boardName(view.board)).join(", ")}. These matches end without a winner. What was played stands, and can no longer be corrected or named.`
    : "What was played stands, and can no longer be corrected or named.";
  const done = "The evening is closed.";
  sheet("Close the evening?", words, [["Close the evening", () => requestHub("close", { abandon: playing.length > 0 }, done), "danger"]]);
});

at("forget").addEventListener("click", () => {
  const input = make("input");
  Object.assign(input, { name: "name", maxLength: 40, autocomplete: "off" });
  const next = () => {
    const name = input.value.trim();
    if (!name) return;
    sheet(`Forget ${name}?`, "The name and every picture and clip of this person's matches are erased for ever. Scores stay.", [
      [`Forget ${name}`, () => requestHub("forget", { name }, "The person is forgotten."), "danger"],
    ]);
  };
  sheet("Forget a person", "As the name is shown at the tables.", [["Go on", next]], [make("label", "", "Name", input)]);
});

// ---- all of it

function take(view) {
  views.set(view.board, view);
  if (!rows.has(view.board)) rows.set(view.board, makeRow(view.board));
  fillRow(rows.get(view.board), view);
}

function summarise() {
  at("empty").hidden = views.size > 0;
  const playing = [...views.values()].filter((view) => RUNNING.includes(view.table?.phase)).length;
  text(at("summary"), views.size ? `${playing} of ${views.size} playing` : "");
}

follow("/api/1/stream", {
  snapshot(body) {
    Object.assign(link, { broker: body.broker, hub: body.hub });
    const there = new Set(body.boards.map((view) => view.board));
    for (const [board, { row }] of rows) if (!there.has(board)) row.remove(), rows.delete(board), views.delete(board);
    for (const view of body.boards) {
      take(view);
      at("list").append(rows.get(view.board).row); // in the order of the snapshot
    }
    summarise();
    sayTrouble(at("trouble"), link);
  },
  board({ view }) {
    const isNew = !rows.has(view.board);
    take(view);
    if (isNew) at("list").append(rows.get(view.board).row);
    summarise();
  },
  fresh(isFresh, heard) {
    Object.assign(link, { fresh: isFresh, heard });
    sayTrouble(at("trouble"), link);
  },
});
