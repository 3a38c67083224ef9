// The board as a picture that the browser keeps, and over it the discs, moved where the camera sees them.

const SVG = "http://www.w3.org/2000/svg";

/** A new element of a drawing. */
export function svg(tag, attributes = {}) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** A board to be put in a page; give its drawing to draw(). */
export function makeBoard(half) {
  const box = document.createElement("div");
  box.className = "board";
  const wood = document.createElement("img");
  wood.src = "/board.svg";
  wood.alt = "";
  const discs = svg("svg", { viewBox: `${-half} ${-half} ${2 * half} ${2 * half}`, role: "img" });
  box.append(wood, discs);
  return box;
}

function makeDisc(mark) {
  const group = svg("g");
  const c = mark.r * 0.55;
  group.append(
    svg("title"),
    svg("circle", { class: "shade", r: mark.r, cx: 1.6, cy: 2.6 }),
    svg("circle", { class: "face", r: mark.r }),
    svg("circle", { class: "rim", r: mark.r * 0.72 }),
    svg("circle", { class: "ring", r: mark.r + 4 }),
    svg("text"),
    svg("path", { class: "cross", d: `M${-c} ${-c}L${c} ${c}M${c} ${-c}L${-c} ${c}` }),
  );
  return group;
}

/** Have a disc tapped, or chosen by keyboard. */
function listen(group) {
  group.addEventListener("click", () => group.tapped?.(group.dataset.id));
  group.addEventListener("keydown", (event) => {
    if (!group.tapped || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    group.tapped(group.dataset.id);
  });
}

/** Whether a disc is a button; one in the ditch counts nothing and is none. */
function offer(group, tapped) {
  group.tapped = tapped;
  if (tapped) {
    group.setAttribute("role", "button");
    group.setAttribute("tabindex", "0");
  } else {
    group.removeAttribute("role");
    group.removeAttribute("tabindex");
  }
}

/** Bring the discs of a board up to date; a disc that stays slides to its new place. `tapped(id)` makes buttons of them. */
export function draw(box, marks, tapped = null) {
  const layer = box.querySelector("svg");
  layer.setAttribute("role", tapped ? "group" : "img"); // what is inside a picture is not told
  const old = new Map(Array.from(layer.querySelectorAll("g.disc"), (g) => [g.dataset.id, g]));
  for (const mark of marks) {
    let group = old.get(mark.id);
    old.delete(mark.id);
    if (!group) {
      group = makeDisc(mark);
      group.dataset.id = mark.id;
      layer.append(group);
      listen(group);
    }
    offer(group, mark.state === "ditch" ? null : tapped);
    const flags = ["close", "remove", "asked"].filter((flag) => mark[flag]);
    group.setAttribute("class", ["disc", mark.colour, mark.state, ...flags].join(" "));
    group.style.transform = `translate(${mark.x}px, ${mark.y}px)`;
    group.querySelector("title").textContent = mark.title;
    group.querySelector("text").textContent = mark.label;
  }
  for (const group of old.values()) group.remove();
  layer.setAttribute("aria-label", marks.length ? marks.map((m) => m.title).join("; ") : "no disc on the board");
}
