"""What is said about FastMCP."""

from __future__ import annotations

from amplifier_hooks.coverage.fastmcp import COVERAGE


def test_every_answer_works_at_a_tool_call() -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert COVERAGE.allows("tool:pre", act)
        assert COVERAGE.allows("tool:post", act)


def test_a_server_knows_nothing_of_the_model() -> None:
    """The table says so for each event that a hook might wait for."""
    for event in ("prompt:submit", "prompt:answer", "provider:request", "provider:response"):
        assert event not in COVERAGE.events
        assert "MCP server sees no" in COVERAGE.explain(event, "deny")
