// A sheet with a few choices: the second tap of everything that is not undone by looking.

import { make, text } from "./dom.js";

const at = (id) => document.getElementById(id);

/** Ask with a title, a sentence, choices [label, act, kind] and perhaps form fields above them. */
export function sheet(title, words, choices, fields = []) {
  text(at("sheet-title"), title);
  text(at("sheet-text"), words);
  at("sheet-fields").replaceChildren(...fields);
  at("sheet-choices").replaceChildren(
    ...choices.map(([label, act, kind = "primary"]) => {
      const button = make("button", `big ${kind}`, label);
      button.type = "button";
      button.addEventListener("click", () => {
        at("sheet").close();
        act();
      });
      return button;
    }),
  );
  at("sheet").showModal();
}
at("sheet-close").addEventListener("click", () => at("sheet").close());
at("sheet").addEventListener("click", (event) => event.target === at("sheet") && at("sheet").close());
