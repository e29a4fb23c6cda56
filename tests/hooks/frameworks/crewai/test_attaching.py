"""Attaching hooks to crews, and their tasks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("crewai")

from crewai import Crew, Task
from crewai.hooks import (
    HookAborted,
    InterceptionPoint,
    get_hooks,
    register_hook,
    unregister_hook,
)
from crewai.hooks.dispatch import scoped_hooks
from pydantic import BaseModel

from amplifier_core import HookResult
from amplifier_hooks.frameworks.crewai import amplified, amplify_crewai
from amplifier_hooks.frameworks.crewai.attaching import fail_closed
from tests.adapters.drivers.driver import Ran
from tests.adapters.stage import DONE, Stage, ask, call, use
from tests.hooks.frameworks.crewai.crews import make_agent, make_crew

DENY = HookResult(action="deny", reason="against the rules")
WIPE = use(call("wipe", path="/tmp/x"))


def work(stage: Stage, *, detach_after: bool = True) -> Ran:
    """A kickoff of a program that attached once."""
    ran = Ran()
    detach = amplify_crewai(stage.hooks)
    try:
        ran.answer = make_crew(WIPE, ran).kickoff().raw
    finally:
        if detach_after:
            detach()
    return ran


async def test_every_crew_of_the_program_is_governed(stage: Stage) -> None:
    """Until that is ended."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran = await asyncio.to_thread(work, stage)
    assert ran.calls == []
    assert "against the rules" in ran.requests[-1]
    assert [one["body"]["reason"] for one in stage.of_type("session_ended")] == ["complete"]
    later = Ran()
    await asyncio.to_thread(make_crew(WIPE, later).kickoff)
    assert later.calls == [("wipe", {"path": "/tmp/x"})]


def test_attaching_twice_is_attaching_once(stage: Stage) -> None:
    """The same governor judges a call once."""
    hooks = stage.hooks
    before = len(get_hooks(InterceptionPoint.PRE_TOOL_CALL))
    first, second = amplify_crewai(hooks), amplify_crewai(hooks)
    assert first is second
    assert len(get_hooks(InterceptionPoint.PRE_TOOL_CALL)) == before + 1
    first()
    assert len(get_hooks(InterceptionPoint.PRE_TOOL_CALL)) == before


async def test_hooks_of_an_outer_block_stay(stage: Stage) -> None:
    """CrewAI would replace them."""
    seen: list[str] = []
    mine: Any = {InterceptionPoint.PRE_TOOL_CALL: [lambda context: seen.append(context.tool_name)]}
    ran = Ran()

    def kick() -> None:
        with scoped_hooks(mine), amplified(stage.hooks):
            make_crew(WIPE, ran).kickoff()

    await asyncio.to_thread(kick)
    assert seen == ["wipe"]


async def test_a_person_sees_what_earlier_hooks_made_of_a_call(stage: Stage) -> None:
    """Ours come last, so what is shown is what runs."""

    def change(context: Any) -> None:
        context.tool_input["path"] = "/tmp/changed"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    register_hook(InterceptionPoint.PRE_TOOL_CALL, change)
    try:
        ran = await asyncio.to_thread(work, stage)
    finally:
        unregister_hook(InterceptionPoint.PRE_TOOL_CALL, change)
    assert [one.tool_input for one in stage.person.questions] == [{"path": "/tmp/changed"}]
    assert ran.calls == [("wipe", {"path": "/tmp/changed"})]
    assert stage.of_type("digest_mismatch") == []


async def test_a_later_hook_that_changes_a_call_is_noticed(stage: Stage) -> None:
    """It cannot be kept from that, but it is on record."""

    def change(context: Any) -> None:
        context.tool_input["path"] = "/tmp/changed"

    ran = Ran()

    def kick() -> None:
        detach = amplify_crewai(stage.hooks)
        register_hook(InterceptionPoint.PRE_TOOL_CALL, change)
        try:
            make_crew(WIPE, ran).kickoff()
        finally:
            unregister_hook(InterceptionPoint.PRE_TOOL_CALL, change)
            detach()

    await asyncio.to_thread(kick)
    assert len(stage.of_type("digest_mismatch")) == 1


@pytest.mark.parametrize("error", [ValueError("bug"), KeyboardInterrupt(), MemoryError()])
def test_whatever_is_raised_is_what_crewai_obeys(error: BaseException) -> None:
    """Anything else would be swallowed, and the tool would run."""

    def fail(_: Any) -> None:
        raise error

    with pytest.raises(HookAborted, match="not judged"):
        fail_closed(fail)(None)


async def test_a_block_that_fails_ends_its_sessions(stage: Stage) -> None:
    """With that reason."""

    def kick() -> None:
        with amplified(stage.hooks):
            make_crew([], Ran()).kickoff()  # the model has nothing to say

    with pytest.raises(Exception, match="pop from empty list"):
        await asyncio.to_thread(kick)
    assert [one["body"]["reason"] for one in stage.of_type("session_ended")] == ["error"]


