// @ts-check
// <time-left>: counts down to the end of an approval's time, by a clock that nobody can set.

import { View } from "../kit/view.js";
import { formatTimeLeft } from "../kit/words.js";

const HURRY = 30_000;

/** Fires `over` once, when nothing is left. */
export class TimeLeft extends View {
  /** By performance.now(), in milliseconds. */
  ends = 0;
  prefix = "";
  #over = false;

  show() {
    this.setAttribute("role", "timer");
    this.#tick();
    this.repeat(250, () => this.#tick());
  }

  #tick() {
    const left = this.ends - performance.now();
    const text = `${this.prefix}${formatTimeLeft(left)}`;
    if (this.textContent !== text) this.textContent = text;
    this.classList.toggle("hurry", left < HURRY);
    if (left > 0 || this.#over) return;
    this.#over = true;
    this.dispatchEvent(new Event("over"));
  }
}

customElements.define("time-left", TimeLeft);

/**
 * @param {import("../types.js").Approval} approval
 * @param {string} [prefix]
 */
export function makeTimeLeft(approval, prefix = "") {
  const element = /** @type {TimeLeft} */ (document.createElement("time-left"));
  element.ends = approval.ends;
  element.prefix = prefix;
  return element;
}

/**
 * What happens when the time is over: "Refuses in ".
 * @param {import("../types.js").Approval} approval
 */
export function nameDefault(approval) {
  return approval.request.default === "allow" ? "Allows in " : "Refuses in ";
}
