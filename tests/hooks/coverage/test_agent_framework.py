"""What is said about Microsoft Agent Framework."""

from __future__ import annotations

from amplifier_hooks.coverage.agent_framework import COVERAGE


def test_everything_that_is_judged_can_be_refused_and_changed() -> None:
    """Prompts, requests, replies, calls, results and answers."""
    judged = ("prompt:submit", "provider:request", "provider:response", "tool:pre", "tool:post")
    for event in (*judged, "prompt:answer"):
        assert COVERAGE.allows(event, "deny")
        assert COVERAGE.allows(event, "modify")


def test_nothing_follows_the_answer() -> None:
    """The table says why text cannot be added there."""
    assert not COVERAGE.allows("prompt:answer", "inject_context")
    assert "ends the turn" in COVERAGE.explain("prompt:answer", "inject_context")
