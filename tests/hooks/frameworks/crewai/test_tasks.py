"""Kickoffs and their tasks: one session, a turn for each task."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("crewai")

from crewai import Crew, Task
from crewai.hooks import HookAborted
from pydantic import BaseModel

from amplifier_core import HookResult
from amplifier_hooks.frameworks.crewai import amplified
from tests.adapters.drivers.driver import Ran
from tests.adapters.stage import DONE, Stage
from tests.hooks.frameworks.crewai.crews import make_agent, make_crew

DENY = HookResult(action="deny", reason="against the rules")


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
