"""Texts of values and exceptions that may refuse to be printed."""

from __future__ import annotations

import inspect
import os
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
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


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
    line, step = code.co_firstlineno, error.__traceback__
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
    return path if relative.startswith(os.pardir) else relative
