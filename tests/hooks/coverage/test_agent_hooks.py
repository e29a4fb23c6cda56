"""What is said about hosts of AGENT-HOOKS."""

from __future__ import annotations

from amplifier_hooks.coverage.agent_hooks import COVERAGE


def test_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert COVERAGE.allows("tool:pre", act)


def test_at_the_start_nothing_can_be_rewritten_or_asked() -> None:
    """The table says why."""
    assert "rewritten" in COVERAGE.explain("session:start", "modify")
    assert "lift" in COVERAGE.explain("session:start", "ask_user")


def test_a_question_is_left_to_the_host_before_people_are_asked_here() -> None:
    """The contract has a place for it."""
    assert COVERAGE.asking == ("interrupt", "inline")
