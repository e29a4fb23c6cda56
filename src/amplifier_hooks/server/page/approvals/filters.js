// @ts-check
// The fields that narrow a list of approvals.

import { make } from "../kit/dom.js";
import { getFirstLine } from "../kit/escape.js";
import { collectText } from "./card.js";

/** @typedef {import("../types.js").Approval} Approval */
/** @typedef {"machine" | "session" | "hook" | "tool"} Field */

/** @type {Record<Field, (approval: Approval) => string>} */
const READ = {
  machine: (one) => one.request.machine,
  session: (one) => one.request.session_id,
  hook: (one) => one.request.hook,
  tool: (one) => one.request.tool_name,
};
const FIELDS = /** @type {Field[]} */ (Object.keys(READ));

/** Fires `change`. */
export class Filters extends EventTarget {
  /** @type {Map<Field, Set<string>>} */
  #offered = new Map(FIELDS.map((one) => [one, new Set()]));
  #text = make("input", { type: "search", id: "filter-text", placeholder: "Search", "aria-label": "Search" });
  /** @type {Map<string, HTMLSelectElement>} */
  #selects = new Map();
  element;

  /** @param {[string, string][]} [statuses]  values and names, if there is a choice */
  constructor(statuses = []) {
    super();
    const selects = FIELDS.map((one) => this.#makeSelect(one, [["", `Any ${one}`]]));
    const status = statuses.length > 0 && this.#makeSelect("status", statuses);
    this.element = make("search", { class: "filters" }, this.#text, status, selects);
    this.element.addEventListener("input", () => this.dispatchEvent(new Event("change")));
  }

  /**
   * Offer what occurs in these approvals.
   * @param {Approval[]} approvals
   */
  offer(approvals) {
    for (const field of FIELDS) {
      const known = /** @type {Set<string>} */ (this.#offered.get(field));
      for (const one of approvals) {
        const value = READ[field](one);
        if (!value || known.has(value) || known.size >= 200) continue;
        known.add(value);
        this.#selects.get(field)?.append(make("option", { value }, getFirstLine(value, 60)));
      }
    }
  }

  /** Whether something is left out. */
  get isUsed() {
    return this.#text.value.trim() !== "" || FIELDS.some((one) => this.read(one) !== "");
  }

  /** @param {Approval} approval */
  matches(approval) {
    const words = this.#text.value.trim().toLowerCase();
    const fits = FIELDS.every((one) => !this.read(one) || READ[one](approval) === this.read(one));
    return fits && (!words || collectText(approval).includes(words));
  }

  /** @param {Field | "status"} field */
  read(field) {
    return this.#selects.get(field)?.value ?? "";
  }

  /** What the server can filter. */
  get query() {
    return Object.fromEntries(FIELDS.map((one) => [one, this.read(one)]));
  }

  /**
   * @param {string} field
   * @param {[string, string][]} options
   */
  #makeSelect(field, options) {
    const choices = options.map(([value, name]) => make("option", { value }, name));
    const select = make("select", { "aria-label": field[0].toUpperCase() + field.slice(1) }, ...choices);
    this.#selects.set(field, select);
    return select;
  }
}
