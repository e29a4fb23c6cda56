"""Checks that options of several modules share."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from amplifier_core.utils.suggest import suggest

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def check_known(value: list[str], known: Collection[str], noun: str) -> list[str]:
    """The names; ValueError for one that nobody knows, with the closest that is known."""
    for name in value:
        if name not in known:
            raise ValueError(f"there is no {noun} {name!r}; {suggest(name, known)}")
    return value


def check_pattern_names(value: Mapping[str, str]) -> None:
    """ValueError if a pattern has a name that could not stand in a replacement."""
    for name in value:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a name; use letters, digits, '-', '_' and '.'")
