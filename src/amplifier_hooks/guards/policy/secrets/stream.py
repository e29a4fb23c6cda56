"""A stream of text pieces, in which secrets are hidden also where a piece ends inside one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from amplifier_hooks.guards.policy.patterns import PatternError, PatternSet
from amplifier_hooks.guards.policy.secrets.prefixes import Unreadable, build_prefix

# What was passed on already and is still looked at: names of settings, schemes of addresses.
CONTEXT = 256
MOST_HELD = 4_096
LATE = frozenset({"private-key-end", "kubernetes-data"})
"""Shapes that only their end tells from any text: nothing is held back for them."""
_LAST_WORD = r"(\S{1,256})\z"


class Found(Protocol):
    """Where a secret stands, and its name."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def name(self) -> str: ...


def build_holds(shapes: Mapping[str, str], owner: str) -> PatternSet:
    """The expressions for what may become a secret; of a pattern nobody can read, any word may."""
    return _build_set(tuple(source for name, source in shapes.items() if name not in LATE), owner)


# A tenth of a second of work, which every session whose model streams would do again.
@lru_cache(maxsize=16)
def _build_set(shapes: tuple[str, ...], owner: str) -> PatternSet:
    sources = dict.fromkeys(_build_hold(source, owner) for source in shapes)
    return PatternSet(list(sources), owner)


def _build_hold(source: str, owner: str) -> str:
    try:
        hold = build_prefix(source)
        PatternSet([hold], owner)
    except (Unreadable, PatternError):
        return _LAST_WORD
    return hold


class HeldStream:
    """Passes on what is decided, and holds back what may be the beginning of a secret."""

    def __init__(
        self,
        holds: PatternSet,
        find: Callable[[str], Sequence[Found]],
        make_mark: Callable[[str], str],
    ) -> None:
        self._holds = holds
        self._find = find
        self._make_mark = make_mark
        self._text = ""
        self._passed = 0
        """How much of the text was passed on; it is kept as context."""

    def feed(self, piece: str) -> str:
        """Take a piece; returns what can be passed on now, its secrets hidden."""
        self._text += piece
        spans = self._find(self._text)
        end = self._choose_end(spans)
        if len(self._text) - end > MOST_HELD:
            end = self._shorten(end, spans)
        return self._pass_on(end, spans)

    def flush(self) -> str:
        """What was held back, now that nothing follows."""
        rest = self._pass_on(len(self._text), self._find(self._text))
        self._text, self._passed = "", 0
        return rest

    def _choose_end(self, spans: Sequence[Found]) -> int:
        """Where the part ends that nothing to come can make a secret."""
        starts = [
            start
            for _, pattern in self._holds.find_candidates(self._text)
            for start in pattern.find_group_starts(self._text)
        ]
        end = max(self._passed, min(starts, default=len(self._text)))
        crossing = [one.start for one in spans if one.start < end < one.end]
        return max(self._passed, min(crossing, default=end))

    def _shorten(self, end: int, spans: Sequence[Found]) -> int:
        """Keep memory bounded: cut the middle out of a secret, let go of what is none."""
        half = MOST_HELD // 2
        if any(one.start <= end < one.end for one in spans):
            self._text = self._text[: end + half // 2] + self._text[-half // 2 :]
            return end
        return len(self._text) - half

    def _pass_on(self, end: int, spans: Sequence[Found]) -> str:
        pieces, position = [], self._passed
        for span in spans:
            if span.end > position and span.start < end:
                pieces += [self._text[position : span.start], self._make_mark(span.name)]
                position = max(position, span.end)
        pieces.append(self._text[position:end])
        cut = max(0, max(end, position) - CONTEXT)
        self._passed = max(end, position) - cut
        self._text = self._text[cut:]
        return "".join(pieces)
