"""Finding secrets in text and in nested data, and replacing them by their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.utils.nested import rewrite
from amplifier_foundation.policy.patterns import PatternSet, compile_pattern
from amplifier_foundation.policy.secret_shapes import SECRET_KEY, is_code

KEY_VALUE = "key-value"
_SHORTEST_VALUE = 4


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    name: str


class Redactor:
    """Replaces what has the shape of a secret by `[REDACTED:name]`."""

    def __init__(self, shapes: Mapping[str, str], owner: str, replacement: str) -> None:
        self._names = tuple(shapes)
        self._patterns = PatternSet(list(shapes.values()), owner)
        self._by_key = compile_pattern(SECRET_KEY, owner) if KEY_VALUE in shapes else None
        self._replacement = replacement
        self._marks = frozenset(self._make_mark(name) for name in (*shapes, KEY_VALUE))

    def redact_text(self, text: str) -> str:
        """The text with its secrets replaced; the very same object if it has none."""
        spans = sorted(self._find_spans(text), key=lambda span: (span.start, -span.end))
        if not spans:
            return text
        pieces, position = [], 0
        for span in _join_overlaps(spans):
            pieces += [text[position : span.start], self._make_mark(span.name)]
            position = span.end
        return "".join([*pieces, text[position:]])

    def redact(self, value: Any) -> Any:
        """The value with every text in it redacted, keys too; the same object if none changed."""
        return rewrite(value, self._redact_leaf)

    def _make_mark(self, name: str) -> str:
        return self._replacement.replace("{name}", name)

    def _find_spans(self, text: str) -> Iterator[_Span]:
        for number, pattern in self._patterns.find_candidates(text):
            name = self._names[number]
            for start, end in pattern.find_spans(text):
                found = text[start:end]
                bare = name == KEY_VALUE and text[start - 1 : start] not in {'"', "'"}
                if found not in self._marks and not (bare and is_code(found)):
                    yield _Span(start, end, name)

    def _redact_leaf(self, text: str, key: Any) -> str:
        if text not in self._marks and self._is_secret_key(key) and len(text) >= _SHORTEST_VALUE:
            return self._make_mark(KEY_VALUE)
        return self.redact_text(text)

    def _is_secret_key(self, key: Any) -> bool:
        return self._by_key is not None and isinstance(key, str) and self._by_key.occurs_in(key)


def _join_overlaps(spans: list[_Span]) -> Iterator[_Span]:
    """Overlapping finds as one, under the name of the first."""
    current = spans[0]
    for span in spans[1:]:
        if span.start < current.end:
            current = _Span(current.start, max(current.end, span.end), current.name)
        else:
            yield current
            current = span
    yield current
