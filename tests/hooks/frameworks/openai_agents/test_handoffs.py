"""Hand-offs: judged like tool calls, and the agent that takes over is governed."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, Handoff, Runner, UserError, handoff

from amplifier_core import HookResult
from amplifier_hooks.frameworks.openai_agents import runner as amplify
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.openai_agents import CONFIG, make_model, make_tools, read_requests
from tests.adapters.stage import DONE, Stage, ask, call, change_output, use

DENY = HookResult(action="deny", reason="stay here")
TRANSFER = "transfer_to_billing"


class Pair:
    """An agent that hands off to another one, which wipes something."""

    def __init__(self, *, plain: bool = True) -> None:
        self.ran = Ran()
        self.model = make_model([[call(TRANSFER, 1)], DONE])
        self.other_model = make_model(use(call("wipe", 2, path="/tmp/x")))
        self.other = Agent("billing", tools=make_tools(self.ran), model=self.other_model)
        made: Any = self.other if plain else handoff(self.other)
        self.agent = Agent("agent", model=self.model, handoffs=[made])

    async def run(self, stage: Stage) -> Any:
        amplify(self.agent, stage.hooks)
        return await Runner.run(self.agent, "Go.", run_config=CONFIG)


@pytest.mark.parametrize("plain", [True, False])
async def test_the_next_agent_is_governed_in_the_same_session(stage: Stage, plain: bool) -> None:
    """Its tools and its model; the hand-off itself is a call that hooks see."""
    stage.listen("session:start", "tool:pre", "agent:spawn", "provider:request")
    pair = Pair(plain=plain)
    result = await pair.run(stage)
    assert result.last_agent is pair.other
    assert pair.ran.ran("wipe") == [{"path": "/tmp/x"}]
    heard = [(name, data.get("tool_name")) for name, data in stage.heard.events]
    assert heard == [
        ("session:start", None),
        ("provider:request", None),
        ("tool:pre", TRANSFER),
        ("agent:spawn", None),
        ("provider:request", None),
        ("tool:pre", "wipe"),
        ("provider:request", None),
    ]
    assert len({data["session_id"] for _, data in stage.heard.events}) == 1


@pytest.mark.parametrize("event", ["tool:pre", "agent:spawn"])
@pytest.mark.parametrize("plain", [True, False])
async def test_a_denied_handoff_stays_with_the_agent(stage: Stage, event: str, plain: bool) -> None:
    """The model reads why, and goes on."""
    stage.answer(event, DENY)
    pair = Pair(plain=plain)
    result = await pair.run(stage)
    assert result.last_agent is pair.agent
    assert result.final_output == DONE
    assert "stay here" in read_requests(pair.model)[-1]
    assert pair.other_model.calls == ()


async def test_a_person_is_asked_about_a_handoff(stage: Stage) -> None:
    """As about any call."""
    stage.answer("tool:pre", ask("Hand over?"), tool=TRANSFER)
    stage.ask_person("Deny")
    pair = Pair()
    result = await pair.run(stage)
    assert stage.person.prompts == ["Hand over?"]
    assert result.last_agent is pair.agent


async def test_the_words_of_a_handoff_can_be_changed(stage: Stage) -> None:
    """The next agent reads what a hook left."""
    stage.answer("tool:post", change_output("Over to billing."), tool=TRANSFER)
    pair = Pair()
    result = await pair.run(stage)
    assert result.last_agent is pair.other
    assert "Over to billing." in read_requests(pair.other_model)[0]


async def test_another_agent_cannot_be_chosen(stage: Stage) -> None:
    """The SDK has chosen it: a change is a no, and the table says so."""

    def choose(data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "agent_name": "boss"})

    stage.answer("agent:spawn", choose)
    pair = Pair()
    result = await pair.run(stage)
    assert result.last_agent is pair.agent
    assert "the SDK has chosen the agent" in read_requests(pair.model)[-1]


async def test_an_agent_that_is_made_at_the_handoff_is_governed(stage: Stage) -> None:
    """Whoever makes it."""
    pair = Pair()

    async def make(context: Any, given: str) -> Agent[Any]:
        return pair.other

    made: Any = Handoff(TRANSFER, "Bills.", {}, make, "billing")
    pair.agent.handoffs = [made]
    stage.answer("tool:pre", DENY, tool="wipe")
    result = await pair.run(stage)
    assert result.last_agent is pair.other
    assert pair.ran.calls == []


async def test_handoffs_of_other_agents_are_as_ever(stage: Stage) -> None:
    """Also by an object that a governed agent has had."""
    free, other = make_model([[call(TRANSFER, 1)]]), Agent("billing", model=make_model([DONE]))

    async def choose(context: Any, given: str) -> Agent[Any]:
        return other

    made: Any = Handoff(TRANSFER, "Bills.", {}, choose, "billing")
    amplify(Agent("governed", handoffs=[made]), stage.hooks)
    stage.answer("tool:pre", DENY, tool=TRANSFER)
    result = await Runner.run(Agent("free", model=free, handoffs=[made]), "Go.", run_config=CONFIG)
    assert result.last_agent is other


async def test_a_governed_agent_does_not_take_over_without_its_hooks(stage: Stage) -> None:
    """From an agent that is not governed: the run is aborted before its model is asked."""
    pair = Pair()
    amplify(pair.other, stage.hooks)
    with pytest.raises(UserError, match="'billing' is governed, but this run of it is not"):
        await Runner.run(pair.agent, "Go.", run_config=CONFIG)
    assert pair.other_model.calls == ()
    assert pair.ran.calls == []
