"""Looking at what another holds without a copy of it, and knowing that nobody else has it.

A context that can be looked at says so on the very method that copies, so that neither a subclass
with a method of its own nor whatever stands before a context is passed over.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import MethodType
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

# A Python that does not count them says that there may be many.
count_holders: Callable[[Any], int] = getattr(sys, "getrefcount", lambda _value: sys.maxsize)

HELD_ONCE = max(map(count_holders, [object()]))
"""What is counted for `count_holders(self.value)` if no other name, list or task has the value."""


def is_any_held_twice(values: Iterable[Any]) -> bool:
    """Whether anybody but its container holds one of the values."""
    return max(map(count_holders, values), default=0) > HELD_ONCE


def looks_with(look: Callable[..., Any]) -> Callable[[Method], Method]:
    """Name what does the same as a method, for who keeps and changes nothing of what it returns."""

    def note(method: Method) -> Method:
        # With the method itself, because what wraps one takes over all that is noted on it.
        vars(method)["look"] = method, look
        return method

    return note


def find_look(read: Any, owner: Any) -> Callable[..., Any] | None:
    """What to call with the owner instead of a method that copies, if that is its very own."""
    if type(read) is not MethodType or read.__self__ is not owner:
        return None
    function = read.__func__
    named = function.__dict__.get("look")
    return named[1] if named is not None and named[0] is function else None
