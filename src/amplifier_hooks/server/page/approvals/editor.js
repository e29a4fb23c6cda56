// @ts-check
// The field in which a person changes the input before it runs.

import { make } from "../kit/dom.js";
import { escapeForEditing, readEdited } from "../kit/escape.js";
import { formatJson, isPlainObject, parseExactly } from "../kit/json.js";

/** @typedef {import("../types.js").ApprovalRequest} ApprovalRequest */
/** @typedef {import("../types.js").Input} Input */

/** @type {Record<string, string>} */
const MAIN_TEXT = { Bash: "command", Write: "content" };

/** An edited text that is no input. */
export class BadEdit extends Error {}

export class InputEditor {
  #request;
  #key;
  #field;
  element;

  /** @param {ApprovalRequest} request */
  constructor(request) {
    this.#request = request;
    const key = MAIN_TEXT[request.tool_name];
    this.#key = key && typeof request.tool_input[key] === "string" ? key : "";
    const text = this.#key ? /** @type {string} */ (request.tool_input[key]) : formatJson(request.tool_input);
    const shown = escapeForEditing(text);
    const rows = Math.min(24, Math.max(3, shown.split("\n").length + 1));
    this.#field = make("textarea", { id: "edited-input", class: "code", rows, spellcheck: "false", value: shown });
    const label = this.#key ? `Edit the ${this.#key}` : "Edit the input (JSON)";
    this.element = make(
      "section",
      { class: "call editor" },
      make("label", { for: "edited-input" }, label),
      this.#field,
      make("p", { class: "quiet" }, "What cannot be seen is written as \\u{HEX} and stays what it is. The agent is told that you changed it."),
    );
  }

  focus() {
    this.#field.focus();
  }

  /**
   * The whole input as it was left, or undefined if nothing was changed.
   * @returns {Input | undefined}
   */
  read() {
    const given = this.#request.tool_input;
    const text = readEdited(this.#field.value);
    if (this.#key) return text === given[this.#key] ? undefined : { ...given, [this.#key]: text };
    const value = readObject(text);
    return formatJson(value) === formatJson(given) ? undefined : value;
  }
}

/** @param {string} text */
function readObject(text) {
  let value;
  try {
    value = parseExactly(`{"tool_input": ${text}\n}`).tool_input;
  } catch (error) {
    throw new BadEdit(`The edited input is not valid JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (!isPlainObject(value)) throw new BadEdit("The edited input must be a JSON object: {…}");
  return value;
}
