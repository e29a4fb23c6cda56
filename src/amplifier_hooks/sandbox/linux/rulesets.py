"""Rule sets of walls that are used again and again."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from amplifier_hooks.sandbox.linux.allowances import Stamp, list_allowances, take_stamp
from amplifier_hooks.sandbox.linux.landlock import build_ruleset, query_abi
from amplifier_hooks.sandbox.wall import Network, Wall

_MOST = 16

Key = tuple[tuple[Path, ...], Network, Stamp]


class Rulesets:
    """Keeps the last few, each for as long as the folders that it was built from are the same."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, tuple[int, int]] = OrderedDict()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def lend(self, wall: Wall) -> Iterator[tuple[int, int]]:
        """A descriptor of the wall's rule set, for as long as the context lasts, and its number."""
        descriptor, number = self._copy(wall)
        try:
            yield descriptor, number
        finally:
            os.close(descriptor)

    def _copy(self, wall: Wall) -> tuple[int, int]:
        # Before the folders are read: what appears in between costs another building, no more.
        key = (wall.hidden, wall.network, take_stamp(wall))
        with self._lock:
            if key not in self._kept:
                rules = list_allowances(wall)
                built = build_ruleset(rules, query_abi(), tcp=wall.network == "allow")
                self._kept[key] = built, next(self._numbers)
            self._kept.move_to_end(key)
            if len(self._kept) > _MOST:
                os.close(self._kept.popitem(last=False)[1][0])
            descriptor, number = self._kept[key]
            return os.dup(descriptor), number


RULESETS = Rulesets()
