// The referee at one table: the last picture before any hand, the clip, both readings, and a ruling in one tap.

import { makeClip } from "./clip.js";
import { boardName, eventWords, make, sideName, sidesOf, text } from "./dom.js";
import { follow, sayTrouble } from "./live.js";
import { request } from "./request.js";
import { sheet } from "./sheet.js";
import { makeTotals, TOTALS_WORDS } from "./totals.js";

const LOOK_MS = 2000;
const at = (id) => document.getElementById(id);
const board = document.body.dataset.board;
const base = `/api/1/boards/${encodeURIComponent(board)}/cases`;
const link = { fresh: true, heard: 0, broker: true, hub: true };
const state = { view: null, kept: new Map() };
const ask = (what, body, done) => request(board, state.view?.table?.rev ?? 0, what, body, done);
const REASONS = JSON.parse(document.body.dataset.reasons);

text(at("title"), `Referee at ${boardName(board)}`);

// ---- what is to be decided

/** The open questions, and the call of the referee: what each is called, what it asks, and what can be ruled. */
function openCases(table) {
  const cases = table.questions.map((question) => ({
    id: `${table.match_id}.${question.id}`,
    title: question.text,
    crop: question.picture,
    rulings: question.choices.map(({ key, text: words, reading }) => ({
      key,
      words,
      reading,
      tap: (reason) => ask("rule", { question: question.id, choice: key, reason }, "Ruled."),
    })),
  }));
  if (table.case) cases.push({ id: table.case, title: "The referee was called", crop: "", rulings: onCalledShot(table) });
  return cases;
}

/** Rulings on the shot that was the last when the referee was called, whatever has been shot since. */
function onCalledShot(table) {
  const { shot, round, game, valid, text: verdict } = table.call ?? {};
  if (!shot || table.questions.length) return [];
  const rule = (good) => (reason) => ask("rule", { shot, valid: good, round, game, reason }, "Ruled.");
  const where = round === table.round && game === table.game ? `Shot ${shot}` : `Shot ${shot} of round ${round}`;
  const stands = (good) => (valid === good ? `${where} stands as: ${verdict}` : "");
  return [
    { key: "good", words: `${where} is good`, reading: stands(true), tap: rule(true) },
    { key: "foul", words: `${where} is a foul`, reading: stands(false), tap: rule(false) },
  ];
}

function fillCases(table) {
  const box = at("cases");
  const there = new Map(Array.from(box.children, (card) => [card.dataset.case, card]));
  const open = openCases(table);
  for (const found of open) {
    const kept = state.kept.get(found.id);
    const key = JSON.stringify([found.title, found.rulings.map(({ words, reading }) => [words, reading]), kept?.kept_s]);
    const old = there.get(found.id);
    there.delete(found.id);
    if (old?.dataset.key === key) continue;
    const card = makeCase(found, kept);
    card.dataset.key = key;
    if (old) old.replaceWith(card);
    else box.append(card);
  }
  for (const card of there.values()) card.remove();
  at("quiet").hidden = open.length > 0;
}

/** What a ruling is based on: one of the usual reasons, or the referee's own words. */
function makeReasons(name) {
  const own = make("input");
  Object.assign(own, { maxLength: 200, placeholder: "or in your own words (name nobody)", autocomplete: "off" });
  own.setAttribute("aria-label", "Reason in your own words");
  const picks = REASONS.map((words, number) => {
    const radio = make("input");
    Object.assign(radio, { type: "radio", name: `reason ${name}`, value: words, checked: number === 0 });
    return make("label", "pick", radio, words);
  });
  const box = make("fieldset", "reasons", make("legend", "", "Reason"), ...picks, own);
  return { box, reason: () => own.value.trim() || box.querySelector(":checked").value };
}

function makeCase(found, kept) {
  const card = make("article", "card case", make("h2", "", found.title));
  card.dataset.case = found.id;
  card.append(...pictures(found, kept));
  const { box, reason } = makeReasons(found.id);
  const rulings = make("div", "rulings");
  for (const { key, words, reading, tap } of found.rulings) {
    const button = make("button", "big primary", words);
    button.type = "button";
    button.dataset.choice = key;
    button.addEventListener("click", () => tap(reason()));
    rulings.append(make("div", "ruling", reading ? make("p", "reading", reading) : "", button));
  }
  if (found.rulings.length) card.append(box, rulings);
  return card;
}

function pictures(found, kept) {
  const parts = [];
  if (kept?.drawn || kept?.plain) parts.push(still(found.id, kept));
  else if (found.crop) {
    const image = make("img", "picture");
    image.src = `data:image/jpeg;base64,${found.crop}`;
    image.alt = "What the camera saw";
    parts.push(image);
  }
  if (kept?.margin_mm != null) parts.push(make("p", "margin", marginWords(kept)));
  if (kept?.frames.length) parts.push(makeClip(`${base}/${encodeURIComponent(found.id)}/clip.bin`, kept.frames));
  if (!kept) parts.push(make("p", "hint", "No picture has come from the board yet."));
  return parts;
}

