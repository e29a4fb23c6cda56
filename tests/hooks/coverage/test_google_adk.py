"""What is said about Google ADK."""

from __future__ import annotations

from amplifier_hooks.coverage.google_adk import COVERAGE


def test_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert COVERAGE.allows("tool:pre", act)


def test_nothing_follows_the_answer() -> None:
    """The table says why text cannot be added there."""
    assert not COVERAGE.allows("prompt:answer", "inject_context")
    assert "answer" in COVERAGE.explain("prompt:answer", "inject_context")
