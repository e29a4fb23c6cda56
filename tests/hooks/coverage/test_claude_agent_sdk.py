"""What is said about the Claude Agent SDK."""

from __future__ import annotations

from amplifier_hooks.coverage.claude_agent_sdk import BY_OPTIONS, COVERAGE


def test_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert COVERAGE.allows("tool:pre", act)
        assert COVERAGE.allows("tool:post", act)


def test_options_alone_can_do_less() -> None:
    """And the table says what would do more."""
    assert COVERAGE.allows("prompt:submit", "modify")
    assert not BY_OPTIONS.allows("prompt:submit", "modify")
    assert "amplified_query" in BY_OPTIONS.explain("prompt:submit", "modify")
    assert COVERAGE.allows("prompt:answer", "deny")
    assert not BY_OPTIONS.allows("prompt:answer", "deny")
    assert "AmplifiedClient" in BY_OPTIONS.explain("prompt:answer", "deny")


def test_the_model_is_not_shown() -> None:
    """The program talks to it by itself."""
    assert "provider:request" not in COVERAGE.events
    assert "requests" in COVERAGE.explain("provider:request", "deny")
