// One side of a match as wall and overlay show it: whose turn, name, hammer, 20s and score.

import { mark, sideName, text } from "./dom.js";

/** Make a long name smaller before it is cut off. */
export function fit(name) {
  name.style.fontSize = "";
  const room = name.clientWidth;
  if (room && name.scrollWidth > room) {
    const size = parseFloat(getComputedStyle(name).fontSize);
    name.style.fontSize = `${Math.max(0.62, (room / name.scrollWidth) * 0.98) * size}px`;
  }
}

/** Bring the row of a side up to date; `parts` are its name, hammer, twenties, provisional and score. */
export function fillSide({ row, parts }, key, side, table) {
  row.dataset.side = key;
  row.dataset.colour = side.colour;
  mark(row, "turn", table.turn === key);
  mark(row, "winner", table.winner === key);
  if (parts.name.textContent !== sideName(side)) {
    text(parts.name, sideName(side));
    fit(parts.name);
  }
  parts.hammer.hidden = !side.hammer;
  text(parts.twenties, side.twenties);
  text(parts.provisional, side.provisional ? `+${side.provisional}` : "");
  text(parts.score, side.score);
}
