"""A word of a shell command: what is written, and what a shell makes of it, if that is certain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_HOME = frozenset({"$HOME", "${HOME}"})
_HERE = frozenset({"$PWD", "${PWD}"})
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}


@dataclass(frozen=True, slots=True)
class Word:
    """`value` is None when more than the text decides: variables, substitutions, braces."""

    raw: str
    value: str | None
    glob: bool = False
    tilde: bool = False
    runs: tuple[str | None, ...] = ()
    """The programs whose output becomes part of the word; None for one that is not literal."""

    @property
    def is_flag(self) -> bool:
        """Whether a program would read it as an option."""
        return self.value is not None and len(self.value) > 1 and self.value[0] == "-"


def words(text: str) -> frozenset[str]:
    """The words of a list that is easier to read in one line."""
    return frozenset(text.split())


def literal(text: str) -> Word:
    """A word of exactly this text."""
    return Word(text, text)


UNKNOWN = Word("?", None)


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str | None
    glob: bool = False
    tilde: bool = False
    braces: bool = False


_UNCERTAIN = _Piece(None)


def read_word(node: Any, source: bytes) -> Word:
    """The word of a node of the syntax tree."""
    raw = _text(node, source)
    pieces = _pieces(node, source)
    braces = any(piece.braces for piece in pieces) and ("," in raw or ".." in raw)
    certain = not braces and all(piece.text is not None for piece in pieces)
    return Word(
        raw,
        "".join(piece.text or "" for piece in pieces) if certain else None,
        glob=any(piece.glob for piece in pieces),
        tilde=bool(pieces) and pieces[0].tilde,
        runs=tuple(_programs_inside(node, source)),
    )


def _pieces(node: Any, source: bytes) -> list[_Piece]:
    kind = node.type
    if kind in {"concatenation", "command_name"}:
        return [piece for child in node.children for piece in _pieces(child, source)]
    if kind in {"string", "translated_string"}:
        return _of_string(node, source)
    text = _text(node, source)
    if kind in {"simple_expansion", "expansion"}:
        return [_of_variable(text)]
    return [_of_text(kind, text)]


def _of_text(kind: str, text: str) -> _Piece:
    if kind == "raw_string":
        return _Piece(text[1:-1])
    if kind == "ansi_c_string":
        return _of_ansi(text[2:-1])
    if kind in {"word", "number", "test_operator", "extglob_pattern"} or not kind[:1].isalpha():
        return _of_bare(text)
    return _UNCERTAIN


def _of_bare(text: str) -> _Piece:
    """Unquoted text: backslashes quote one letter each."""
    bare = re.sub(r"\\.", "", text, flags=re.DOTALL)
    if "$" in bare or "`" in bare:
        return _UNCERTAIN
    return _Piece(
        re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL),
        glob=any(letter in bare for letter in "*?["),
        tilde=text.startswith("~"),
        braces="{" in bare or "}" in bare,
    )


def _of_variable(text: str) -> _Piece:
    if text in _HOME:
        return _Piece("~", tilde=True)
    return _Piece(".") if text in _HERE else _UNCERTAIN


def _of_ansi(text: str) -> _Piece:
    try:
        return _Piece(_ANSI.sub(_ansi_letter, text))
    except (ValueError, OverflowError):
        return _UNCERTAIN


def _ansi_letter(match: re.Match[str]) -> str:
    for group, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
        if match[group]:
            return chr(int(match[group], base))
    return _ANSI_LETTERS.get(match[5], match[5])


def _of_string(node: Any, source: bytes) -> list[_Piece]:
    """Between the children of a string stands text, which the grammar does not always name."""
    pieces: list[_Piece] = []
    position, end = node.start_byte, node.end_byte - 1
    position += 2 if node.type == "translated_string" else 1
    for child in node.children:
        if child.type in {'"', '$"', "$", "string_content"}:
            continue
        if child.type == "string":
            return _of_string(child, source)
        pieces.append(_quoted(source[position : child.start_byte]))
        pieces += _pieces(child, source) if "expansion" in child.type else [_UNCERTAIN]
        position = child.end_byte
    return [piece for piece in [*pieces, _quoted(source[position:end])] if piece.text != ""]


def _quoted(text: bytes) -> _Piece:
    decoded = text.decode(errors="replace")
    return _Piece(re.sub(r"\\([$`\"\\\n])", lambda m: m[1].strip("\n"), decoded))


def _programs_inside(node: Any, source: bytes) -> list[str | None]:
    found: list[str | None] = []
    stack = [(node, node.type in _SUBSTITUTIONS)]
    while stack:
        current, inside = stack.pop()
        if inside and current.type == "command_name":
            found.append(read_word(current, source).value)
        inside = inside or current.type in _SUBSTITUTIONS
        stack += [(child, inside) for child in current.children]
    return found


def _text(node: Any, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode(errors="replace")
