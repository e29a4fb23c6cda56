"""Agents without the middleware that a governed tool starts: said once, or refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.tools import StructuredTool

from amplifier_hooks.external.coverage_gaps import Ungoverned
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.langchain import make_model, make_tools
from tests.adapters.stage import DONE, Stage, call, use

SAY: Any = {"messages": "Do it."}
HELP: list[Step] = [[call("helper", 1, task="a")], [call("helper", 2, task="b")], DONE]
WIPE = use(call("wipe", 2, path="/tmp/x"))


def make_middleware(stage: Stage, ungoverned: Ungoverned = "warn") -> AmplifierMiddleware:
    """Hooks with such a setting."""
    hooks = govern(stage.registry, display=stage.display, audit=stage.audit, ungoverned=ungoverned)
    return AmplifierMiddleware(hooks)


def make_helper(ran: Ran, name: str | None = "cleaner", **more: Any) -> StructuredTool:
    """A tool that makes an agent and has it work."""

    def make() -> Any:
        return create_agent(make_model(WIPE, []), make_tools(ran), name=name, **more)

    async def call_async(task: str) -> str:
        """Have somebody else do it."""
        return str((await make().ainvoke({"messages": task}))["messages"][-1].content)

    def call_sync(task: str) -> str:
        """Have somebody else do it."""
        return str(make().invoke({"messages": task})["messages"][-1].content)

    return StructuredTool.from_function(call_sync, coroutine=call_async, name="helper")


async def run(
    ran: Ran, middleware: AmplifierMiddleware, tool: Any, *, is_async: bool = True, **config: Any
) -> Any:
    """An agent with the middleware, which calls the tool twice."""
    agent = create_agent(make_model(HELP, ran.requests), [tool], middleware=[middleware])
    if is_async:
        return await agent.ainvoke(SAY, config or None)  # type: ignore[arg-type]
    return await asyncio.to_thread(agent.invoke, SAY, config or None)  # type: ignore[arg-type]


def list_said(stage: Stage) -> list[str]:
    """What people were shown about agents."""
    return [text for text, _, _ in stage.display.messages if "agent" in text]


@pytest.mark.parametrize("is_async", [True, False])
async def test_it_is_said_once_by_name(stage: Stage, is_async: bool) -> None:
    ran = Ran()
    await run(ran, make_middleware(stage), make_helper(ran), is_async=is_async)
    assert len(ran.ran("wipe")) == 2
    (said,) = list_said(stage)
    assert said.startswith("The agent 'cleaner' was started by a tool without hooks: give it")
    assert [one["body"]["text"] for one in stage.of_type("user_message")] == [said]
    assert len({one["session"] for one in stage.of_type("session_started")}) == 1


@pytest.mark.parametrize("is_async", [True, False])
async def test_it_is_refused_before_its_model_is_asked(stage: Stage, is_async: bool) -> None:
    ran = Ran()
    middleware = make_middleware(stage, "deny")
    state = await run(ran, middleware, make_helper(ran, None), is_async=is_async)
    assert ran.calls == []
    read = [one for one in state["messages"] if one.type == "tool"]
    assert len(read) == 2
    assert all(one.status == "error" for one in read)
    assert "the agent 'agent' has no hooks, and session.ungoverned is deny" in read[0].content


@pytest.mark.parametrize("ungoverned", ["warn", "deny"])
async def test_an_agent_with_the_middleware_is_none_of_them(
    stage: Stage, ungoverned: Ungoverned
) -> None:
    ran, middleware = Ran(), make_middleware(stage, ungoverned)
    await run(ran, middleware, make_helper(ran, middleware=[middleware]))
    assert len(ran.ran("wipe")) == 2
    assert list_said(stage) == []


async def test_neither_is_one_in_a_net(stage: Stage) -> None:
    ran, middleware = Ran(), make_middleware(stage, "deny")
    await run(ran, middleware, make_helper(ran), callbacks=[middleware.net()])
    assert len(ran.ran("wipe")) == 2
    assert list_said(stage) == []


async def test_a_tool_that_asks_a_model_or_another_tool_starts_no_agent(stage: Stage) -> None:
    ran, middleware = Ran(), make_middleware(stage, "deny")
    note = make_tools(ran)[0]

    async def helper(task: str) -> str:
        """Think about it."""
        await note.ainvoke({"text": task})
        return str((await make_model([DONE], []).ainvoke(task)).content)

    await run(ran, middleware, StructuredTool.from_function(coroutine=helper, name="helper"))
    assert len(ran.ran("note")) == 2
    assert list_said(stage) == []


async def test_one_below_a_governed_sub_agent_is_said_in_its_trail(stage: Stage) -> None:
    """The watch of the outer call leaves it to that of the inner one."""
    ran, middleware = Ran(), make_middleware(stage)
    inner = make_helper(ran, "deep")
    script = use(call("helper", 3, task="c"))
    outer = create_agent(make_model([*script, *script], []), [inner], middleware=[middleware])

    async def helper(task: str) -> str:
        """Have somebody else do it."""
        return str((await outer.ainvoke({"messages": task}))["messages"][-1].content)

    await run(ran, middleware, StructuredTool.from_function(coroutine=helper, name="helper"))
    children = [one for one in stage.of_type("session_started") if one["body"]["parent"]]
    said = [one for one in stage.of_type("user_message") if "'deep'" in one["body"]["text"]]
    assert {one["session"] for one in said} == {one["session"] for one in children}


async def test_an_async_tool_that_calls_it_by_invoke_is_seen(stage: Stage) -> None:
    """Nobody can be waited for on the thread of the loop, and nothing is lost."""
    for ungoverned in ("warn", "deny"):
        ran, middleware = Ran(), make_middleware(stage, ungoverned)  # type: ignore[arg-type]
        plain = make_helper(ran)

        async def helper(task: str, plain: Any = plain) -> str:
            """Have somebody else do it."""
            return str(plain.func(task))

        tool = StructuredTool.from_function(
            coroutine=helper, name="helper", args_schema=plain.args_schema
        )
        await run(ran, middleware, tool)
        assert len(ran.ran("wipe")) == (2 if ungoverned == "warn" else 0)
    assert len([one for one in list_said(stage) if "was started by a tool" in one]) == 1


def test_the_setting_is_checked(stage: Stage) -> None:
    with pytest.raises(ValueError, match=r"session.ungoverned: 'warn' or 'deny', got 'no'"):
        make_middleware(stage, "no")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has been made already"):
        govern(stage.hooks, ungoverned="deny")
