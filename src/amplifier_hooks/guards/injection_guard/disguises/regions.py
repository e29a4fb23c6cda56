"""Parts of a document that its readers do not see: comments, and what a style sheet hides."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_hooks.guards.policy.patterns import share_patterns

SHORTEST, LONGEST = 12, 4_000
_STYLED = (
    r"(?i)style\s{0,3}=\s{0,3}[\"'][^\"'<>]*(?:display\s{0,3}:\s{0,3}none|"
    r"visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}0|opacity\s{0,3}:\s{0,3}0[^.\d]|"
    r"color\s{0,3}:\s{0,3}(?:white|#fff|transparent)|left\s{0,3}:\s{0,3}-\d{3,}|"
    r"height\s{0,3}:\s{0,3}0[^.\d])[^<>]*>|"
    r"<\w{1,16}\s[^<>]*\b(?:hidden|aria-hidden\s{0,2}=\s{0,2}[\"']true[\"'])[^<>]*>"
)
_MARKDOWN = r"(?mi)^\s{0,3}\[(?://|comment|_)\]:\s{0,3}(?:#|<>)(?P<said>[^\n]*)"
_ALTERNATIVE = r"(?i)\b(?:alt|title|aria-label)\s{0,2}=\s{0,2}[\"'](?P<said>[^\"'<>]{40,})"


class Regions:
    """Finds the hidden parts of HTML and Markdown."""

    def __init__(self, owner: str) -> None:
        self._patterns = share_patterns((_STYLED, _MARKDOWN, _ALTERNATIVE), owner)

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Where each hidden part begins and ends, of a long one the beginning; none twice."""
        reached = 0
        for start, end in sorted(self._find_all(text)):
            if start >= reached and end - start >= SHORTEST:
                yield start, end
                reached = end

    def _find_all(self, text: str) -> Iterator[tuple[int, int]]:
        yield from _find_comments(text)
        if "<" not in text and "]:" not in text:
            return
        for number, pattern in self._patterns.find_candidates(text):
            for start, end in pattern.find_spans(text):
                yield _find_content(text, end) if number == 0 else (start, end)


def _find_content(text: str, start: int) -> tuple[int, int]:
    end = text.find("</", start, start + LONGEST)
    return start, end if end >= 0 else min(len(text), start + LONGEST)


def _find_comments(text: str) -> Iterator[tuple[int, int]]:
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start)
        if end < 0:
            yield start, min(len(text), start + LONGEST)
            return
        yield start, end
        start = text.find("<!--", end)
