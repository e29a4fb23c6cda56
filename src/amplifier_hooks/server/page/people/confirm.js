// @ts-check
// A question of the page itself, as a native dialog; it opens on "Cancel".

import { make } from "../kit/dom.js";

/**
 * Ask before something that cannot be taken back; null if the person does not want it.
 * @param {string} heading
 * @param {string} words
 * @param {string} action  the label of the button that does it
 * @param {string} [label]  of a field for a text, if there is one
 * @returns {Promise<{text: string} | null>}
 */
export function confirm(heading, words, action, label = "") {
  const { promise, resolve } = makePromise();
  const field = make("textarea", { id: "confirm-text", rows: 2, maxlength: 4000 });
  const dialog = make(
    "dialog",
    { class: "confirm", "aria-labelledby": "confirm-heading" },
    make("h2", { id: "confirm-heading" }, heading),
    make("p", {}, words),
    label && make("label", { for: "confirm-text" }, label),
    label && field,
    make(
      "div",
      { class: "buttons" },
      make("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Cancel"),
      make("button", { type: "button", class: "refuse", onclick: () => dialog.close("yes") }, action),
    ),
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    resolve(dialog.returnValue === "yes" ? { text: field.value } : null);
  });
  document.body.append(dialog);
  dialog.showModal();
  return promise;
}

/** @returns {{promise: Promise<{text: string} | null>, resolve: (value: {text: string} | null) => void}} */
function makePromise() {
  let resolve = (/** @type {any} */ _value) => {};
  const promise = new Promise((/** @type {any} */ done) => {
    resolve = done;
  });
  return { promise: /** @type {any} */ (promise), resolve };
}
