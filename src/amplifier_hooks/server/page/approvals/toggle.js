// @ts-check
// A button that opens and closes a panel.

import { make } from "../kit/dom.js";

/**
 * @param {string} name
 * @param {() => void} onchange
 * @param {() => (() => void)} open  returns how to close it
 */
export function makeToggle(name, onchange, open) {
  /** @type {(() => void) | null} */
  let close = null;
  const button = make("button", { type: "button", class: "toggle", "aria-expanded": "false" }, name);
  button.addEventListener("click", () => {
    if (close) close();
    close = close ? null : open();
    button.setAttribute("aria-expanded", String(close !== null));
    onchange();
  });
  return button;
}
