"""What is said about Strands."""

from __future__ import annotations

from amplifier_hooks.coverage.strands import COVERAGE


def test_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert COVERAGE.allows("tool:pre", act)


def test_a_stream_can_be_held_back() -> None:
    """The table says how."""
    assert "held" in COVERAGE.explain("provider:response", "deny")
    assert not COVERAGE.allows("prompt:answer", "inject_context")
