"""Findings in the order of the text, each passage once."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.guards.injection_guard.finding import KINDS, Finding, join_findings


def test_overlapping_finds_are_one() -> None:
    """Under the kind of the first; those that only touch stay two."""
    found = [Finding(5, 9, "b"), Finding(0, 6, "a"), Finding(9, 12, "c")]
    assert join_findings(found) == [Finding(0, 9, "a"), Finding(9, 12, "c")]
    assert join_findings([]) == []


def test_the_page_lists_every_kind() -> None:
    """A reader learns which names `off` takes."""
    page = Path(__file__).parents[4] / "docs" / "modules" / "hooks-injection-guard.md"
    listed = page.read_text()
    assert [name for name in KINDS if f"`{name}`" not in listed] == []
