"""All texts of a nested value as one text, so that nothing is hidden by being split."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amplifier_core.utils.nested import iterate_parts, rewrite
from amplifier_hooks.guards.injection_guard.finding import Finding

_BETWEEN = "\n"
_BACK, _ON = 240, 480
_SENTENCE = re.compile(r"[.!?。！？](?:\s|\Z)|[\n\r>。！？]")
_PARAGRAPH = re.compile(r"\n\s*\n|</|-->|\"\s*[,}\]]")
_MOST_PARTS = 500_000


class Texts:
    """Every text in a value, keys too, up to a number of letters."""

    def __init__(self, value: Any, longest: int) -> None:
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._unread: list[str] = []
        length = 0
        for part in _iterate_texts(value):
            if length >= longest:
                self._unread.append(part)
                continue
            self._starts.append(length)
            self._parts.append(part)
            length += len(part) + len(_BETWEEN)
        self._longest = longest
        whole = _BETWEEN.join(self._parts)
        self.text = whole[:longest]
        self.unread = len(whole) - len(self.text) + sum(map(len, self._unread))
        """How many letters are too many to be looked through."""

    def mask(self, value: Any, found: Sequence[Finding], replacement: str) -> Any:
        """The value without the passages in which something was found, and what was not read."""
        masks = self._mask_parts(found, replacement)
        for part in self._unread:
            masks[part] = replacement.replace("{kind}", f"{len(part):,} characters, not read")
        return rewrite(value, lambda text, _: masks.get(text, text))

    def _mask_parts(self, found: Sequence[Finding], replacement: str) -> dict[str, str]:
        cuts: dict[int, list[Finding]] = {}
        for one in found:
            first, last = self._find_part(one.start), self._find_part(max(one.start, one.end - 1))
            end = self._starts[last] + len(self._parts[last])
            passage = widen(self.text, one, self._starts[first], end)
            for number in range(first, last + 1):
                cuts.setdefault(number, []).append(passage)
        if self.unread and self._parts:
            rest = Finding(self._longest, self._longest + self.unread, "not read")
            cuts.setdefault(len(self._parts) - 1, []).append(rest)
        return {
            self._parts[number]: _cut(self._parts[number], self._starts[number], ones, replacement)
            for number, ones in cuts.items()
        }

    def _find_part(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1


def _iterate_texts(value: Any) -> Iterator[str]:
    for _, part in iterate_parts(value, _MOST_PARTS):
        if isinstance(part, Mapping):
            yield from (key for key in part if isinstance(key, str))
        elif isinstance(part, str):
            yield part
        elif isinstance(part, bytes | bytearray):
            yield part.decode(errors="surrogateescape")


def widen(text: str, one: Finding, least: int = 0, most: int | None = None) -> Finding:
    """From the beginning of the sentence to the end of the paragraph: orders come in several."""
    before = text[max(least, one.start - _BACK) : one.start]
    ends = [found.end() for found in _SENTENCE.finditer(before)]
    start = one.start - len(before) + (ends[-1] if ends else 0)
    stop = _PARAGRAPH.search(text, one.end, one.end + _ON)
    end = stop.start() if stop else min(len(text), one.end + _ON)
    return Finding(start, end if most is None else min(end, most), one.kind)


def _cut(part: str, offset: int, passages: Sequence[Finding], replacement: str) -> str:
    pieces: list[str] = []
    position = 0
    for one in sorted(passages, key=lambda each: each.start):
        start, end = max(one.start - offset, position), min(one.end - offset, len(part))
        if start < end:
            mark = replacement.replace("{kind}", one.kind)
            again = start == position and pieces[-1:] == [mark]
            pieces += [] if again else [part[position:start], mark]
            position = end
    return "".join([*pieces, part[position:]])
