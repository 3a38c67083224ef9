// The totals of a round as people tell them: numbers, and where no camera sees the board, rings to tap for each disc.

import { svg } from "./board.js";
import { make, pointsOf, sideName, sidesOf, text } from "./dom.js";
import { sheet } from "./sheet.js";

/** Value and radius of each ring as it is drawn, from the edge inwards; a finger must meet the hole, too. */
const RINGS = [[5, 100], [10, 75], [15, 49], [20, 23]];

export const TOTALS_WORDS = "Points of each side, 20s included, and how many 20s there are.";

/** Rings that count the discs of a side; `changed` is told the points and how many of the discs are 20s. */
function makeRings(name, colour, changed) {
  const taps = [];
  const board = svg("svg", { viewBox: "-102 -102 204 204", class: `rings ${colour}`, role: "group" });
  board.setAttribute("aria-label", `Tap a ring for each disc of ${name}`);
  const rings = RINGS.map(([value, radius], place) => {
    const group = svg("g", { role: "button", tabindex: 0, class: `ring${value}` });
    const inner = RINGS[place + 1]?.[1] ?? -radius;
    group.append(svg("circle", { r: radius }), svg("text", { y: -(radius + inner) / 2 }));
    group.addEventListener("click", () => (taps.push(value), show()));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      taps.push(value);
      show();
    });
    board.append(group);
    return [value, group];
  });
  const back = make("button", "", "Take one back");
  back.type = "button";
  back.addEventListener("click", () => (taps.pop(), show()));

  function draw() {
    for (const [value, group] of rings) {
      const count = taps.filter((tapped) => tapped === value).length;
      text(group.querySelector("text"), count ? `${value} × ${count}` : value);
      group.setAttribute("aria-label", `${value} points for ${name}: ${count} ${count === 1 ? "disc" : "discs"}`);
    }
    back.disabled = !taps.length;
  }
  function show() {
    draw();
    changed(taps.reduce((sum, value) => sum + value, 0), taps.filter((value) => value === 20).length);
  }
  draw();
  return make("div", "tapped", board, back);
}

/** A number that is typed, under its words. */
function makeNumber(words, step, value) {
  const input = make("input");
  Object.assign(input, { type: "number", inputMode: "numeric", min: 0, step, value });
  return [input, make("label", "", words, input)];
}

/** Points of a side and the 20s among them, as numbers; `told()` gives both, no 20s as long as nobody has changed them. */
function makeSide(key, side, points, known) {
  const [input, label] = makeNumber(sideName(side), 5, points);
  const [twenties, among] = makeNumber("20s among them", 1, known);
  input.name = key;
  const told = () => ({ points: Number(input.value), twenties: Number(twenties.value), changed: Number(twenties.value) !== known });
  return { key, field: make("div", "total", label, among), told };
}

/** Points of a side: a number, and rings that fill it in; `told()` gives both, no 20s where a number was typed that may hold some. */
function makeTapped(key, side, points) {
  const [input, label] = makeNumber(sideName(side), 5, points);
  input.name = key;
  let tapped = null;
  const rings = makeRings(sideName(side), side.colour, (sum, twenties) => {
    input.value = sum;
    tapped = { sum, twenties };
  });
  function told() {
    const sum = Number(input.value);
    if (tapped?.sum === sum) return { points: sum, twenties: tapped.twenties };
    return { points: sum, twenties: sum < 20 ? 0 : null }; // who scored nothing has nothing to tap
  }
  return { key, field: make("div", "total", label, rings), told };
}

/** Fields for the totals of a round, a finished one or, without it, the running one; `told()` is what stands in them. */
export function makeTotals(table, known, rings = false) {
  const sides = sidesOf(table).map(([key, side]) => {
    const points = known ? (known.totals[key] ?? 0) : pointsOf(side);
    return rings ? makeTapped(key, side, points) : makeSide(key, side, points, known ? (known.twenties[key] ?? 0) : side.twenties);
  });
  function told() {
    const all = sides.map(({ key, told }) => [key, told()]);
    const body = { totals: Object.fromEntries(all.map(([key, { points }]) => [key, points])) };
    const counted = all.every(([, { twenties }]) => twenties != null) && (rings || all.some(([, { changed }]) => changed));
    if (counted) body.among = Object.fromEntries(all.map(([key, { twenties }]) => [key, twenties]));
    return body;
  }
  return { fields: sides.map(({ field }) => field), told };
}

/** Ask for the totals of a round; `number` is 0 for the running one, and `save` gets what is to be corrected. */
export function askTotals(table, number, shownNumber, save) {
  const known = table.rounds.find((round) => round.number === number && round.game === table.game);
  const rings = !number && !table.sensors.camera?.online;
  const { fields, told } = makeTotals(table, known, rings);
  const words = rings ? "Tap a ring for each disc, 20s included, or type the points." : TOTALS_WORDS;
  sheet(`Totals of round ${shownNumber}`, words, [["Save the totals", () => save(number ? { ...told(), round: number } : told())]], fields);
}
