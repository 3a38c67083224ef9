// What a table is asked and told to do: a card for each open question, and the discs that must leave the board.

import { make } from "./dom.js";

const PICTURE_TRIES = 10;
const PICTURE_WAIT_MS = 1500;

/** Bring the cards up to date; `answer(question, choice)` tells the hub, null where people may only look. */
export function fillQuestions(box, table, answer) {
  const there = new Map(Array.from(box.children, (card) => [card.dataset.question, card]));
  for (const question of table.questions) {
    const old = there.get(question.id);
    there.delete(question.id);
    const key = JSON.stringify([table.match_id, question.text, question.choices, question.picture]);
    if (old?.dataset.key === key) continue;
    const card = makeQuestion(table, question, answer);
    card.dataset.key = key;
    if (old) old.replaceWith(card);
    else box.append(card);
  }
  for (const card of there.values()) card.remove();
}

function makeQuestion(table, question, answer) {
  const card = make("article", "card question", make("h2", "", question.text));
  card.dataset.question = question.id;
  card.append(makePicture(table, question, answer !== null));
  const choices = make("div", "choices");
  for (const { key, text: label } of question.choices) {
    const button = make("button", "big primary", label);
    button.type = "button";
    button.disabled = answer === null;
    button.dataset.choice = key;
    button.addEventListener("click", () => answer(question.id, key));
    choices.append(button);
  }
  card.append(choices);
  if (answer === null) card.append(make("p", "hint", "Enter the PIN of the board to answer."));
  return card;
}

/** What the camera saw: a small picture that came with the question, or the large one that the board sends after it. */
function makePicture(table, question, maySee) {
  const image = make("img");
  image.alt = "What the camera saw";
  image.hidden = !question.picture;
  if (question.picture) image.src = `data:image/jpeg;base64,${question.picture}`;
  if (!maySee) return image;
  const place = `/api/1/boards/${encodeURIComponent(table.board)}/cases/${encodeURIComponent(`${table.match_id}.${question.id}`)}`;
  const found = new Image();
  let tries = 0;
  const look = () => (found.src = `${place}/drawn.jpg?${tries}`);
  found.addEventListener("load", () => Object.assign(image, { src: found.src, hidden: false }));
  found.addEventListener("error", () => ++tries < PICTURE_TRIES && setTimeout(() => image.isConnected && look(), PICTURE_WAIT_MS));
  look();
  return image;
}

/** Bring the list of discs to take off up to date. */
export function fillRemovals(card, removals) {
  card.hidden = !removals.length;
  const list = card.querySelector("ul");
  const key = JSON.stringify(removals);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(
    ...removals.map((removal) => {
      const token = make("span", "token");
      token.dataset.colour = removal.colour;
      return make("li", "", token, make("span", "", removal.text));
    }),
  );
}
