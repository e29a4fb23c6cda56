"""Tool calls of the framework, through the hooks of a run."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Content,
    FunctionInvocationContext,
    FunctionTool,
    MiddlewareFailure,
    MiddlewareTermination,
    function_middleware,
)
from pydantic import BaseModel

from amplifier_core import HookResult
from amplifier_core.models import ToolResult
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks.agent_framework.hooks import (
    describe_arguments,
    read_result,
    write_result,
)
from tests.adapters.drivers.agent_framework import ScriptedClient, make_agent, make_tools
from tests.adapters.drivers.driver import Ran
from tests.adapters.stage import DONE, Stage, call, change_input, change_output, use

IMAGE = Content.from_uri("https://example.com/a.png", media_type="image/png")


async def test_arguments_are_the_tools_own_values_if_nobody_changed_them(stage: Stage) -> None:
    """Hooks see JSON; the tool gets the date that the framework has read."""
    given: list[Any] = []

    def remind(day: date) -> str:
        given.append(day)
        return "noted"

    stage.listen("tool:pre")
    client = ScriptedClient(use(call("remind", day="2026-11-17")))
    await make_agent(stage.hooks, client, [FunctionTool(name="remind", func=remind)]).run("Do it.")
    assert stage.heard.events[0][1]["tool_input"] == {"day": "2026-11-17"}
    assert given == [date(2026, 11, 17)]


async def test_a_change_that_only_looks_the_same_reaches_the_tool(stage: Stage) -> None:
    """Python takes 1 for True, but a tool need not."""
    given: list[Any] = []

    def wipe(force: bool | int) -> str:
        given.append(force)
        return "wiped"

    stage.answer("tool:pre", change_input(force=1))
    client = ScriptedClient(use(call("wipe", force=True)))
    await make_agent(stage.hooks, client, [FunctionTool(name="wipe", func=wipe)]).run("Do it.")
    assert [type(one) for one in given] == [int]


async def test_a_result_that_nobody_changed_is_the_frameworks_own(stage: Stage) -> None:
    """Middleware before ours gets the same object."""
    seen: list[Any] = []

    @function_middleware
    async def look(context: FunctionInvocationContext, call_next: Any) -> None:
        await call_next()
        seen.append(context.result)

    stage.listen("tool:post")
    contents = [Content.from_text("Look:"), IMAGE]
    tool = FunctionTool(name="draw", func=lambda: contents, result_parser=lambda found: found)
    client = ScriptedClient([[call("draw")], DONE])
    await make_agent(stage.hooks, client, [tool]).run("Do it.", middleware=[look])
    assert seen[0] is contents
    assert stage.heard.events[0][1]["tool_result"]["output"][1]["uri"] == IMAGE.uri


async def test_parts_of_a_result_are_changed_one_by_one(stage: Stage) -> None:
    """What is no text stays what it was."""

    def clean(data: dict[str, Any]) -> HookResult:
        first, *others = data["tool_result"]["output"]
        output = [{**first, "text": "Look: [hidden]"}, *others]
        result = {**data["tool_result"], "output": output}
        return HookResult(action="modify", data={**data, "tool_result": result})

    seen: list[Any] = []

    @function_middleware
    async def look(context: FunctionInvocationContext, call_next: Any) -> None:
        await call_next()
        seen.append(context.result)

    stage.answer("tool:post", clean)
    contents = [Content.from_text("Look: 4711"), IMAGE]
    tool = FunctionTool(name="draw", func=lambda: contents, result_parser=lambda found: found)
    client = ScriptedClient([[call("draw")], DONE])
    await make_agent(stage.hooks, client, [tool]).run("Do it.", middleware=[look])
    assert [one.type for one in seen[0]] == ["text", "uri"]
    assert seen[0][0].text == "Look: [hidden]"


async def test_an_exception_that_ends_the_loop_passes(stage: Stage) -> None:
    """A tool may end the turn; it has not failed."""

    def stop() -> str:
        raise MiddlewareTermination(result="That is enough.")

    stage.listen("tool:error")
    client = ScriptedClient([[call("stop")], DONE])
    await make_agent(stage.hooks, client, [FunctionTool(name="stop", func=stop)]).run("Do it.")
    assert len(client.requests) == 1


async def test_an_error_in_the_adapter_ends_the_run(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a result it would tell the model nothing, and the loop would go on."""

    async def fail(*_: Any) -> Called:
        raise OSError("no database")

    monkeypatch.setattr(Run, "call", fail)
    ran, client = Ran(), ScriptedClient(use(call("wipe", path="/")))
    with pytest.raises(MiddlewareFailure, match=r"hooks in front of wipe failed.*no database"):
        await make_agent(stage.hooks, client, make_tools(ran)).run("Do it.")
    assert ran.calls == []


async def test_a_changed_result_of_a_failing_tool_is_what_the_model_reads(stage: Stage) -> None:
    """Whatever the framework would have said about it."""
    stage.answer("tool:post", change_output("try later"), tool="note")
    ran, client = Ran(), ScriptedClient(use(call("note", text="a")))
    await make_agent(stage.hooks, client, make_tools(ran)).run("Do it.")
    assert "try later" in client.requests[-1]


def test_arguments_are_json() -> None:
    """Also those of a model, and values that JSON does not know."""

    class Given(BaseModel):
        day: date

    assert describe_arguments(Given(day=date(2026, 1, 2))) == {"day": "2026-01-02"}
    assert describe_arguments({"what": object}) == {"what": str(object)}


def test_a_result_is_its_text_or_its_parts() -> None:
    """A value that the framework does not parse is seen as it is."""
    assert read_result([Content.from_text("a"), Content.from_text("b")]).output == "a\nb"
    assert read_result([IMAGE]).output[0]["media_type"] == "image/png"
    assert read_result({"count": 2}).output == {"count": 2}
    assert read_result(b"\xff").output == "_w=="
    endless: list[Any] = []
    endless.append(endless)
    assert read_result(endless).output == "[[...]]"


def test_a_refusal_is_text() -> None:
    """Whatever the tool had returned."""
    called = Called(ToolResult.refused("no"), [IMAGE], ran=True, changed=True)
    assert write_result(called) == called.text
