// @ts-check
// A text of any length, in full: cut into pieces that the browser lays out only when they are seen.

import { make, markEscapes } from "../kit/dom.js";
import { escapeText, makeReadable } from "../kit/escape.js";

const PIECE = 8_000;
// Beyond this many in a piece, escapes are shown without their colour.
const MOST_MARKED = 500;

/**
 * Exactly what a text is, as code.
 * @param {string} text
 * @param {string} label  for who cannot see that it scrolls
 */
export function showCode(text, label) {
  const attributes = { class: "code", tabindex: 0, role: "region", "aria-label": label };
  return make("pre", attributes, ...cut(escapeText(text, true)));
}

/**
 * A foreign text for reading.
 * @param {string} text
 */
export function showProse(text) {
  return make("div", { class: "prose" }, ...cut(makeReadable(text)));
}

/** @param {string} shown */
function cut(shown) {
  if (shown.length <= PIECE) return [markSparingly(shown)];
  const pieces = [];
  for (let start = 0; start < shown.length; ) {
    const end = findCut(shown, start);
    pieces.push(make("div", { class: "piece" }, markSparingly(shown.slice(start, end))));
    start = end;
  }
  return pieces;
}

/**
 * Where a piece ends: behind a line if there is one, never inside an escape or a character.
 * @param {string} shown
 * @param {number} start
 */
function findCut(shown, start) {
  const limit = start + PIECE;
  if (limit >= shown.length) return shown.length;
  const line = shown.lastIndexOf("\n", limit) + 1;
  if (line > start) return line;
  const opened = shown.lastIndexOf("\\u{", limit);
  if (opened > limit - 11 && opened > start) return opened;
  const unit = shown.charCodeAt(limit);
  return unit >= 0xdc00 && unit <= 0xdfff ? limit - 1 : limit;
}

/** @param {string} piece */
function markSparingly(piece) {
  const escapes = piece.split("\\u{", MOST_MARKED + 2).length;
  return escapes > MOST_MARKED ? document.createTextNode(piece) : markEscapes(piece);
}
