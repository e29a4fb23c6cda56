// @ts-check
// Hostile text made visible and harmless, and turned back into exactly what it was; the notation
// is that of the command line: \u{HEX} for what moves, reorders or hides, ⇥ for a tab.

export const TAB = "⇥";
export const ESCAPED = /\\u\{[0-9A-F]+\}|⇥/gu;

const MARKS_ALLOWED = 4;
const UNUSUAL = /\\(?=u\{)|[^\x20-\x7e]+/gu;
const MARK = /[\p{Mn}\p{Mc}]/u;
// Controls, formats, separators, private and unassigned ones, enclosing marks, and what counts as
// printable although nothing is seen: blank letters, fillers, variation selectors.
const HIDDEN =
  /[\p{C}\p{Z}\p{Me}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{16fe4}\u{1d159}\u{e0100}-\u{e01ef}]/u;

/**
 * What to show for a text; with `lines` a newline stays one.
 * @param {string} text
 * @param {boolean} [lines]
 */
export function escapeText(text, lines = false) {
  return text.replace(UNUSUAL, (run, at) =>
    run === "\\" ? encode(run) : escapeRun(run, at ? text[at - 1] : " ", lines),
  );
}

/**
 * The text that `escapeText` was given.
 * @param {string} shown
 */
export function unescapeText(shown) {
  return shown.replace(ESCAPED, (found) => (found === TAB ? "\t" : decode(found)));
}

/**
 * For a field in which a person types: like `escapeText` with lines, but a tab stays a tab.
 * @param {string} text
 */
export function escapeForEditing(text) {
  return text.split("\t").map((piece) => escapeText(piece, true)).join("\t");
}

/**
 * The text that a person left in such a field.
 * @param {string} typed
 */
export function readEdited(typed) {
  return typed.replace(/\\u\{[0-9A-Fa-f]{1,6}\}/gu, decode);
}

/**
 * Foreign text for reading, not for approving: tabs and emoji as expected.
 * @param {string} text
 */
export function makeReadable(text) {
  const plain = text.replaceAll("\r\n", "\n").replaceAll("\t", "    ").replaceAll("\ufe0f", "");
  return escapeText(plain, true);
}

/**
 * The first line of a foreign text, cut to a length.
 * @param {string} text
 */
export function getFirstLine(text, limit = 200) {
  const line = makeReadable(text.slice(0, 4 * limit)).trim().split("\n", 1)[0];
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}

/** @param {string} found */
function decode(found) {
  const code = Number.parseInt(found.slice(3, -1), 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : found;
}

/** @param {string} character */
function encode(character) {
  return `\\u{${character.codePointAt(0)?.toString(16).toUpperCase()}}`;
}

/**
 * @param {string} run
 * @param {string} base  the character before the run, which a mark at its start would sit on
 * @param {boolean} lines
 */
function escapeRun(run, base, lines) {
  const pieces = [];
  let marks = base === " " ? MARKS_ALLOWED : 0;
  for (const character of run) {
    if (MARK.test(character)) {
      marks += 1;
      const shown = marks <= MARKS_ALLOWED && !HIDDEN.test(character);
      pieces.push(shown ? character : encode(character));
      continue;
    }
    const piece = escapeCharacter(character, lines);
    // A mark must not sit on an escape, on blank space or on the frame around the text.
    marks = piece === character && character !== "\n" ? 0 : MARKS_ALLOWED;
    pieces.push(piece);
  }
  return pieces.join("");
}

/**
 * @param {string} character
 * @param {boolean} lines
 */
function escapeCharacter(character, lines) {
  if (character === "\t") return TAB;
  if (character === "\n" && lines) return character;
  return character === TAB || HIDDEN.test(character) ? encode(character) : character;
}
