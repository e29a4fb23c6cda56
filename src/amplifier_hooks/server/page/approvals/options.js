// @ts-check
// The possible answers as buttons: refusals first, what is remembered last and in words.

import { make } from "../kit/dom.js";

/** @typedef {import("../types.js").Option} Option */
/** @typedef {import("../types.js").ApprovalRequest} ApprovalRequest */

/** @param {Option[]} options */
export function sortOptions(options) {
  return [...options].sort((a, b) => rank(a) - rank(b));
}

/**
 * @param {ApprovalRequest} request
 * @param {Option} option
 * @param {(option: Option) => void} choose
 */
export function makeOptionButton(request, option, choose) {
  const look = !option.allows ? "refuse" : option.remembered ? "allow remembered" : "allow";
  const scope = describeMemory(request, option);
  const attributes = { type: "button", class: `option ${look}`, "data-option": option.id, onclick: () => choose(option) };
  return make("button", attributes, make("span", { class: "label" }, option.label), make("small", {}, scope));
}

/**
 * What an option that is remembered covers; empty for every other one.
 * @param {ApprovalRequest} request
 * @param {Option} option
 */
export function describeMemory(request, option) {
  if (!option.remembered) return "";
  const what = request.tool_name === "Bash" ? "this exact command" : "this exact call";
  return `${option.allows ? "" : "refuses "}${what}, until the session ends`;
}

/** @param {Option} option */
function rank(option) {
  return Number(option.allows) * 2 + Number(option.remembered);
}
