"""The statements of a TOML document, with their places in the text.

The text is one that `tomllib` has read: what is wrong in it is not looked for here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+|[ \t]*\.[ \t]*)+""")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|'
    r"'''.*?'{3,5}|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'[^'\n]*'",
    re.DOTALL,
)
_WORD = re.compile(r"[^\s,\]}#=\[{\"']+(?: (?=\d{2}:)[^\s,\]}#]+)?")
_OPEN, _CLOSE = "[{", "]}"


@dataclass(frozen=True, slots=True)
class Statement:
    """A header, or a key with its value. The text of both is from `start` to `end`."""

    table: tuple[str, ...]
    """The table that it is in; of a header, the one that it begins."""
    key: tuple[str, ...]
    """Below that table; empty for a header."""
    start: int
    value: int
    """Where the value begins."""
    end: int

    @property
    def path(self) -> tuple[str, ...]:
        """From the root of the document."""
        return (*self.table, *self.key)


def list_statements(text: str) -> list[Statement]:
    """All of them, in order. Tables of a list have the list's name."""
    return list(_read(text))


def _read(text: str) -> Iterator[Statement]:
    at, table = 0, tuple[str, ...]()
    while (at := _BLANK.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        if text[at] == "[":
            found = _read_header(text, at)
            table = found.table
        else:
            found = _read_pair(text, at, table)
        yield found
        at = found.end


def _read_header(text: str, at: int) -> Statement:
    start = at + len(re.match(r"\[+[ \t]*", text[at:]).group())  # type: ignore[union-attr]
    end = _match(_KEY, text, start)
    close = _match(re.compile(r"[ \t]*\]+"), text, end)
    return Statement(_read_key(text[start:end]), (), at, close, close)


def _read_pair(text: str, at: int, table: tuple[str, ...]) -> Statement:
    end = _match(_KEY, text, at)
    value = _match(re.compile(r"[ \t]*=[ \t]*"), text, end)
    return Statement(table, _read_key(text[at:end]), at, value, _skip_value(text, value))


def _skip_value(text: str, at: int) -> int:
    """Where a value ends."""
    depth = 0
    while True:
        if text[at] in "\"'":
            at = _match(_STRING, text, at)
        elif text[at] in _OPEN:
            depth, at = depth + 1, at + 1
        elif text[at] in _CLOSE:
            depth, at = depth - 1, at + 1
        else:
            at = _match(_WORD, text, at)
        if depth == 0:
            return at
        at = _skip_between(text, at)


def _skip_between(text: str, at: int) -> int:
    """Past what separates values within brackets: commas, comments, the names of members."""
    separators = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")
    at = _match(separators, text, at)
    member = re.compile(_KEY.pattern + r"[ \t]*=[ \t]*").match(text, at)
    return at if member is None else member.end()


def _match(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    if found is None:
        raise ValueError(f"line {text.count(chr(10), 0, at) + 1}: this TOML is new to us")
    return found.end()


def _read_key(text: str) -> tuple[str, ...]:
    value: Any = tomllib.loads(f"{text} = 0")
    names = []
    while isinstance(value, dict):
        ((name, value),) = value.items()
        names.append(name)
    return tuple(names)
