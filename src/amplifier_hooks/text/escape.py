r"""Hostile text made visible and harmless, and turned back into exactly what it was.

Shown as they are   printable characters that can be seen
Shown as \u{HEX}    everything that moves the cursor, reorders, hides or is hidden
Shown as ⇥          a tab

A backslash stands for itself, except before `u{`, where it would read as an escape. So no two
texts look alike, and `unescape` gives the argument back byte for byte.
"""

from __future__ import annotations

import re
import unicodedata

TAB = "⇥"
MARKS_ALLOWED = 4
LINE_LENGTH = 400

ESCAPED = re.compile(rf"\\u\{{[0-9A-F]+\}}|{TAB}")
_UNUSUAL = re.compile(r"\\(?=u\{)|[^\x20-\x7e]+")

# Printable by category, and yet nothing is seen: blank letters, fillers, variation selectors.
_BLANK = frozenset(
    [
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F),
        *(0x2800, 0x3164, 0xFFA0, 0x16FE4, 0x1D159),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    ]
)


def escape(text: str, *, lines: bool = False, ascii_only: bool = False) -> str:
    """What to show for a text; with `lines` a newline stays one, everything else never moves."""

    def escape_run(match: re.Match[str]) -> str:
        run = match.group()
        if run == "\\":
            return _encode(run)
        if ascii_only:
            return "".join(ch if lines and ch == "\n" else _encode(ch) for ch in run)
        return "".join(_escape_run(run, _find_base(text, match.start()), lines))

    return _UNUSUAL.sub(escape_run, text)


def unescape(escaped: str) -> str:
    """The text that `escape` was given."""
    return ESCAPED.sub(_decode, escaped)


def make_readable(text: str) -> str:
    """Foreign text for reading, not for approving: harmless, with tabs and emoji as expected."""
    plain = text.replace("\r\n", "\n").replace("\t", "    ").replace("\ufe0f", "")
    return escape(plain, lines=True)


def get_first_line(text: str, limit: int = LINE_LENGTH) -> str:
    """The first line of a foreign text, readable and cut to a length."""
    line = make_readable(text).strip().split("\n", 1)[0]
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _decode(match: re.Match[str]) -> str:
    found = match.group()
    return "\t" if found == TAB else chr(int(found[3:-1], 16))


def _encode(ch: str) -> str:
    return f"\\u{{{ord(ch):X}}}"


def _find_base(text: str, start: int) -> str:
    """The character before a run: what a combining mark at its start would sit on."""
    return text[start - 1] if start else " "


def _escape_run(run: str, base: str, lines: bool) -> list[str]:
    """A run of characters outside printable ASCII, piece by piece."""
    pieces: list[str] = []
    marks = 0 if base != " " else MARKS_ALLOWED
    for ch in run:
        if unicodedata.category(ch) in {"Mn", "Mc"}:
            marks += 1
            pieces.append(ch if marks <= MARKS_ALLOWED and not _is_hidden(ch) else _encode(ch))
            continue
        piece = _escape_character(ch, lines)
        # A mark must not sit on an escape, on blank space or on the frame around the text.
        marks = 0 if piece == ch and ch != "\n" else MARKS_ALLOWED
        pieces.append(piece)
    return pieces


def _escape_character(ch: str, lines: bool) -> str:
    if ch == "\t":
        return TAB
    if ch == "\n" and lines:
        return ch
    return _encode(ch) if ch == TAB or _is_hidden(ch) else ch


def _is_hidden(ch: str) -> bool:
    """Not printable (controls, formats, separators, private, unassigned), blank, or enclosing."""
    return not ch.isprintable() or ord(ch) in _BLANK or unicodedata.category(ch) == "Me"
