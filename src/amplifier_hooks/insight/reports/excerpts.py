"""Excerpts of long texts, lists and spans of time for a report, and their full size."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Generic, TypeVar

from amplifier_core.utils.nested import iterate_paths
from amplifier_hooks.guards.policy.tool_calls import PATH_KEYS

_LONG = 2_000
_MAX_DEPTH = 100
SHORT = 200

KEPT_APART = "(kept apart from the trail, and not here)"
REDACTED = "(redacted)"
MISSING = "(missing, no record of a redaction)"
_GUTTER = "  │ "
TOO_DEEP = "(nested too deeply to be shown)"

# The field that says most about a call, by what our tools and those of others call it.
_MAIN_FIELDS = ("command", *PATH_KEYS, "pattern", "agent", "agent_name", "query", "url", "task")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a text, and how many characters are not there."""

    text: str = ""
    left_out: int = 0

    def __bool__(self) -> bool:
        return bool(self.text)


def cut_text(text: str, limit: int = _LONG) -> Excerpt:
    """The beginning of a text."""
    return Excerpt(text[:limit], max(0, len(text) - limit))


def cut_value(value: Any, limit: int = _LONG) -> Excerpt:
    """The beginning of a value, as text."""
    return cut_text(format_value(value), limit)


def format_value(value: Any) -> str:
    """A value of a record as text; values that were cut or kept apart say so."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, Mapping) and (marked := _read_mark(value)) is not None:
        return marked
    if _is_too_deep(value):
        return TOO_DEEP
    if isinstance(value, Mapping) and value:
        return "\n".join(_write_fields(value))
    return json.dumps(value, indent=2, ensure_ascii=False)


def _is_too_deep(value: Any) -> bool:
    """Whether it is nested as no writer nests: the record is forged."""
    try:
        for _ in iterate_paths(value, levels=_MAX_DEPTH - 1):
            pass
    except RecursionError:
        return True
    return False


def _write_fields(value: Mapping[str, Any]) -> Iterable[str]:
    """One line for each field; text of several lines stands below its name, line by line."""
    for key, one in value.items():
        if isinstance(one, str) and "\n" in one:
            yield f"{key}:"
            yield from (f"{_GUTTER}{line}" for line in one.split("\n"))
        elif isinstance(one, str):
            yield f"{key}: {one}"
        else:
            marked = _read_mark(one) if isinstance(one, Mapping) else None
            yield f"{key}: {json.dumps(one, ensure_ascii=False) if marked is None else marked}"


def _read_mark(value: Mapping[str, Any]) -> str | None:
    if "$commitment" in value:
        if value.get("missing"):
            return MISSING
        return REDACTED if value.get("redacted") else KEPT_APART
    if "$cut" in value and isinstance(head := value.get("head"), str):
        return f"{head}… (the trail has no more of it)"
    return None


def summarize(value: Any) -> str:
    """What the input of a call is about, in one line."""
    if not isinstance(value, Mapping) or _read_mark(value) is not None:
        return _cut_first_line(format_value(value))
    found = next((value[key] for key in _MAIN_FIELDS if key in value), None)
    if found is None:
        found = next((one for one in value.values() if isinstance(one, str)), "")
    return _cut_first_line(format_value(found))


def _cut_first_line(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    return f"{first[: SHORT - 1]}…" if rest or len(first) >= SHORT else first


def join_blocks(content: Any) -> str:
    """The text of a message: its content, or the text of its blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        marked = _read_mark(content)
        return join_blocks(content.get("content", "")) if marked is None else marked
    if not isinstance(content, list):
        return ""
    return "".join(_join_texts(content))


def _join_texts(blocks: Iterable[Any]) -> Iterable[str]:
    for block in blocks:
        if isinstance(block, Mapping) and isinstance(text := block.get("text"), str):
            yield text


def find_message(error: Any) -> Any:
    """What an error says, in whichever form it is told."""
    return error.get("message", error) if isinstance(error, Mapping) else error


T = TypeVar("T")
K = TypeVar("K")

OTHERS = "(others)"
"""What stands for all names for which there was no room."""


class BoundedList(Generic[T]):
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


class BoundedGroups(dict[str, T]):
    """Things by name, with room for so many names; the rest share one."""

    def __init__(self, make: Callable[[], T], most: int) -> None:
        super().__init__()
        self._make = make
        self._most = most

    def group(self, name: str) -> T:
        """The thing of that name, made when it is first asked for."""
        if name not in self and len(self) >= self._most:
            name = OTHERS
        return self.setdefault(name, self._make()) if name not in self else self[name]


class PendingItems(dict[K, T]):
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


def read_seconds(time: str) -> float | None:
    """Seconds since 1970; None if the text is no time."""
    try:
        when = datetime.fromisoformat(time)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def measure(start: str, end: str) -> float | None:
    """The seconds from one time to another; None if one of them is none, or they are swapped."""
    begun = read_seconds(start)
    ended = read_seconds(end)
    return None if begun is None or ended is None or ended < begun else ended - begun


def subtract_milliseconds(time: str, ms: float | None) -> str:
    """The time that was so many milliseconds before."""
    ended = read_seconds(time)
    if ended is None or ms is None:
        return time
    try:
        return datetime.fromtimestamp(ended - ms / 1000, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return time


class Spans:
    """Spans of time of one kind; when there are too many, neighbours become one."""

    def __init__(self, most: int = 2_000) -> None:
        self._most = most
        self._spans: list[tuple[float, float]] = []

    def add(self, start: str, end: str) -> None:
        """Take a span, if both are times; a point in time is a span without length."""
        begun = read_seconds(start)
        ended = read_seconds(end)
        if begun is None or ended is None:
            return
        self._spans.append((begun, max(begun, ended)))
        if len(self._spans) > 2 * self._most:
            self._spans = _merge_closest(sorted(self._spans), self._most)

    def __iter__(self) -> Iterator[tuple[float, float]]:
        yield from sorted(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


def _merge_closest(spans: list[tuple[float, float]], most: int) -> list[tuple[float, float]]:
    """So many spans at most: those with the shortest pauses between them are joined."""
    pauses = sorted(after[0] - before[1] for before, after in pairwise(spans))
    limit = pauses[len(spans) - most - 1]
    merged = [spans[0]]
    for start, end in spans[1:]:
        begun, ended = merged[-1]
        if start - ended <= limit:
            merged[-1] = (begun, max(ended, end))
        else:
            merged.append((start, end))
    return merged
