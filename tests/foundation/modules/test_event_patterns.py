"""Patterns that name events."""

from __future__ import annotations

import pytest

from amplifier_foundation.modules.event_patterns import matches_any


@pytest.mark.parametrize(
    ("patterns", "event", "covered"),
    [
        (["tool:*"], "tool:pre", True),
        (["*"], "anything", True),
        (["tool:error"], "error:tool", True),
        (["error:*"], "tool:error", True),
        (["context:pre-compact"], "context:pre_compact", True),
        (["tool:pre"], "tool:post", False),
        ([], "tool:pre", False),
    ],
)
def test_patterns_know_every_spelling(patterns: list[str], event: str, covered: bool) -> None:
    """These spellings are the same event."""
    assert matches_any(patterns, event) is covered
