"""Regular expressions on untrusted text: RE2, whose time grows no faster than the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from amplifier_hooks.modules.installation import require

MAX_MEMORY = 16 << 20
_LONE_SURROGATES = {code: 0x10F800 + (code - 0xD800) for code in range(0xD800, 0xE000)}


class PatternError(ValueError):
    """A pattern that RE2 does not accept."""


def replace_surrogates(text: str) -> str:
    """The text with each lone surrogate replaced by a character that can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_LONE_SURROGATES)
    return text


@dataclass(frozen=True, slots=True)
class Pattern:
    """One compiled expression; positions are those of the text that was handed in."""

    source: str
    compiled: Any

    def occurs_in(self, text: str) -> bool:
        """Whether the expression occurs anywhere in the text."""
        return self.compiled.search(replace_surrogates(text)) is not None

    def find_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the expression occurs; if it has named groups, where those that took part do."""
        groups = list(self.compiled.groupindex.values()) or [0]
        for match in self.compiled.finditer(replace_surrogates(text)):
            for group in groups:
                start, end = match.span(group)
                if start < end:
                    yield start, end

    def find_group_starts(self, text: str) -> Iterator[int]:
        """Where the groups of the first occurrence begin that took part in it, empty ones not."""
        match = self.compiled.search(replace_surrogates(text))
        for group in range(1, self.compiled.groups + 1) if match is not None else ():
            start, end = match.span(group)
            if 0 <= start < end:
                yield start


def compile_pattern(source: str, owner: str, *, ignore_case: bool = False) -> Pattern:
    """A pattern, or a PatternError with the engine's reason."""
    engine = require("re2", owner)
    try:
        return Pattern(source, engine.compile(source, _make_options(engine, ignore_case)))
    except engine.error as wrong:
        raise PatternError(
            f"{source!r} is not a pattern of RE2: {_explain(wrong)}; it has no look-around and no "
            "back-references, so that no text can stall it"
        ) from None
    except UnicodeEncodeError:
        raise PatternError(f"{source!r} holds a lone surrogate, which no text contains") from None


class PatternSet:
    """Many expressions, searched for in one pass: a text without any costs one search."""

    def __init__(self, sources: Sequence[str], owner: str) -> None:
        engine = require("re2", owner)
        self._patterns = tuple(compile_pattern(source, owner) for source in sources)
        self._set = engine.Set.SearchSet(_make_options(engine, ignore_case=False))
        for source in sources:
            self._set.Add(source)
        # Found in every text: if it is not, the engine has given up, which it does not say.
        self._always = self._set.Add("")
        self._set.Compile()

    def find_candidates(self, text: str) -> Iterable[tuple[int, Pattern]]:
        """The expressions that occur in the text, with their numbers, in the order given.

        All of them, when the search for all at once takes too much memory.
        """
        numbers = self._set.Match(replace_surrogates(text)) or ()
        if self._always not in numbers:
            return list(enumerate(self._patterns))
        return [(one, self._patterns[one]) for one in sorted(numbers) if one != self._always]


@lru_cache(maxsize=32)
def share_patterns(sources: tuple[str, ...], owner: str) -> PatternSet:
    """A set for all sessions of the process: compiling one is half of what a start takes."""
    return PatternSet(sources, owner)


def _make_options(engine: Any, ignore_case: bool) -> Any:
    options = engine.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    options.case_sensitive = not ignore_case
    return options


def _explain(wrong: Exception) -> str:
    reason = wrong.args[0] if wrong.args else wrong
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
