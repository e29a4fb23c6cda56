"""The parameters of a function that somebody else wrote."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import lru_cache, partial
from types import FunctionType, MethodType
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
    # Nearly every handler is a plain function of two arguments.
    if type(handler) is FunctionType:
        code = handler.__code__
        if code.co_argcount == 2 and not code.co_kwonlyargcount:
            return None
    try:
        if _surely_takes(handler, 2):
            return None
        signature = inspect.signature(handler)
    except (TypeError, ValueError):
        return None  # a builtin that does not tell
    try:
        signature.bind("event", {})
    except TypeError:
        taken = f"{find_name(handler)}{signature}"
        return f"must take (event, data); '{taken}' does not and fails whenever it is called"
    return None


# What makes a signature say something else than the code, or the class, of whatever has it.
_TELLING = frozenset(("__wrapped__", "__signature__", "_partialmethod", "__code__"))


def _surely_takes(function: Any, count: int, named: Iterable[str] = ()) -> bool:
    """Whether its signature would take so many arguments by place, and these by name.

    Asking for the signature costs more than the rest of a registration. False means that only
    asking tells.
    """
    kind = type(function)
    if kind is FunctionType:
        function = _unwrap(function)
        return function is not None and _code_takes(function, count, frozenset(named))
    if kind is MethodType:
        return _surely_takes(function.__func__, count + 1, named)
    if kind is partial:
        plain = _TELLING.isdisjoint(function.__dict__) and not named
        return plain and _surely_takes(function.func, count + len(function.args), function.keywords)
    call = getattr(kind, "__call__", None)  # noqa: B004 - what is called, not whether it can be
    if type(call) is not FunctionType or issubclass(kind, type):
        return False
    for name in _TELLING:
        if hasattr(function, name):
            return False
    return _surely_takes(call, count + 1, named)


def _unwrap(function: FunctionType) -> FunctionType | None:
    """The function that decorators have left their trace to; None for what tells otherwise."""
    for _ in range(8):
        told = function.__dict__
        if not told or _TELLING.isdisjoint(told):
            return function
        if "__signature__" in told or "_partialmethod" in told:
            return None
        inner: Any = told.get("__wrapped__")
        if type(inner) is not FunctionType:
            return None
        function = inner
    return None


def _code_takes(function: FunctionType, count: int, named: frozenset[str]) -> bool:
    code, optional = function.__code__, len(function.__defaults__ or ())
    places, only_named = code.co_argcount, code.co_kwonlyargcount
    if count > places and (named or not code.co_flags & inspect.CO_VARARGS):
        return False
    if not only_named and not named:
        return places - optional <= count
    names = code.co_varnames
    by_name = set(names[max(count, code.co_posonlyargcount) : places + only_named])
    needed = {*names[count : places - optional], *names[places : places + only_named]}
    needed -= (function.__kwdefaults__ or {}).keys()
    return needed <= named <= by_name


def check_has(what: str, thing: Any, *either: str) -> None:
    """Refuse an object that has none of these methods, and a class instead of an object."""
    if thing is None or type(thing) is object:  # a placeholder of somebody's tests
        return
    if isinstance(thing, type):
        raise TypeError(f"{what} is an object, got the class itself: use {thing.__name__}(...)")
    if not any(callable(getattr(thing, name, None)) for name in either):
        needed = " or ".join(f"{name}(...)" for name in either)
        raise TypeError(f"{what} needs a method {needed}; {safe_repr(thing)} has none")