async def test_what_is_left_of_a_crew_does_nothing_after_its_block(stage: Stage) -> None:
    """CrewAI goes on with a crew in its thread when nobody waits for it any more."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def think(_: object) -> str:
        loop.call_soon_threadsafe(asked.set)
        await asyncio.Event().wait()
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person(think)
    ran = Ran()

    async def kick() -> None:
        with amplified(stage.hooks):
            await make_crew(
                use(call("wipe", 1, path="/"), call("note", 2, text="a")), ran
            ).kickoff_async()

    waiting = asyncio.create_task(kick())
    await asyncio.wait_for(asked.wait(), 60)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ran.ran("wipe") == []
    assert [one["body"]["reason"] for one in stage.of_type("session_ended")] == ["user_exit"]


async def test_a_block_leaves_nothing_behind(stage: Stage) -> None:
    """The same crew runs without hooks afterwards."""
    stage.answer("provider:request", DENY)
    ran = Ran()
    crew = make_crew([DONE, DONE], ran)

    def kick() -> None:
        with amplified(stage.hooks), pytest.raises(HookAborted, match="against the rules"):
            crew.kickoff()
        ran.answer = crew.kickoff().raw

    await asyncio.to_thread(kick)
    assert ran.answer == DONE


def change(key: str, value: str) -> Any:
    """A hook's answer: another text."""
    return lambda data: HookResult(action="modify", data={**data, key: value})


async def kick(stage: Stage, crew: Crew, **inputs: Any) -> Any:
    """Kick it off behind hooks."""

    def work() -> Any:
        with amplified(stage.hooks):
            return crew.kickoff(inputs or None)

    return await asyncio.to_thread(work)


async def test_each_task_is_a_turn(stage: Stage) -> None:
    """With its own prompt and its own answer, in one session."""
    stage.listen("session:start", "prompt:submit", "prompt:answer", "session:end")
    ran = Ran()
    crew = make_crew(["One done.", "Two done."], ran, "Buy {what}.")
    second = Task(description="Eat it.", expected_output="done", agent=crew.agents[0])
    await kick(stage, Crew(agents=crew.agents, tasks=[*crew.tasks, second]), what="milk")
    turn = ["prompt:submit", "prompt:answer"]
    assert stage.heard.names == ["session:start", *turn, *turn, "session:end"]
    prompts = [data["prompt"] for name, data in stage.heard.events if name == "prompt:submit"]
    assert prompts == ["Buy milk.", "Eat it."]
    assert stage.heard.events[1][1]["metadata"]["agent"] == "worker"


async def test_a_changed_task_is_itself_again_afterwards(stage: Stage) -> None:
    """Also if the kickoff failed."""
    stage.answer("prompt:submit", change("prompt", "Buy oat milk."))
    ran = Ran()
    crew = make_crew([DONE], ran, "Buy milk.")
    await kick(stage, crew)
    assert "Buy oat milk." in ran.requests[0]
    assert crew.tasks[0].description == "Buy milk."
    with pytest.raises(Exception, match="pop from empty list"):
        await kick(stage, crew)
    assert crew.tasks[0].description == "Buy milk."


async def test_a_refused_task_stops_the_kickoff(stage: Stage) -> None:
    """The caller reads why."""
    stage.answer("prompt:submit", DENY)
    with pytest.raises(HookAborted, match="against the rules"):
        await kick(stage, make_crew([DONE], Ran()))
    assert [one["body"]["reason"] for one in stage.of_type("session_ended")] == ["error"]


class Form(BaseModel):
    """What a task is to fill in."""

    total: int


async def test_a_changed_output_keeps_its_form(stage: Stage) -> None:
    """One that does not fit the form stops the kickoff."""
    agent = make_agent("worker", ['{"total": 3}', '{"total": 3}'], Ran())
    about: dict[str, Any] = {"description": "Add.", "expected_output": "a form", "agent": agent}
    task = Task(**about, output_pydantic=Form)
    stage.answer("prompt:answer", change("response", '{"total": 4}'))
    output = await kick(stage, Crew(agents=[agent], tasks=[task]))
    assert output.pydantic == Form(total=4)
    assert output.tasks_output[0].messages == []
    other = Stage()
    other.answer("prompt:answer", change("response", "four"))
    with pytest.raises(HookAborted, match="not in its form"):
        await kick(other, Crew(agents=[agent], tasks=[task]))
    other.close()


async def test_a_denied_output_reaches_nobody(stage: Stage) -> None:
    """Neither the caller nor the task's callback."""
    seen: list[Any] = []
    stage.answer("prompt:answer", DENY)
    crew = make_crew([DONE], Ran())
    crew.tasks[0].callback = seen.append
    with pytest.raises(HookAborted, match="against the rules"):
        await kick(stage, crew)
    assert seen == []
