"""Graphs that a program builds itself: their tool nodes can have the middleware."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain")

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from amplifier_core import HookResult
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.langchain import make_model, make_tools
from tests.adapters.stage import Stage, call, use

SAY: Any = {"messages": "Do it."}


def build(stage: Stage, ran: Ran) -> Any:
    """A model and a tool node, without create_agent."""
    middleware = AmplifierMiddleware(stage.hooks)
    model = make_model(use(call("wipe", 1, path="/tmp/x")), ran.requests)
    node = ToolNode(
        make_tools(ran),
        wrap_tool_call=middleware.wrap_tool_call,
        awrap_tool_call=middleware.awrap_tool_call,
    )
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


async def run(graph: Any, *, is_async: bool) -> Any:
    if is_async:
        return await graph.ainvoke(SAY)
    return await asyncio.to_thread(graph.invoke, SAY)


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_denied_call_does_not_run_and_the_model_reads_why(
    stage: Stage, is_async: bool
) -> None:
    """As in an agent of create_agent."""
    ran = Ran()
    stage.answer("tool:pre", HookResult(action="deny", reason="not on my machine"))
    state = await run(build(stage, ran), is_async=is_async)
    assert not ran.calls
    assert "not on my machine" in str([one.content for one in state["messages"]])


@pytest.mark.parametrize("is_async", [True, False])
async def test_hooks_see_tools_and_the_session_but_no_prompt_and_no_model(
    stage: Stage, is_async: bool
) -> None:
    """Nothing of ours is called there."""
    ran = Ran()
    stage.listen("*")
    await run(build(stage, ran), is_async=is_async)
    names = stage.heard.names
    assert ran.calls
    assert {"session:start", "tool:pre", "tool:post", "session:end"} <= set(names)
    assert not [one for one in names if one.startswith(("prompt:", "provider:"))]
