// What a table seldom needs: pause, time-out, the referee, swapping, giving up. Two taps each.

import { make, sideName, sidesOf } from "./dom.js";
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
  if (table.match_id) choices.push(["Names", () => names(table, request), ""]);
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

function names(table, request) {
  const fields = sidesOf(table).map(([key, side]) => {
    const input = make("input");
    const shown = side.name === side.colour ? "" : side.name;
    Object.assign(input, { name: key, maxLength: 40, value: shown, placeholder: side.colour, autocomplete: "off" });
    return make("label", "", side.colour, input);
  });
  const save = () => {
    const given = Object.fromEntries(fields.map((field) => field.querySelector("input")).map(({ name, value }) => [name, value.trim()]));
    request("name", { names: given }, "The names are kept.");
  };
  sheet("Names", "", [["Save the names", save]], fields);
}

function giveUp(table, request) {
  const choices = sidesOf(table).flatMap(([key, side]) => [
    [`${sideName(side)} gives up round ${table.round}`, () => request("concede", { side: key, round: table.round }, "The round is given up."), ""],
    [`${sideName(side)} gives up the game`, () => request("concede", { side: key, what: "game" }, "The game is given up."), "danger"],
    [`${sideName(side)} does not go on`, () => request("walk_over", { side: key }, "The match has ended."), "danger"],
  ]);
  sheet("Who gives up?", "Undo brings it back.", choices);
}
