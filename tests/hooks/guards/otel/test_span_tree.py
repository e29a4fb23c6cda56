"""The tree of spans: session, turn, chat and tool, and sub-agents below."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_core.events import ALL_EVENTS
from tests.hooks.guards.otel.collector import Span, collector
from tests.hooks.guards.otel.story import chat, story
from tests.support.harness import Harness


def tree(spans: list[Span]) -> set[tuple[str, str]]:
    """Each span's name with its parent's."""
    by_id = {span.span_id: span.name for span in spans}
    return {(span.name, by_id.get(span.parent_id, "")) for span in spans}


async def test_the_tree_is_session_turn_chat_and_tool(harness: Harness) -> None:
    """Span tree session → turn → chat / execute_tool."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url, "agent_name": "helper"}):
            await story(harness)
    assert tree(kept.spans) == {
        ("invoke_workflow helper session", ""),
        ("invoke_agent helper", "invoke_workflow helper session"),
        ("chat claude-x", "invoke_agent helper"),
        ("execute_tool Bash", "invoke_agent helper"),
    }
    assert len(kept.spans) == 5
    assert len({span.trace_id for span in kept.spans}) == 1
    assert {span.attributes["gen_ai.conversation.id"] for span in kept.spans} == {"test-session"}
    assert {span.status for span in kept.spans} == {"UNSET"}
    assert kept.services == {"amplifier"}


async def test_parallel_calls_are_not_confused(harness: Harness) -> None:
    """Of two calls at once, the one that was denied has the error."""

    async def one(name: str, denied: bool) -> None:
        await harness.emit("tool:pre", tool_name=name, tool_input={}, tool_call_id=name)
        await asyncio.sleep(0.02)
        if denied:
            await harness.emit("policy:violation", event="tool:pre", hook="guard", reason="no")
        else:
            await harness.emit("tool:post", tool_name=name, tool_call_id=name, success=True)

    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await asyncio.gather(one("First", True), one("Second", False), one("Third", False))
    assert {span.name: span.status for span in kept.spans if "execute_tool" in span.name} == {
        "execute_tool First": "ERROR",
        "execute_tool Second": "UNSET",
        "execute_tool Third": "UNSET",
    }


async def test_a_sub_agent_hangs_below_the_call_that_started_it(harness: Harness) -> None:
    """One trace for a session and its sub-agents."""
    child = {"session_id": "child", "parent_id": "test-session"}
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("session:start")
            await harness.emit("prompt:submit", prompt="x")
            call = {"tool_name": "Delegate", "tool_input": {}, "tool_call_id": "1"}
            await harness.emit("tool:pre", **call)
            await harness.emit("agent:spawn", agent_name="finder", parent_session_id="test-session")
            await harness.emit("session:start", **child)
            await harness.emit("prompt:submit", prompt="find", **child)
            await chat(harness, **child)
            await harness.emit("orchestrator:complete", status="success", **child)
            await harness.emit("session:end", reason="complete", **child)
            await harness.emit("tool:post", **call, success=True)
            await harness.emit("orchestrator:complete", status="success")
    assert ("invoke_agent finder", "execute_tool Delegate") in tree(kept.spans)
    assert ("chat claude-x", "invoke_agent finder") in tree(kept.spans)
    assert len({span.trace_id for span in kept.spans}) == 1


@pytest.mark.parametrize("order", [1, -1])
async def test_missing_and_repeated_events_leave_no_span_open(harness: Harness, order: int) -> None:
    """Whatever order events come in, every span ends and none is lost."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            for event in [*ALL_EVENTS[::order], *ALL_EVENTS[::order]]:
                await harness.emit(event, tool_name="T", provider="p", model="m")
    opened = {span.span_id for span in kept.spans}
    assert all(span.parent_id in opened for span in kept.spans if span.parent_id)
    assert any(span.name == "execute_tool T" for span in kept.spans)
