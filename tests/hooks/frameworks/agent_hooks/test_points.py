"""Our events as points of the contract, and what an interceptor left as our data."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agent_hooks")

from agent_hooks import AgentContextBuilder

from amplifier_hooks.frameworks.agent_hooks.translation import POINTS, UnusableChange

CALL = {"tool_name": "Write", "tool_input": {"path": "a"}, "tool_call_id": "c1"}
RESULT = {"success": True, "output": "done", "error": None}


def open_context(event: str, data: dict[str, Any]) -> dict[str, Any]:
    builder = AgentContextBuilder(agent_id="a", framework="f", session_id="s")
    point = POINTS[event]
    return point.open(builder, point.project(data), data)


@pytest.mark.parametrize(
    ("event", "data", "key", "value"),
    [
        ("session:start", {"tools": ["b", "a"]}, "agent_init", {"tools_registered": ["a", "b"]}),
        (
            "prompt:submit",
            {"prompt": "go", "metadata": {"role": "external"}},
            "input",
            {"content": "go", "role": "external"},
        ),
        (
            "prompt:submit",
            {"prompt": "go", "metadata": {"role": "king"}},
            "input",
            {"content": "go", "role": "user"},
        ),
        ("tool:pre", CALL, "tool_call", {"id": "c1", "name": "Write", "args": {"path": "a"}}),
        (
            "tool:post",
            {**CALL, "tool_result": RESULT, "success": True, "duration_ms": 3},
            "tool_result",
            {"value": "done", "is_error": False, "duration_ms": 3},
        ),
        (
            "tool:post",
            {**CALL, "tool_result": {"output": None, "error": {"message": "no"}}, "success": False},
            "tool_result",
            {"value": {"message": "no"}, "is_error": True},
        ),
        ("prompt:answer", {"response": "x"}, "output", {"content": "x"}),
        (
            "session:end",
            {"reason": "complete", "duration_ms": 1500, "stats": {"tool_invocations": 2}},
            "summary",
            {"reason": "completed", "tool_calls": 2, "duration_seconds": 1.5},
        ),
        ("session:end", {"reason": "user_exit"}, "summary", {"reason": "cancelled"}),
        ("session:end", {"reason": "denied"}, "summary", {"reason": "error"}),
    ],
)
def test_each_event_has_its_context(event: str, data: Any, key: str, value: Any) -> None:
    """With the fields that the contract wants there."""
    assert open_context(event, data)[key] == value


def test_a_request_and_its_reply_are_told_with_their_model() -> None:
    """And with what they have in common."""
    about = {"provider": "anthropic", "model": None, "request_id": "r1"}
    messages = [{"role": "user", "content": "go", "timestamp": "now"}]
    sent = open_context("provider:request", {**about, "messages": messages, "tools": ["Write"]})
    assert sent["model"] == {"id": "anthropic", "vendor": "anthropic"}
    assert (sent["messages"], sent["tools"]) == (
        [{"role": "user", "content": "go"}],
        [{"name": "Write"}],
    )
    response = {"content": [{"type": "text", "text": "hi"}], "finish_reason": None}
    usage = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
    got = open_context("provider:response", {**about, "response": response, "usage": usage})
    assert got["response"] == {"content": "hi", "tool_calls": [], "finish_reason": "stop"}
    assert got["usage"] == {"prompt_tokens": 5, "completion_tokens": 7}
    assert sent["request_id"] == got["request_id"] == "r1"


@pytest.mark.parametrize(
    ("event", "data", "left", "why"),
    [
        ("session:start", {"tools": []}, ["x"], "there is nothing to rewrite here"),
        ("session:end", {"reason": "complete"}, {}, "there is nothing to rewrite here"),
        ("tool:pre", CALL, "x", "arguments are an object, got str"),
        ("provider:request", {"messages": []}, ["x"], "messages are a list of objects"),
        ("provider:response", {"response": {}}, {}, "a reply has content, tool_calls and"),
    ],
)
def test_what_cannot_be_carried_out_is_refused(event: str, data: Any, left: Any, why: str) -> None:
    """In a sentence that says what it would have to be."""
    point = POINTS[event]
    with pytest.raises(UnusableChange, match=why):
        point.merge(data, point.project(data), left)
