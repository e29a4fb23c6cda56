"""Lists that do not grow with the trail: what has no room is counted."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")
K = TypeVar("K")

OTHERS = "(others)"
"""What stands for all names for which there was no room."""


class Kept(Generic[T]):
    """The first and the last of many things, and how many there were."""

    def __init__(self, most: int) -> None:
        self._room = most - most // 2
        self._first: list[T] = []
        self._last: deque[T] = deque(maxlen=most // 2)
        self.count = 0

    def add(self, one: T) -> None:
        """Keep one more; the oldest behind the first half makes room for it."""
        self.count += 1
        (self._first if len(self._first) < self._room else self._last).append(one)

    @property
    def left_out(self) -> int:
        """How many are missing between the first ones and the last ones."""
        return self.count - len(self._first) - len(self._last)

    @property
    def first(self) -> list[T]:
        """What stands before the gap, or everything."""
        return self._first if self.left_out else [*self]

    @property
    def last(self) -> list[T]:
        """What stands behind the gap."""
        return [*self._last] if self.left_out else []

    def __iter__(self) -> Iterator[T]:
        yield from self._first
        yield from self._last


class Named(dict[str, T]):
    """Things by name, with room for so many names; the rest share one."""

    def __init__(self, make: Callable[[], T], most: int) -> None:
        super().__init__()
        self._make = make
        self._most = most

    def take(self, name: str) -> T:
        """The thing of that name, made when it is first asked for."""
        if name not in self and len(self) >= self._most:
            name = OTHERS
        return self.setdefault(name, self._make()) if name not in self else self[name]


class Open(dict[K, T]):
    """What has begun and not ended yet; the oldest is forgotten when there is no room."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: T) -> None:
        if key not in self and len(self) >= self._most:
            del self[next(iter(self))]
        super().__setitem__(key, value)


def count_named(counter: Counter[str], name: str, most: int, amount: int = 1) -> None:
    """Count something by its name, among at most so many names."""
    counter[name if name in counter or len(counter) < most else OTHERS] += amount
