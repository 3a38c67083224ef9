// The few helpers that pages share. Text from people only ever becomes text, never markup.

/** A new element with a class and children (elements or text). */
export function make(tag, name = "", ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}

/** Set an element's text only if it differs, so that nothing is redrawn or spoken twice by screen readers. */
export function text(element, value) {
  const wanted = value == null ? "" : String(value);
  if (element.textContent !== wanted) element.textContent = wanted;
  return element;
}

/** Set or remove a data attribute. */
export function mark(element, name, value) {
  if (value === false || value == null || value === "") delete element.dataset[name];
  else if (element.dataset[name] !== String(value)) element.dataset[name] = String(value);
}

/** Small discs, one for each still to be shot. */
export function pips(element, count, colour) {
  if (element.dataset.count === String(count) && element.dataset.colour === colour) return;
  element.dataset.count = count;
  element.dataset.colour = colour;
  element.replaceChildren(...Array.from({ length: count }, () => make("i")));
  element.setAttribute("aria-label", `${count} discs left`);
}

/** "board-3" as people say it. */
export function boardName(id) {
  const words = id.replaceAll("-", " ").trim() || id;
  return words[0].toUpperCase() + words.slice(1);
}

/** A side's name, or its colour when nobody gave one. */
export function sideName(side) {
  return side.name || { light: "Light", dark: "Dark", third: "Red" }[side.colour] || side.colour;
}

/** What a side has in this round: as people entered it, else as it lies with its 20s. */
export function pointsOf(side) {
  return side.entered ?? side.board + 20 * side.twenties;
}

/** The sides of a table in their order. */
export function sidesOf(table) {
  return ["A", "B", "C"].filter((key) => table.sides[key]).map((key) => [key, table.sides[key]]);
}

/** Choose in a form, once, the rules and the level that stand at a board; what people chose themselves stays. */
export function preselect(form, standing) {
  for (const field of standing ? form.querySelectorAll("select[name=rules], select[name=level]") : []) {
    const options = [...field.options];
    const untouched = !field.dataset.preset && (options.find((option) => option.defaultSelected) ?? options[0]).selected;
    const standingOption = options.find((option) => option.value === standing[field.name]);
    if (untouched && standingOption) standingOption.selected = true;
    field.dataset.preset = "yes";
  }
}

/** What a match is part of, in one line; empty where nothing is said. */
export function eventWords(event) {
  if (!event) return "";
  return [event.name, event.stage, event.table && `table ${event.table}`].filter(Boolean).join(", ");
}

/** A random word for a request, so that the hub does a repeated one only once; works without https too. */
export function requestId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/** What the hub does at each level of judging, in a word. */
export const LEVELS = { count: "counts", advise: "advises", judge: "judges" };
