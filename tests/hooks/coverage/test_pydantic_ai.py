"""What is said about Pydantic AI."""

from __future__ import annotations

from amplifier_hooks.coverage.pydantic_ai import COVERAGE


def test_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert COVERAGE.allows("tool:pre", act)


def test_questions_can_be_handed_over() -> None:
    """The framework has interrupts of its own."""
    assert COVERAGE.asking == ("inline", "interrupt")


def test_a_stream_is_declared() -> None:
    """What was streamed has been read."""
    for event in ("provider:response", "prompt:answer"):
        assert "streamed" in COVERAGE.explain(event, "modify")


def test_nothing_follows_the_answer() -> None:
    """The table says why text cannot be added there."""
    assert not COVERAGE.allows("prompt:answer", "inject_context")
    assert "nothing follows" in COVERAGE.explain("prompt:answer", "inject_context")
