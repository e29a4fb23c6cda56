"""The gate: each call is judged once, and as late as possible."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai.capabilities import AbstractCapability, ToolSearch
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset

from amplifier_core import HookResult
from amplifier_hooks.frameworks.pydantic_ai import AmplifierHooks
from tests.adapters.drivers.driver import Call, Ran, Step
from tests.adapters.drivers.pydantic_ai import PydanticAIDriver
from tests.adapters.stage import DONE, Stage, call, use

build = PydanticAIDriver().build
SEARCH: list[Step] = [[call("search_tools", 1, queries=["launch"])], [call("launch", 2)], DONE]


def add_hidden(agent: Any, ran: Ran) -> None:
    """A tool that the model has to search for."""

    @agent.tool_plain(defer_loading=True)
    def launch() -> str:
        """Launch the rocket."""
        ran.calls.append(("launch", {}))
        return "launched"


async def run_search(stage: Stage, script: list[Step], *more: Any) -> Ran:
    """An agent that searches for tools; the search stands around the toolset that hooks guard."""
    ran = Ran()
    wanted = [AmplifierHooks(stage.hooks), ToolSearch(), *more]
    agent = build(stage.hooks, script, ran, capabilities=wanted)
    add_hidden(agent, ran)
    await agent.run("Do it.")
    return ran


async def test_tools_that_capabilities_put_around_the_toolset_are_judged(stage: Stage) -> None:
    """A search for tools is a tool call as well, and what it finds another one."""
    stage.listen("tool:pre", "tool:post")
    ran = await run_search(stage, SEARCH)
    heard = [(name, data["tool_name"]) for name, data in stage.heard.events]
    searched = [("tool:pre", "search_tools"), ("tool:post", "search_tools")]
    assert heard == [*searched, ("tool:pre", "launch"), ("tool:post", "launch")]
    assert ran.calls == [("launch", {})]


async def test_they_can_be_denied(stage: Stage) -> None:
    """The search finds nothing then."""
    deny = HookResult(action="deny", reason="against the rules")
    stage.answer("tool:pre", deny, tool="search_tools")
    ran = await run_search(stage, [SEARCH[0], DONE])
    assert ran.calls == []
    assert "against the rules" in ran.requests[-1]
    assert "launch" not in ran.requests[-1].split("against the rules")[1]


async def test_they_can_be_changed(stage: Stage) -> None:
    """Another search than the model wanted."""

    def search_other(data: dict[str, Any]) -> HookResult:
        changed = {**data, "tool_input": {"queries": ["nothing of the kind"]}}
        return HookResult(action="modify", data=changed)

    stage.answer("tool:pre", search_other, tool="search_tools")
    ran = await run_search(stage, [SEARCH[0], DONE])
    assert "Launch the rocket" not in ran.requests[-1]


class Meddler(AbstractCapability[Any]):
    """Changes the arguments of a search after it was judged."""

    async def before_tool_execute(self, ctx: Any, *, args: Any, **_: Any) -> Any:
        return {"queries": ["something else"]}


async def test_what_is_changed_after_it_was_judged_does_not_run(stage: Stage) -> None:
    """The model reads why."""
    ran = await run_search(stage, [SEARCH[0], DONE], Meddler())
    assert "after hooks had judged them" in ran.requests[-1]


class Prefix(AbstractCapability[Any]):
    """Gives all tools another name, around the toolset that hooks guard."""

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return toolset.prefixed("my")


async def test_a_call_under_two_names_is_judged_once(stage: Stage) -> None:
    """By the name that the model called."""
    stage.listen("tool:pre", "tool:post")
    ran = Ran()
    both = [AmplifierHooks(stage.hooks), Prefix()]
    agent = build(stage.hooks, use(call("my_note", text="a")), ran, capabilities=both)
    await agent.run("Do it.")
    assert ran.calls == [("note", {"text": "a"})]
    assert [data["tool_name"] for _, data in stage.heard.events] == ["my_note", "my_note"]


class Answering(WrapperToolset[Any]):
    """Runs something of its own under the name of a tool."""

    async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        return (
            f"answered {tool_args}"
            if name == "note"
            else await super().call_tool(name, tool_args, ctx, tool)
        )


class Answers(AbstractCapability[Any]):
    """Stands around the toolset that hooks guard."""

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return Answering(toolset)


@pytest.mark.parametrize("tool", ["note", "wipe"])
async def test_a_call_that_may_not_arrive_is_judged_before(stage: Stage, tool: str) -> None:
    """Whether a foreign toolset answers it or passes it on, hooks judge it once."""
    stage.listen("tool:pre", "tool:post")
    name = "text" if tool == "note" else "path"
    both = [AmplifierHooks(stage.hooks), Answers()]
    agent = build(stage.hooks, use(Call(tool, {name: "a"})), ran := Ran(), capabilities=both)
    await agent.run("Do it.")
    assert stage.heard.names == ["tool:pre", "tool:post"]
    assert len(ran.calls) == (0 if tool == "note" else 1)


async def test_such_a_call_can_be_denied(stage: Stage) -> None:
    """Nothing runs under its name."""
    stage.answer("tool:pre", HookResult(action="deny", reason="against the rules"))
    both = [AmplifierHooks(stage.hooks), Answers()]
    script = use(call("note", text="a"))
    await build(stage.hooks, script, ran := Ran(), capabilities=both).run("Do it.")
    assert "answered" not in ran.requests[-1]
    assert "against the rules" in ran.requests[-1]
