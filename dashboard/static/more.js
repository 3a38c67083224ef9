// What a table seldom needs: pause, time-out, the referee, swapping, giving up. Two taps each.

import { boardName, make, sideName, sidesOf } from "./dom.js";
import { sheet } from "./sheet.js";

const RUNNING = ["round", "settling", "round_over", "paused"];

/** The sheet of a table's seldom actions; `request(what, body, done)` asks the hub. */
export function more(table, request) {
  const running = RUNNING.includes(table.phase);
  const choices = [
    table.referee
      ? ["The referee was here", () => request("referee_done", {}, "Play goes on."), "primary"]
      : ["Call the referee", () => request("referee", {}, "The referee is called."), "primary"],
  ];
  if (running) {
    if (table.phase === "paused") choices.push(["Resume", () => request("resume", {}, "Play goes on."), ""]);
    else choices.push(["Pause", () => request("pause", {}, "Play rests."), ""]);
    if (!table.time_out && table.turn) choices.push(["Time is up", () => timeOut(table, request), ""]);
    if (sidesOf(table).length === 2) choices.push(["Swap colours or seats", () => swap(table, request), ""]);
  }
  if (table.match_id) choices.push(["Names and event", () => names(table, request), ""]);
  if (running) choices.push(["Move to another board", () => move(table, request), ""]);
  if (running) choices.push(["Give up", () => giveUp(table, request), "danger"]);
  sheet("More", "", choices);
}

function timeOut(table, request) {
  sheet("Time is up?", "The side that has shot less takes one more shot, then the round is over.", [
    ["Time is up", () => request("time_out", { round: table.round }, "Time is up.")],
  ]);
}

function swap(table, request) {
  const choices = [["Swap the colours", () => request("swap", { what: "colours" }, "The colours are swapped.")]];
  if (!table.shot && ["singles", "doubles"].includes(table.players)) {
    choices.push(["Swap the seats", () => request("swap", { what: "seats" }, "The seats are swapped.")]);
  }
  const words = table.shot
    ? "The shots of this round then belong to the other side. Finished rounds stay as they are."
    : "It holds from this round on. Finished rounds stay as they are.";
  sheet("Swap", words, choices);
}

/** Names and event of a match: the running or last one, or an earlier one of the evening. */
export function names(table, request, played = null) {
  const sides = played ? Object.entries(played.names).map(([key, name]) => [key, { name, colour: key }]) : sidesOf(table);
  const fields = sides.map(([key, side]) => field(played ? `Side ${key}` : side.colour, key, side.name === side.colour ? "" : side.name));
  const event = (played ?? table).event ?? {};
  const about = [field("Event", "name", event.name), field("Stage", "stage", event.stage), field("Table", "table", event.table)];
  const save = () => {
    const body = { names: valuesOf(fields), event: valuesOf(about) };
    if (played) body.match = played.id;
    request("name", body, "Names and event are kept.");
  };
  const earlier = (played ? [] : (table.evening ?? [])).toReversed().map((match) => [
    `Earlier: ${Object.values(match.names).join(" – ")}`,
    () => names(table, request, match),
    "",
  ]);
  const words = played ? `Earlier match ${played.id}` : "They can be changed until the evening is closed.";
  sheet("Names and event", words, [["Save", save], ...earlier], [...fields, ...about]);
}

function field(words, name, value = "") {
  const input = make("input");
  Object.assign(input, { name, maxLength: 40, value: value ?? "", autocomplete: "off" });
  return make("label", "", words, input);
}

/** What stands in form fields, by their names. */
export function valuesOf(fields) {
  const inputs = fields.map((label) => label.querySelector("input, select"));
  return Object.fromEntries(inputs.map(({ name, value }) => [name, value.trim()]));
}

/** Go on at another board that is free; a round that has begun is played again there. */
export async function move(table, request) {
  const boards = await fetch("/api/1/boards")
    .then((response) => response.json())
    .then((body) => body.boards)
    .catch(() => null);
  const free = (boards ?? []).filter((view) => view.board !== table.board && ["idle", "match_over"].includes(view.table?.phase ?? ""));
  const begun = table.shot > 0 && table.phase !== "round_over";
  const words = begun
    ? `Round ${table.round} has begun: it is played again from its first shot at the other board. All else stays.`
    : "The match goes on there as it stands, with the same hammer and seats.";
  const choices = free.map(({ board }) => [boardName(board), () => request("move", { to: board, restart: begun, round: table.round }, `The match goes on at ${boardName(board)}.`)]);
  sheet("Move to which board?", free.length ? words : boards ? "No other board is free." : "The dashboard cannot be reached. Try again in a moment.", choices);
}

function giveUp(table, request) {
  const choices = sidesOf(table).flatMap(([key, side]) => [
    [`${sideName(side)} gives up round ${table.round}`, () => request("concede", { side: key, round: table.round }, "The round is given up."), ""],
    [`${sideName(side)} gives up the game`, () => request("concede", { side: key, what: "game" }, "The game is given up."), "danger"],
    [`${sideName(side)} does not go on`, () => request("walk_over", { side: key }, "The match has ended."), "danger"],
  ]);
  sheet("Who gives up?", "Undo brings it back.", choices);
}
