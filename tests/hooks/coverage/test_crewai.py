"""What is said about CrewAI."""

from __future__ import annotations

from amplifier_hooks.coverage.crewai import COVERAGE


def test_every_answer_works_at_tools_and_models() -> None:
    """Denied, changed, asked about, commented on."""
    for event in ("tool:pre", "tool:post", "provider:request", "provider:response"):
        for act in ("deny", "modify", "ask_user", "inject_context"):
            assert COVERAGE.allows(event, act)


def test_the_start_of_a_coworker_is_taken_or_refused() -> None:
    """The table says where to change it instead."""
    assert COVERAGE.allows("agent:spawn", "deny")
    assert not COVERAGE.allows("agent:spawn", "modify")
    assert "tool:pre" in COVERAGE.explain("agent:spawn", "modify")
