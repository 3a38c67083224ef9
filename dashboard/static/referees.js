// Which tables wait for a ruling: those that call first, then those with an open question.

import { boardName, make, sideName, sidesOf } from "./dom.js";
import { follow, sayTrouble } from "./live.js";

const at = (id) => document.getElementById(id);
const views = new Map();
const link = { fresh: true, heard: 0, broker: true, hub: true };

const AGES_MS = 10000;

/** Who called, when and where in the match; the ages are by the hub's clock and this device's, to the minute. */
function callWords({ referee, call, sides, round, match_id: match }) {
  if (!referee) return "";
  const minutes = call ? Math.max(0, Math.floor((Date.now() - call.at_ms) / 60000)) : 0;
  const since = call ? (minutes ? ` ${minutes} min ago` : " just now") : "";
  const who = match ? sidesOf({ sides }).map(([, side]) => sideName(side)).join(" against ") : "";
  const where = match && (call?.round || round) ? `round ${call?.round || round}` : "";
  const shot = call?.shot ? `after shot ${call.shot}` : "";
  return `${[who, where, shot].filter(Boolean).join(", ")}${who ? ": the" : "The"} referee was called${since}.`;
}

function show() {
  const waiting = [...views.values()].filter(({ table }) => table?.referee || table?.questions.length);
  waiting.sort((one, other) => Number(other.table.referee) - Number(one.table.referee));
  const key = JSON.stringify(waiting.map(({ board, table }) => [board, callWords(table), table.questions.map((q) => q.text)]));
  at("empty").hidden = waiting.length > 0;
  if (at("list").dataset.key === key) return;
  at("list").dataset.key = key;
  at("list").replaceChildren(
    ...waiting.map((view) => {
      const link = make("a", "name", boardName(view.board));
      link.href = `/referee/${view.board}`;
      const words = [callWords(view.table), ...view.table.questions.map((question) => question.text)];
      const row = make("article", "card board-row", make("header", "", link), make("p", "about", words.filter(Boolean).join(" ")));
      row.dataset.state = view.table.referee ? "referee" : "question";
      return row;
    }),
  );
}

follow("/api/1/stream", {
  snapshot(body) {
    Object.assign(link, { broker: body.broker, hub: body.hub });
    views.clear();
    for (const view of body.boards) views.set(view.board, view);
    show();
    sayTrouble(at("trouble"), link);
  },
  board({ view }) {
    views.set(view.board, view);
    show();
  },
  fresh(isFresh, heard) {
    Object.assign(link, { fresh: isFresh, heard });
    sayTrouble(at("trouble"), link);
  },
});
setInterval(show, AGES_MS);
