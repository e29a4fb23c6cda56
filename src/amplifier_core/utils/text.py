"""Texts for people: of values that may refuse to be printed, and of names that are wrong."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from functools import partial
from types import CodeType
from typing import Any


def safe_repr(value: Any) -> str:
    """`repr` of values that may refuse it."""
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - a repr may raise anything
        return f"<{type(value).__name__} whose repr raised {type(error).__name__}>"


def describe_error(error: BaseException) -> str:
    """`Type: message` of exceptions that may refuse to be printed."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a str may raise anything
        message = ""
    if message:
        return f"{type(error).__name__}: {message}"
    return type(error).__name__


def describe_cause(error: BaseException) -> str:
    """The same in one line, with nothing but the first problem of data that was not valid."""
    problems = getattr(error, "errors", None)
    if type(error).__name__ != "ValidationError" or not callable(problems):
        return " ".join(describe_error(error).split())
    first = problems()[0]
    place = ".".join(map(str, first["loc"]))
    return f"ValidationError: {place}: {first['msg']} (got {safe_repr(first['input'])[:80]})"


def locate_failure(error: BaseException, function: Any) -> str:
    """`file:line` where an error left a function's own file, or of the function if it did not."""
    code = _find_code(function)
    if code is None:
        return ""
    line = code.co_firstlineno
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == code.co_filename:
            line = step.tb_lineno
        step = step.tb_next
    return f"{_shorten_path(code.co_filename)}:{line}"


def _find_code(function: Any) -> CodeType | None:
    """What runs when it is called: behind decorators and partials, of a method or an object."""
    while isinstance(function, partial):
        function = function.func
    function = inspect.unwrap(function, stop=lambda one: isinstance(one, partial))
    for one in (function, type(function).__call__):
        code = getattr(one, "__code__", None)
        if isinstance(code, CodeType):
            return code
    return None


def _shorten_path(path: str) -> str:
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    if relative.startswith(os.pardir):
        return path
    return relative


_SHORTEST_BEGINNING = 3
_SLIP_IN_LENGTH = 2
_SLIP = 0.8


def find_closest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that was probably meant, or None; letter case makes no difference.

    A name that begins like the wrong one comes first: `approv` means `approval_timeout`.
    """
    from difflib import get_close_matches  # imported late: most runs have no wrong name

    lowered = {choice.lower(): choice for choice in sorted(known)}
    wanted = name.lower()
    if len(wanted) >= _SHORTEST_BEGINNING:
        for choice in lowered:
            if choice.startswith(wanted):
                return lowered[choice]
    close = get_close_matches(wanted, lowered, n=1, cutoff=cutoff)
    if close:
        return lowered[close[0]]
    return None


def find_slip(name: str, known: Iterable[str]) -> str | None:
    """The known name that this one misspells: hardly longer or shorter, most letters in place."""
    from difflib import get_close_matches

    wanted = name.lower()
    choices = list(known)
    for one in choices:
        if differs_by_one(wanted, one):
            return one
    as_long = [one for one in choices if abs(len(one) - len(name)) <= _SLIP_IN_LENGTH]
    return next(iter(get_close_matches(wanted, as_long, n=1, cutoff=_SLIP)), None)


def differs_by_one(name: str, other: str) -> bool:
    """Whether one letter is too many, missing, wrong or swapped with the next, and no more."""
    start = _count_common(name, other)
    name = name[start:]
    other = other[start:]
    end = _count_common(name[::-1], other[::-1])
    name = name[: len(name) - end]
    other = other[: len(other) - end]
    return max(len(name), len(other)) <= 1 or (len(name) == 2 and name == other[::-1])


def _count_common(name: str, other: str) -> int:
    pairs = enumerate(zip(name, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(name), len(other)))


def suggest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: `did you mean 'x'?` or `have x, y`."""
    choices = sorted(known)
    found = find_closest(name, choices)
    if found is None:
        return f"have {list_names(choices)}"
    return f"did you mean {found!r}?"


def list_names(names: Iterable[object]) -> str:
    """Names as a sentence has them: `x, y`, or `none`."""
    return ", ".join(map(str, names)) or "none"


def estimate_tokens(text: str) -> int:
    """Four characters are a token, and a started one counts."""
    return -(-len(text) // 4)
