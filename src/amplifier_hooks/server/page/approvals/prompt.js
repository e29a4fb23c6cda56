// @ts-check
// The words of a question, without what is shown below them anyway: hooks repeat the input in their
// prompts for front ends that show nothing else.

import { formatLikePython } from "../kit/json.js";

/** @typedef {import("../types.js").ApprovalRequest} ApprovalRequest */

const HEADINGS = ["\nThe command:", "\nThe input:"];

/**
 * The first line of the prompt, and what else it says.
 * @param {ApprovalRequest} request
 */
export function readPrompt(request) {
  const words = leaveOutInput(request).trim() || `Allow ${request.tool_name || request.event}?`;
  const at = words.indexOf("\n");
  return at < 0
    ? { headline: words, rest: "" }
    : { headline: words.slice(0, at).trim(), rest: words.slice(at + 1).trim() };
}

/**
 * The reason, unless the prompt has said it.
 * @param {ApprovalRequest} request
 */
export function readReason(request) {
  const reason = request.reason.trim().replace(/^The command needs approval: /, "");
  return reason && fold(request.prompt).includes(fold(reason)) ? "" : reason;
}

/** @param {ApprovalRequest} request */
function leaveOutInput(request) {
  if (!request.tool_name) return request.prompt;
  const framed = `\n${request.prompt}\n`;
  for (const text of listRenderings(request)) {
    const at = framed.indexOf(`\n${text}\n`);
    if (at < 0) continue;
    const before = HEADINGS.reduce((head, one) => removeEnd(head, one), framed.slice(0, at).trimEnd());
    const after = framed.slice(at + text.length + 2).trim();
    return (after ? `${before}\n\n${after}` : before).trim() || request.prompt;
  }
  return request.prompt;
}

/** @param {ApprovalRequest} request */
function listRenderings(request) {
  const { command } = request.tool_input;
  const texts = typeof command === "string" && command.trim() ? [command] : [];
  return [...texts, formatLikePython(request.tool_input)];
}

/**
 * @param {string} text
 * @param {string} end
 */
function removeEnd(text, end) {
  return text.endsWith(end) ? text.slice(0, -end.length).trimEnd() : text;
}

/** @param {string} text */
function fold(text) {
  return text.split(/\s+/).join(" ").toLowerCase().replace(/\.$/, "");
}