/** The picture with the line drawn; pressing it shows it without. */
function still(id, kept) {
  const url = (name) => `${base}/${encodeURIComponent(id)}/${name}.jpg`;
  const image = make("img", "picture");
  image.src = url(kept.drawn ? "drawn" : "plain");
  image.alt = "The board before any hand, enlarged";
  const figure = make("figure", "still", image);
  if (kept.drawn && kept.plain) {
    const button = make("button", "", "Without lines");
    button.type = "button";
    button.addEventListener("click", () => {
      const plain = image.src.endsWith("drawn.jpg");
      image.src = url(plain ? "plain" : "drawn");
      text(button, plain ? "With lines" : "Without lines");
    });
    figure.append(button);
  }
  return figure;
}

function marginWords({ margin_mm: margin, sigma_mm: sigma }) {
  const where = margin >= 0 ? "inside the line" : "over the line";
  return `${Math.abs(margin).toFixed(1)} mm ${where}, ± ${(2 * sigma).toFixed(1)} mm`;
}

// ---- the pictures that the board has sent

async function look() {
  try {
    const response = await fetch(base);
    if (response.status === 401 || response.status === 403) return;
    const { cases } = await response.json();
    state.kept = new Map(cases.map((kept) => [kept.case, kept]));
    if (state.view?.table) show();
  } catch {
    // The page says by itself when the dashboard cannot be reached.
  }
}

function fillEarlier(table) {
  const open = new Set(openCases(table).map((found) => found.id));
  const earlier = [...state.kept.values()].filter((kept) => !open.has(kept.case));
  at("earlier").hidden = !earlier.length;
  const key = JSON.stringify(earlier.map((kept) => kept.case));
  const list = at("earlier").querySelector("ul");
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(
    ...earlier.map((kept) => {
      const button = make("button", "", `${new Date(kept.kept_s * 1000).toLocaleString()}: ${kept.text}`);
      button.type = "button";
      button.addEventListener("click", () => sheet(kept.text, "", [], pictures({ id: kept.case, crop: "" }, kept)));
      return make("li", "", button);
    }),
  );
}

// ---- all of it

at("done").addEventListener("click", () => ask("referee_done", {}, "Play goes on."));
at("totals").addEventListener("click", () => {
  const { table } = state.view;
  const last = table.rounds.at(-1);
  const { box, reason } = makeReasons("totals");
  const { fields, told } = makeTotals(table, last);
  const save = () => ask("rule", { round: last.number, game: last.game, ...told(), reason: reason() }, "Ruled.");
  sheet(`Totals of round ${last.number}`, TOTALS_WORDS, [["Rule so", save]], [...fields, box]);
});

/** Any shot of the match, also of a round that was counted, here or at the board that the match came from. */
at("shot").addEventListener("click", () => {
  const { table } = state.view;
  const rounds = table.rounds.map(({ number, game }) => ({ number, game }));
  if (table.shot && !rounds.some(({ number, game }) => number === table.round && game === table.game)) rounds.push({ number: table.round, game: table.game });
  const { box, reason } = makeReasons("shot");
  const options = rounds.map(({ number, game }) => make("option", "", game > 1 ? `Round ${number} of game ${game}` : `Round ${number}`));
  const which = make("select", "", ...options);
  which.selectedIndex = rounds.length - 1;
  const shot = make("input");
  Object.assign(shot, { type: "number", inputMode: "numeric", min: 1, step: 1, value: table.shot || 1 });
  const rule = (valid) => ask("rule", { ...roundAt(rounds[which.selectedIndex]), shot: Number(shot.value), valid, reason: reason() }, "Ruled.");
  const choices = [["It was good", () => rule(true)], ["It was a foul", () => rule(false)]];
  sheet("Rule on a shot", "Shots are counted from 1 in each round, of both sides together.", choices, [make("label", "", "Round", which), make("label", "", "Shot", shot), box]);
});

const roundAt = ({ number, game }) => ({ round: number, game });

function show() {
  const { table } = state.view;
  document.body.dataset.state = state.view.state.code;
  text(at("chip"), state.view.state.text);
  if (!table) return;
  const sides = sidesOf(table).map(([, side]) => `${sideName(side)} ${side.score}`);
  text(at("score"), [eventWords(table.event), sides.join(" – "), table.round ? `round ${table.round}` : ""].filter(Boolean).join(" · "));
  fillCases(table);
  fillEarlier(table);
  at("done").hidden = !table.referee;
  at("totals").hidden = !table.rounds.length;
  at("shot").hidden = !table.rounds.length && !table.shot;
}

follow(`/api/1/boards/${encodeURIComponent(board)}/stream`, {
  snapshot(body) {
    Object.assign(link, { broker: body.broker, hub: body.hub });
    state.view = body.boards[0] ?? state.view;
    if (state.view) show();
    sayTrouble(at("trouble"), link);
    look();
  },
  board({ view }) {
    state.view = view;
    show();
    look();
  },
  fresh(isFresh, heard) {
    Object.assign(link, { fresh: isFresh, heard });
    sayTrouble(at("trouble"), link);
  },
});
setInterval(() => {
  const waits = state.view?.table && openCases(state.view.table).some((found) => !state.kept.has(found.id));
  if (waits && document.visibilityState === "visible") look();
}, LOOK_MS);
