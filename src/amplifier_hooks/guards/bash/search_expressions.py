"""Expressions of grep in the form in which texts are searched here; None for one that is not read.

What comes back fits at least every line that the program would show: letter case never counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_SIGNS = frozenset("(){}|+?")
"""What is a sign in an extended expression, and in a basic one only behind a backslash."""
_CLASS = re.compile(r"\[\^?\]?(?:\[:\w+:\]|\[[.=].*?[.=]\]|[^\]])*\]")
_ODD = re.compile(
    r"(?<!\\)(?:[*+?]|\{\d*,?\d*\})[*+?{]|(?:^|[(|]|\\b)[*+?{]|(?<!\\)\{(?!\d*,?\d*\})"
)
"""Repetitions of repetitions, and of nothing: no two programs read these alike."""
_BRACKET = re.compile(r"\[(?!:)")
_ESCAPED = r"\\["
_LAST_SIGNS = re.compile(r"\\[|)]|$")


def read_basic(text: str) -> str | None:
    """`a\\|b` of grep and of sed."""
    return _join(_read_basic(text))


def read_extended(text: str) -> str | None:
    """`a|b` of `grep -E` and awk."""
    return _join(_read_extended(text))


def read_other(text: str) -> str:
    """Of `grep -P`, ripgrep and their like, which is what it is here."""
    return _by_line(text)


def read_fixed(text: str) -> str:
    """Of `grep -F`: each line is a text of its own."""
    return "|".join(map(re.escape, text.split("\n")))


def _join(parts: Iterable[str | None]) -> str | None:
    known = list(parts)
    text = "".join(part or "" for part in known)
    return None if None in known or _ODD.search(text) else _by_line(text)


def _by_line(text: str) -> str:
    return "|".join(f"(?m:{line})" for line in text.split("\n"))


def _read_basic(text: str) -> Iterator[str | None]:
    at = 0
    begins = True
    while at < len(text):
        letter = text[at]
        known = _CLASS.match(text, at) if letter == "[" else None
        if known is not None:
            at = known.end()
            yield _read_class(known[0])
        elif letter == "\\":
            following = text[at + 1 : at + 2]
            at += 2
            yield following if following in _SIGNS and following else _read_escape(following)
            begins = following in {"(", "|"}
            continue
        else:
            at += 1
            yield _read_letter(letter, text[at:], begins=begins)
        begins = letter == "^" and begins
        if letter == "\n":
            begins = True


def _read_letter(letter: str, rest: str, *, begins: bool) -> str | None:
    if letter == "[":
        return None  # a class without an end
    if letter == "^":
        return letter if begins else r"\^"
    if letter == "$":
        return letter if not rest or rest[0] == "\n" or _LAST_SIGNS.match(rest) else r"\$"
    if letter == "*":
        return r"\*" if begins else letter
    return letter if letter in ".\n" else re.escape(letter)


def _read_extended(text: str) -> Iterator[str | None]:
    at = 0
    while at < len(text):
        known = _CLASS.match(text, at) if text[at] == "[" else None
        if known is not None:
            at = known.end()
            yield _read_class(known[0])
        elif text[at] == "\\":
            yield _read_escape(text[at + 1 : at + 2])
            at += 2
        else:
            yield None if text[at] == "[" else text[at]
            at += 1


def _read_escape(letter: str) -> str | None:
    if letter in {"<", ">"}:
        return r"\b"
    if letter in set("bBwWsS"):
        return f"\\{letter}"
    if not letter or letter.isalnum() or letter in "`'":
        return None  # a part that was found before, or an end of the text
    return re.escape(letter)


def _read_class(text: str) -> str | None:
    """In a class a backslash is a letter like any other."""
    if re.search(r"\[[.=]", text):
        return None
    inner = text[1:-1]
    sign = "^" if inner.startswith("^") else ""
    plain = inner.removeprefix("^").replace("\\", "\\\\")
    lead = r"\]" if plain.startswith("]") else ""
    rest = plain.removeprefix("]") if lead else plain
    return f"[{sign}{lead}{_BRACKET.sub(_ESCAPED, rest)}]"
