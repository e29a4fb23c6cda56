"""The parameters of a function that somebody else wrote."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any


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
