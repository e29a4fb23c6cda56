"""The parameters of a function that somebody else wrote."""

from __future__ import annotations

import inspect
from functools import lru_cache, partial
from types import FunctionType
from typing import Any

from amplifier_core.utils.describe import safe_repr


def list_parameters(function: Any) -> frozenset[str] | None:
    """The names of what it takes, `**` for any; None if it does not tell."""
    # A bound method is a new object at each look; its function is not.
    return _list_parameters(getattr(function, "__func__", function))


@lru_cache(maxsize=256)
def _list_parameters(function: Any) -> frozenset[str] | None:
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    names = {one.name for one in found}
    return frozenset(names | {"**" for one in found if one.kind is one.VAR_KEYWORD})


def find_name(function: Any) -> str:
    """The name of a function; of an object that can be called, its class's."""
    name = getattr(function, "__name__", None)
    return name if name and isinstance(name, str) else type(function).__name__


def find_misfit(handler: Any) -> str | None:
    """Why a hook handler will fail when it is called with `(event, data)`; None if it will not."""
    if not callable(handler):
        hint = f"; a priority is given by name, priority={handler}" if type(handler) is int else ""
        raise TypeError(f"A hook handler must be callable, got {handler!r}{hint}")
    if isinstance(handler, FunctionType):
        code = handler.__code__
        if code.co_argcount == 2 and not code.co_kwonlyargcount:
            return None  # whatever a decorator says that it wraps
    try:
        signature = _read_signature(handler)
    except (TypeError, ValueError):
        return None  # a builtin that does not tell
    try:
        signature.bind("event", {})
    except TypeError:
        taken = f"{find_name(handler)}{signature}"
        return f"must take (event, data); '{taken}' does not and fails whenever it is called"
    return None


def _read_signature(handler: Any) -> inspect.Signature:
    """Of an object that can be called, that of its `__call__`.

    Before Python 3.13, `inspect.signature` takes a static or class method there for a plain one.
    """
    told = hasattr(handler, "__signature__") or hasattr(handler, "__wrapped__")
    if told or inspect.isroutine(handler) or isinstance(handler, type | partial):
        return inspect.signature(handler)
    return inspect.signature(handler.__call__)


def check_has(what: str, thing: Any, *either: str) -> None:
    """Refuse an object that has none of these methods, and a class instead of an object."""
    if thing is None or type(thing) is object:  # a placeholder of somebody's tests
        return
    if isinstance(thing, type):
        raise TypeError(f"{what} is an object, got the class itself: use {thing.__name__}(...)")
    if not any(callable(getattr(thing, name, None)) for name in either):
        needed = " or ".join(f"{name}(...)" for name in either)
        raise TypeError(f"{what} needs a method {needed}; {safe_repr(thing)} has none")
