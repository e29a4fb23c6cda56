"""Model objects whose calls pass the hooks."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

pytest.importorskip("crewai")

from crewai.hooks import HookAborted

from amplifier_core import HookResult
from amplifier_hooks.external.verdicts import ReplyVerdict
from amplifier_hooks.frameworks.crewai import amplified
from amplifier_hooks.frameworks.crewai.calls import (
    GovernedCall,
    finish,
    govern_model,
    is_being_judged,
)
from amplifier_hooks.frameworks.crewai.kickoffs import Kickoffs
from tests.adapters.drivers.crewai import ScriptedModel
from tests.adapters.drivers.driver import Ran
from tests.adapters.stage import DONE, Stage, call, use
from tests.hooks.frameworks.crewai.crews import make_agent, make_crew, make_text_crew


async def test_the_stored_conversation_stays_as_it_was(stage: Stage) -> None:
    """A change of one request is in that request only."""

    def hide(data: dict[str, Any]) -> HookResult:
        if data["iteration"] != 1:
            return HookResult()
        messages = [{**one, "content": "[hidden]"} for one in data["messages"]]
        return HookResult(action="modify", data={**data, "messages": messages})

    stage.answer("provider:request", hide)
    ran = Ran()

    def kick() -> None:
        with amplified(stage.hooks):
            make_crew(use(call("note", text="a")), ran, "Buy milk.").kickoff()

    await asyncio.to_thread(kick)
    assert "Buy milk." not in ran.requests[0]
    assert "Buy milk." in ran.requests[1]


async def test_a_model_that_agents_share_is_judged_for_each(stage: Stage) -> None:
    """By the agent that asks."""
    stage.listen("provider:request")
    ran = Ran()
    first, second = make_crew([DONE, DONE], ran), make_crew([], ran)
    second.agents[0].llm = first.agents[0].llm

    def kick() -> None:
        with amplified(stage.hooks):
            first.kickoff()
            second.kickoff()

    await asyncio.to_thread(kick)
    assert len({data["session_id"] for _, data in stage.heard.events}) == 2


async def test_a_model_without_function_calling_is_judged(stage: Stage) -> None:
    """It writes its calls as text, and hooks see that text."""
    stage.listen("provider:response", "tool:pre")
    ran = Ran()

    def kick() -> None:
        with amplified(stage.hooks):
            make_text_crew(use(call("note", text="a")), ran).kickoff()

    await asyncio.to_thread(kick)
    assert stage.heard.names == ["provider:response", "tool:pre", "provider:response"]
    assert "Action: note" in str(stage.heard.events[0][1]["response"])


async def test_a_copy_of_a_model_calls_itself(stage: Stage) -> None:
    """Not the one that it was copied from."""

    def work() -> None:
        kickoffs = Kickoffs(stage.hooks)
        first = ScriptedModel.make([DONE], Ran())
        assert govern_model(first, kickoffs)
        for made in (copy.copy(first), copy.deepcopy(first)):
            govern_model(made, kickoffs)
            found = made.__dict__["call"]
            assert isinstance(found, GovernedCall)
            assert found.llm is made

    await asyncio.to_thread(work)


async def test_a_model_is_governed_once(stage: Stage) -> None:
    """However often it is met."""

    def work() -> None:
        kickoffs, llm = Kickoffs(stage.hooks), ScriptedModel.make([DONE], Ran())
        govern_model(llm, kickoffs)
        found = llm.__dict__["call"]
        govern_model(llm, kickoffs)
        assert llm.__dict__["call"] is found
        assert not govern_model("gpt", kickoffs)
        assert not is_being_judged(llm)
        assert llm.call("Hi") == DONE  # outside of any kickoff: as without hooks
        assert "call" not in llm.model_dump()

    await asyncio.to_thread(work)
    assert stage.audit.records == []


def test_a_reply_that_cannot_be_used_stops_the_run() -> None:
    """Rather than the one that a hook wanted changed."""
    with pytest.raises(HookAborted, match="cannot be used"):
        finish([], ReplyVerdict(True, calls=[]))
    with pytest.raises(HookAborted, match="no"):
        finish("Done.", ReplyVerdict(False, "no"))
    answer = ["same"]
    assert finish(answer, ReplyVerdict(True)) is answer


async def test_hooks_see_what_the_model_used(stage: Stage) -> None:
    """The tokens of this call, not those of all calls of the object."""
    stage.listen("provider:response")

    class Counting(ScriptedModel):
        def call(self, messages: Any, *arguments: Any, **more: Any) -> Any:
            counts = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
            self._track_token_usage_internal(counts)
            return super().call(messages, *arguments, **more)

    ran = Ran()
    crew = make_crew([], ran)
    crew.agents[0].llm = Counting.make(use(call("note", text="a")), ran)

    def kick() -> None:
        with amplified(stage.hooks):
            crew.kickoff()

    await asyncio.to_thread(kick)
    assert [data["usage"]["total_tokens"] for _, data in stage.heard.events] == [12, 12]


async def test_agents_without_a_crew_have_a_session_each(stage: Stage) -> None:
    """Their models are governed when they are first used."""
    stage.listen("provider:request", "provider:response")
    ran = Ran()

    def kick() -> None:
        with amplified(stage.hooks):
            for name in ("one", "two"):
                make_agent(name, [DONE], ran).kickoff("Hi")

    await asyncio.to_thread(kick)
    assert stage.heard.names == ["provider:request", "provider:response"] * 2
    assert len({data["session_id"] for _, data in stage.heard.events}) == 2
