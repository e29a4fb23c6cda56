// @ts-check
// A unified diff, coloured and with its marks.

import { make, showText } from "../kit/dom.js";

const MOST_LINES = 5_000;

/**
 * @param {string} diff
 * @param {string} label
 */
export function showDiff(diff, label) {
  const lines = diff.replace(/\n$/, "").split("\n");
  const rows = lines.slice(0, MOST_LINES).map(showLine);
  const attributes = { class: "code diff", tabindex: 0, role: "region", "aria-label": label };
  const rest = lines.length - rows.length;
  const more = rest > 0 && make("div", { class: "hunk" }, `${rest} more lines: see the input`);
  return make("pre", attributes, ...rows, more);
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
