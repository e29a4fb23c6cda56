"""What is said about LangChain."""

from __future__ import annotations

import pytest

from amplifier_hooks.coverage.langchain import COVERAGE

DECIDED = (
    "prompt:submit",
    "prompt:answer",
    "provider:request",
    "provider:response",
    "tool:pre",
    "tool:post",
)


@pytest.mark.parametrize("event", DECIDED)
def test_every_answer_works_where_hooks_decide(event: str) -> None:
    """Denied, changed, asked about, commented on."""
    for act in ("deny", "modify", "ask_user", "inject_context"):
        assert COVERAGE.allows(event, act), f"{act} at {event}"


def test_what_a_stream_has_shown_is_said() -> None:
    """Nobody can take back what was read."""
    for event in ("prompt:answer", "provider:response"):
        assert "streams" in COVERAGE.explain(event, "deny")


def test_the_net_is_named_where_sub_agents_are_not_seen() -> None:
    """Whoever reads what is unseen learns what helps."""
    assert any("net()" in one for one in COVERAGE.unseen)
