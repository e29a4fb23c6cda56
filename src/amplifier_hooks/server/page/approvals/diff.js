// @ts-check
// A unified diff, coloured and with its marks; a long one in pieces that the browser lays out only
// when they are seen.

import { make, showText } from "../kit/dom.js";

const PIECE_LINES = 200;

/**
 * @param {string} diff
 * @param {string} label
 */
export function showDiff(diff, label) {
  const rows = diff.replace(/\n$/, "").split("\n").map(showLine);
  const attributes = { class: "code diff", tabindex: 0, role: "region", "aria-label": label };
  return make("pre", attributes, ...(rows.length > PIECE_LINES ? cut(rows) : rows));
}

/** @param {HTMLElement[]} rows */
function cut(rows) {
  const starts = Array.from({ length: Math.ceil(rows.length / PIECE_LINES) }, (_, at) => at * PIECE_LINES);
  return starts.map((start) => make("div", { class: "piece" }, ...rows.slice(start, start + PIECE_LINES)));
}

/** @param {string} line */
function showLine(line) {
  return make("div", { class: classify(line) }, showText(line || " "));
}

/** @param {string} line */
function classify(line) {
  if (line.startsWith("+++") || line.startsWith("---")) return "file";
  if (line.startsWith("@@")) return "hunk";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}
