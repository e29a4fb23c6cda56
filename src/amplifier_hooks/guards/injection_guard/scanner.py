"""Looks through a text for instructions to the model, however they are disguised."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from amplifier_hooks.guards.injection_guard.cues import load_cues
from amplifier_hooks.guards.injection_guard.disguises.encodings import Encodings
from amplifier_hooks.guards.injection_guard.disguises.folding import Folded
from amplifier_hooks.guards.injection_guard.disguises.hidden_text import find_hidden_text
from amplifier_hooks.guards.injection_guard.disguises.regions import Regions
from amplifier_hooks.guards.injection_guard.finding import Finding, join_findings
from amplifier_hooks.guards.injection_guard.outlets import Outlets
from amplifier_hooks.guards.policy.patterns import compile_pattern

_DIGITS_AS_LETTERS = str.maketrans("0134578@$!|", "oieastbasil")
_DISGUISED = re.compile(r"[a-z][013457@$!|][a-z013457@$!|]")
_RUN_TOGETHER = re.compile(
    r"(?:ignore|disregard|forget)(?:all|any|the|your|of){0,3}(?:previous|prior|above|earlier|system)"
    r"(?:instructions?|prompts?|directives?|rules)"
)


@lru_cache(maxsize=8)
def load_finders(owner: str) -> tuple[Encodings, Regions, Outlets]:
    """Compiled once for all sessions of a process."""
    return Encodings(owner), Regions(owner), Outlets(owner)


class Scanner:
    """Finds what it was told to look for; it knows patterns, and proves nothing by silence."""

    def __init__(
        self,
        owner: str,
        languages: Sequence[str],
        *,
        off: Collection[str] = (),
        patterns: Mapping[str, str] | None = None,
        allow: Sequence[str] = (),
    ) -> None:
        self._cues = load_cues(tuple(languages), owner)
        self._encodings, self._regions, self._outlets = load_finders(owner)
        self._off = frozenset(off)
        self._own = {
            name: compile_pattern(source, owner) for name, source in (patterns or {}).items()
        }
        self._allow = [compile_pattern(source, owner) for source in allow]

    def scan(self, text: str, *, strict: bool = False) -> list[Finding]:
        """All finds in the order of the text, overlaps joined.

        `strict` for what a server says of its tools: short texts, in which less is ordinary.
        """
        found = [one for one in self._find(text, strict) if one.kind not in self._off]
        return join_findings(self._drop_allowed(text, found)) if found else []

    def orders(self, text: str) -> bool:
        """Whether a text says what has to be done."""
        return self._cues.orders(Folded(text).text)

    def _find(self, text: str, strict: bool) -> Iterator[Finding]:
        yield from self._find_plain(text, strict)
        yield from find_hidden_text(text, strict=strict)
        yield from self._outlets.find(text)
        for start, end in self._regions.find(text):
            if self._cues.speaks_to_a_model(Folded(text[start:end]).text):
                yield Finding(start, end, "hidden-order")
        for start, end, said in self._encodings.find(text):
            for one in self._find_decoded(said):
                yield Finding(start, end, one.kind)
        for name, pattern in self._own.items():
            yield from (Finding(start, end, name) for start, end in pattern.find_spans(text))

    def _find_plain(self, text: str, strict: bool) -> Iterator[Finding]:
        folded = Folded(text)
        yield from self._find_folded(folded, folded.text, strict)
        if _DISGUISED.search(folded.text):
            letters = folded.text.translate(_DIGITS_AS_LETTERS)
            for start, end in self._cues.find_overrides(letters):
                yield Finding(*folded.locate(start, end), "override")

    def _find_folded(self, folded: Folded, reading: str, strict: bool) -> Iterator[Finding]:
        for one in self._cues.find(reading, strict=strict):
            yield Finding(*folded.locate(one.start, one.end), one.kind)

    def _find_decoded(self, said: str) -> Iterator[Finding]:
        folded = Folded(said)
        yield from self._cues.find(folded.text, strict=False)
        if _RUN_TOGETHER.search(folded.text):
            yield Finding(0, len(said), "override")

    def _drop_allowed(self, text: str, found: list[Finding]) -> list[Finding]:
        spans = [span for pattern in self._allow for span in pattern.find_spans(text)]
        return [
            one
            for one in found
            if not any(start <= one.start and one.end <= end for start, end in spans)
        ]
