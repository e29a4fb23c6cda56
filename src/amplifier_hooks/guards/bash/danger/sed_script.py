"""Scripts of sed, read command by command: do they only filter text?"""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/[IM]*|[+~]\d+")
_SIMPLE = frozenset("=dDgGhHnNpPqQxzlF{}")
_TO_LINE_END = frozenset("aicrR:btT#")
_NUMBER = re.compile(r"\d*")
_FLAGS = re.compile(r"[gpiImM0-9]*")
_BLANKS = re.compile(r"[\s;]*")


def only_filters(script: str) -> bool:
    """Whether every command is known to do nothing but change the text that goes through.

    GNU sed runs commands (`e`, `s///e`) and writes files (`w`, `s///w`). What is not understood
    may be one of those.
    """
    at: int | None = 0
    while at is not None and at < len(script):
        at = _skip(_BLANKS, script, at)
        if at < len(script):
            at = _read_command(script, _skip_addresses(script, at))
    return at is not None


def _skip(pattern: re.Pattern[str], script: str, at: int) -> int:
    found = pattern.match(script, at)
    return at if found is None else found.end()


def _skip_addresses(script: str, at: int) -> int:
    """`1`, `$`, `/x/I`, `1,/x/`, each perhaps with blanks and a `!` behind."""
    at = _skip(_ADDRESS, script, at)
    if script[at : at + 1] == ",":
        at = _skip(_ADDRESS, script, _skip(re.compile(r"\s*"), script, at + 1))
    return _skip(re.compile(r"[\s!]*"), script, at)


def _read_command(script: str, at: int) -> int | None:
    """Where the command at this place ends; None when it is not one that only filters."""
    letter = script[at : at + 1]
    if letter in _SIMPLE and letter:
        return _end(script, _skip(_NUMBER, script, at + 1), letter)
    if letter in _TO_LINE_END and letter:
        return _find_line_end(script, at)
    if letter in {"s", "y"}:
        end = _skip_parts(script, at + 1)
        return None if end is None else _end(script, _skip(_FLAGS, script, end), letter)
    return None


def _end(script: str, at: int, letter: str) -> int | None:
    """Behind a command stands its end, or it was another one than it seemed."""
    at = _skip(re.compile(r"[ \t]*"), script, at)
    return at if letter in "{}" or script[at : at + 1] in {"", ";", "\n", "}", "#"} else None


def _find_line_end(script: str, at: int) -> int:
    """A text goes on in the next line behind a backslash."""
    found = re.compile(r"(?:[^\\\n]|\\.)*", re.DOTALL).match(script, at)
    return len(script) if found is None else found.end()


def _skip_parts(script: str, at: int) -> int | None:
    """Behind the third of the signs that stand around both parts of `s/a/b/`."""
    sign = script[at : at + 1]
    if not sign or sign in "\\\n[]" or sign.isalnum():
        return None
    end = re.escape(sign)
    # In a class the sign is a letter like any other, `s/[/]/x/`; classes without it are enough.
    first = rf"(?:[^{end}\\\[\n]|\\.|\[[^\]{end}\\]+\])*{end}"
    second = rf"(?:[^{end}\\]|\\.)*{end}"
    found = re.compile(end + first + second, re.DOTALL).match(script, at)
    return None if found is None else found.end()
