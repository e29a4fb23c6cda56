"""A finding is a mistake, or a note about what may well be intended."""

from __future__ import annotations

from amplifier_hooks.insight.rule_checks import Finding


def test_what_may_be_intended_is_a_note() -> None:
    """A rule that was quiet so far is no mistake; one that another shadows is."""
    assert Finding("matched nothing", ("a",), ("f:1",), "x").is_note
    assert Finding("overlap", ("a", "b"), ("f:1", "f:2"), "x").is_note
    assert not Finding("shadowed", ("a", "b"), ("f:1", "f:2"), "x").is_note
