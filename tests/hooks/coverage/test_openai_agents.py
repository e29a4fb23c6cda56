"""What is said about the OpenAI Agents SDK."""

from __future__ import annotations

from amplifier_hooks.coverage.openai_agents import COVERAGE


def test_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert COVERAGE.allows("tool:pre", act)


def test_an_agent_is_chosen_before_hooks_are_asked() -> None:
    """They may deny that it starts, and the table says why they cannot choose another one."""
    assert COVERAGE.allows("agent:spawn", "deny")
    assert not COVERAGE.allows("agent:spawn", "modify")
    assert "chosen" in COVERAGE.explain("agent:spawn", "modify")


def test_tools_that_openai_runs_are_said_to_be_unseen() -> None:
    """Nobody asks us about them."""
    assert any("web search" in one for one in COVERAGE.unseen)
