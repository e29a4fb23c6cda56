"""Which kickoff something belongs to."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("crewai")

from crewai.tools import tool

from amplifier_core import HookResult
from amplifier_hooks.frameworks.crewai import amplified
from amplifier_hooks.frameworks.crewai.kickoffs import KickoffEnded, Kickoffs
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.stage import DONE, Stage, call, use
from tests.hooks.frameworks.crewai.crews import make_agent, make_crew

DENY = HookResult(action="deny", reason="against the rules")


async def test_a_crew_inside_a_tool_has_a_session_below(stage: Stage) -> None:
    """Its calls pass the same hooks, and the outer one goes on afterwards."""
    ran = Ran()

    @tool("nested")
    def nested(text: str) -> str:
        """Ask another crew."""
        return str(make_crew(use(call("wipe", 7, path="/tmp/x")), ran).kickoff().raw)

    stage.answer("tool:pre", DENY, tool="wipe")
    stage.registry.register("tool:pre", stage.heard, priority=-5, name="recorder")

    def kick() -> None:
        script: list[Step] = [[call("nested", 1, text="go")], [call("note", 2, text="after")], DONE]
        crew = make_crew(script, ran)
        crew.agents[0].tools.append(nested)
        with amplified(stage.hooks):
            crew.kickoff()

    await asyncio.to_thread(kick)
    outer, inner, after = (data for _, data in stage.heard.events)
    assert [outer["tool_name"], inner["tool_name"], after["tool_name"]] == [
        "nested",
        "wipe",
        "note",
    ]
    assert inner["parent_id"] == outer["session_id"] == after["session_id"]
    assert ran.calls == [("note", {"text": "after"})]
    assert len(stage.of_type("session_ended")) == 2


async def test_an_agent_without_a_crew_is_governed(stage: Stage) -> None:
    """Its session ends with the block."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran = Ran()

    def kick() -> None:
        with amplified(stage.hooks):
            make_agent("alone", use(call("wipe", path="/")), ran).kickoff("Do it.")

    await asyncio.to_thread(kick)
    assert ran.calls == []
    assert "against the rules" in ran.requests[-1]
    assert len(stage.of_type("session_started")) == len(stage.of_type("session_ended")) == 1


async def test_each_copy_of_a_crew_is_a_kickoff(stage: Stage) -> None:
    """`kickoff_for_each` runs copies, whose models are copies, too."""
    stage.listen("provider:request")
    ran = Ran()

    def kick() -> None:
        with amplified(stage.hooks):
            make_crew([DONE, DONE, DONE], ran).kickoff_for_each([{"a": "1"}, {"a": "2"}])

    await asyncio.to_thread(kick)
    assert len({data["session_id"] for _, data in stage.heard.events}) == 2
    assert len(ran.requests) == len(stage.heard.events) == 2


async def test_two_governors_judge_the_same_crew(stage: Stage) -> None:
    """Each by itself: one no is enough."""
    other = Stage()
    other.answer("tool:pre", DENY, tool="wipe")
    ran = Ran()

    def kick() -> None:
        with amplified(stage.hooks), amplified(other.hooks):
            make_crew(use(call("wipe", path="/")), ran).kickoff()

    await asyncio.to_thread(kick)
    other.close()
    assert ran.calls == []
    assert len(stage.of_type("session_ended")) == 1


async def test_nothing_begins_after_the_end(stage: Stage) -> None:
    """Neither a kickoff nor anything inside of one."""

    def work() -> None:
        kickoffs = Kickoffs(stage.hooks)
        kickoffs.close("complete")
        crew: Any = object()
        with pytest.raises(KickoffEnded, match="is over"):
            kickoffs.begin(crew)
        with pytest.raises(KickoffEnded):
            kickoffs.find(crew)
        assert kickoffs.find_open(crew) is None

    await asyncio.to_thread(work)


async def test_a_cancelled_task_ends_its_kickoff(stage: Stage) -> None:
    """CrewAI does not tell of it; with `amplify_crewai` there is no block that would."""
    ready = asyncio.Event()
    kickoffs = Kickoffs(stage.hooks)

    async def work() -> None:
        kickoffs.begin(object())
        ready.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await ready.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [one["body"]["reason"] for one in stage.of_type("session_ended")] == ["user_exit"]
