"""The two halves of a tool call of a crew."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("crewai")

from crewai import Crew
from crewai.hooks import HookAborted, InterceptionPoint, ToolCallHookContext
from crewai.hooks.dispatch import register_scoped
from crewai.tools import tool

from amplifier_core import HookResult
from amplifier_core.approval import ApprovalAnswer
from amplifier_hooks.frameworks.crewai import amplified
from amplifier_hooks.frameworks.crewai.calls import ToolCalls, explain
from amplifier_hooks.frameworks.crewai.kickoffs import Kickoffs
from tests.adapters.drivers.crewai import HELPER
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.stage import Stage, ask, call, change_input, change_output, use
from tests.hooks.frameworks.crewai.crews import make_agent, make_crew, make_text_crew

DENY = HookResult(action="deny", reason="against the rules")


async def kick(stage: Stage, crew: Crew) -> Any:
    """Kick it off behind hooks."""

    def work() -> Any:
        with amplified(stage.hooks):
            return crew.kickoff()

    return await asyncio.to_thread(work)


async def test_calls_that_a_model_writes_as_text_are_judged(stage: Stage) -> None:
    """The other way in which CrewAI runs tools."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.answer("tool:pre", change_input(text="oat milk"), tool="note", name="changer")
    stage.answer("tool:post", change_output("noted [removed]"), tool="note", name="cleaner")
    ran = Ran()
    script: list[Step] = [[call("note", 1, text="milk")], [call("wipe", 2, path="/")], "All done."]
    await kick(stage, make_text_crew(script, ran))
    assert ran.calls == [("note", {"text": "oat milk"})]
    assert "noted [removed]" in ran.requests[1]
    assert "against the rules" in ran.requests[2]


async def test_arguments_for_a_call_that_has_none_are_refused(stage: Stage) -> None:
    """CrewAI would run the tool without them in one of its two ways."""
    ran = Ran()

    @tool("now")
    def now(zone: str = "UTC") -> str:
        """Tell the time."""
        ran.calls.append(("now", {"zone": zone}))
        return "noon"

    stage.answer("tool:pre", change_input(zone="CET"))
    crew = make_crew(use(call("now")), ran)
    crew.agents[0].tools.append(now)
    await kick(stage, crew)
    assert ran.calls == []
    assert "does not take over" in ran.requests[-1]


async def test_what_the_person_said_stands_before_the_result(stage: Stage) -> None:
    """Where the model reads it."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person(ApprovalAnswer("Allow", comment="only this once"))
    ran = Ran()
    await kick(stage, make_crew(use(call("wipe", path="/x")), ran))
    assert "only this once" in ran.requests[-1]
    assert "wiped /x" in ran.requests[-1]


async def test_a_coworker_has_a_session_below(stage: Stage) -> None:
    """Its start is asked about with its task, and its end is told."""
    stage.listen("tool:pre", "agent:spawn", "agent:complete")
    ran = Ran()
    crew = make_crew(use(call(HELPER, task="Clean up.")), ran)
    crew.agents[0].allow_delegation = True
    crew.agents.append(make_agent(HELPER, use(call("wipe", 7, path="/x")), ran))
    await kick(stage, crew)
    assert stage.heard.names == ["tool:pre", "agent:spawn", "tool:pre", "agent:complete"]
    outer, spawn, inner, done = (data for _, data in stage.heard.events)
    assert (spawn["agent_name"], spawn["task"]) == (HELPER, "Clean up.")
    assert inner["parent_id"] == outer["session_id"]
    assert "All done." in str(done["result"])
    assert len(stage.of_type("session_ended")) == 2


@pytest.mark.parametrize("answered", ["deny", "modify"])
async def test_a_refused_coworker_does_not_start(stage: Stage, answered: str) -> None:
    """Neither one whose start a hook wants otherwise: the model reads why."""

    def decide(data: dict[str, Any]) -> HookResult:
        if answered == "deny":
            return DENY
        return HookResult(action="modify", data={**data, "task": "Do nothing."})

    stage.answer("agent:spawn", decide)
    ran = Ran()
    crew = make_crew(use(call(HELPER, task="Clean up.")), ran)
    crew.agents[0].allow_delegation = True
    crew.agents.append(make_agent(HELPER, use(call("wipe", 7, path="/x")), ran))
    await kick(stage, crew)
    assert ran.calls == []
    wanted = "against the rules" if answered == "deny" else "cannot be done"
    assert wanted in ran.requests[-1]
    assert [one["body"]["outcome"] for one in stage.of_type("tool_finished")] == ["cancelled"]


async def test_a_call_that_another_hook_refuses_has_no_result(stage: Stage) -> None:
    """CrewAI tells of it as of one that ran."""

    def refuse(_: Any) -> None:
        raise HookAborted("not by me")

    stage.listen("tool:post", "tool:error")
    ran = Ran()
    crew = make_crew(use(call("wipe", path="/x")), ran)

    def work() -> None:
        with amplified(stage.hooks):
            register_scoped(InterceptionPoint.PRE_TOOL_CALL, refuse)
            crew.kickoff()

    await asyncio.to_thread(work)
    assert ran.calls == []
    assert stage.heard.names == []
    assert [one["body"]["outcome"] for one in stage.of_type("tool_finished")] == ["cancelled"]


async def test_a_question_of_a_coworker_ends_with_the_block(stage: Stage) -> None:
    """Its session ends with that of the crew, and its call does not run."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def think(_: object) -> str:
        loop.call_soon_threadsafe(asked.set)
        await asyncio.Event().wait()
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person(think)
    ran = Ran()
    crew = make_crew(use(call(HELPER, task="Clean up.")), ran)
    crew.agents[0].allow_delegation = True
    crew.agents.append(make_agent(HELPER, use(call("wipe", 7, path="/x")), ran))

    async def work() -> None:
        with amplified(stage.hooks):
            await crew.akickoff()

    waiting = asyncio.create_task(work())
    await asyncio.wait_for(asked.wait(), 60)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ran.calls == []
    assert [one["body"]["reason"] for one in stage.of_type("session_ended")] == ["user_exit"] * 2


def make_context(**given: Any) -> ToolCallHookContext:
    """A call, without a crew around it."""
    nothing: Any = None
    return ToolCallHookContext("wipe", given, nothing, tool_result="wiped")


async def test_our_own_failure_blocks_the_call(stage: Stage) -> None:
    """The model reads that nobody has judged it."""

    def work() -> None:
        kickoffs = Kickoffs(stage.hooks)
        calls = ToolCalls(kickoffs)
        kickoffs.has_ended = True
        context = make_context(path="/")
        with pytest.raises(HookAborted, match="not judged"):
            calls.before(context)
        assert "not judged" in str(calls.after(context))

    await asyncio.to_thread(work)


async def test_a_result_that_nobody_expected_is_withheld(stage: Stage) -> None:
    """A call that never came before is none that hooks allowed."""

    def work() -> None:
        assert "Withheld" in str(ToolCalls(Kickoffs(stage.hooks)).after(make_context(path="/")))

    await asyncio.to_thread(work)


def test_a_denial_of_ours_says_what_happened() -> None:
    """So that somebody can mend it."""
    assert "no space left" in explain(OSError("no space left"))
