// @ts-check
// What would run: the change as a diff, the input to read, and the input exactly.

import { make, showText } from "../kit/dom.js";
import { formatJson, isPlainObject } from "../kit/json.js";
import { showDiff } from "./diff.js";
import { showCode } from "./long_text.js";

/** @typedef {import("../types.js").ApprovalRequest} ApprovalRequest */
/** @typedef {import("../types.js").Input} Input */

/**
 * The call of a request, with a switch between its views.
 * @param {ApprovalRequest} request
 * @param {"h2" | "h3"} level  of its heading
 */
export function showCall(request, level) {
  const views = listViews(request);
  const shown = make("div", { class: "call-view" });
  const buttons = views.map(([name, build]) =>
    make("button", { type: "button", "aria-pressed": "false", onclick: () => choose(name, build) }, name),
  );
  /**
   * @param {string} name
   * @param {() => Node} build
   */
  function choose(name, build) {
    for (const one of buttons) one.setAttribute("aria-pressed", String(one.textContent === name));
    shown.replaceChildren(build());
  }
  choose(...views[0]);
  const heading = make(level, { class: "tool" }, request.tool_name || request.event || "Input");
  const switcher = make("div", { class: "switch", role: "group", "aria-label": "View of the input" }, buttons);
  return make("section", { class: "call", "aria-label": "What would run" }, make("header", {}, heading, switcher), shown);
}

/**
 * @param {ApprovalRequest} request
 * @returns {[string, () => Node][]}
 */
function listViews(request) {
  /** @type {[string, () => Node][]} */
  const views = [
    ["Readable", () => showInput(request.tool_input)],
    ["Exact", () => showExactly(request)],
  ];
  if (request.preview) views.unshift(["Change", () => showChange(request)]);
  return views;
}

/** @param {ApprovalRequest} request */
function showChange(request) {
  const path = request.tool_input.file_path ?? request.tool_input.path ?? request.tool_input.notebook_path;
  const name = typeof path === "string" && make("p", { class: "path" }, showText(path));
  return make("div", {}, name, showDiff(request.preview, "Change"));
}

/** @param {ApprovalRequest} request */
function showExactly(request) {
  const digest = request.digest && make("p", { class: "digest" }, "Digest ", make("code", {}, request.digest));
  const text = showCode(formatJson(request.tool_input), "Exact input");
  text.classList.add("exact");
  return make("div", {}, text, digest);
}

/**
 * Each member of an input under its name; long texts as they are.
 * @param {Input} input
 */
export function showInput(input) {
  const members = Object.entries(input);
  if (!members.length) return make("p", { class: "quiet" }, "It takes no input.");
  // The command is what matters; it needs no name above it.
  members.sort(([a], [b]) => Number(b === "command") - Number(a === "command"));
  return make("dl", { class: "input" }, ...members.flatMap(([name, value]) => showMember(name, value)));
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function showMember(name, value) {
  const long = typeof value === "string" && (name === "command" || /[\n]/.test(value) || value.length > 80);
  const shown = long
    ? showCode(/** @type {string} */ (value), name)
    : make("code", { class: "value" }, showText(formatValue(value)));
  return [make("dt", {}, name), make("dd", {}, nestLong(value) ?? shown)];
}

/** @param {unknown} value */
function formatValue(value) {
  return typeof value === "string" ? value || '""' : JSON.stringify(value);
}

/** @param {unknown} value */
function nestLong(value) {
  const nested = isPlainObject(value) || Array.isArray(value);
  const text = nested ? formatJson(value) : "";
  return text.length > 80 ? showCode(text, "value") : null;
}
