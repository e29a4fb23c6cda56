"""Questions that end a run with deferred tool requests, and their answers."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import DeferredToolRequests, DeferredToolResults, RunContext, UserError
from pydantic_ai.capabilities import HandleDeferredToolCalls

from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.pydantic_ai import AmplifierHooks, resume
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.pydantic_ai import PydanticAIDriver
from tests.adapters.stage import Stage, ask, call, use

build = PydanticAIDriver().build
WIPE = use(call("wipe", path="/tmp/x"))


def build_asking(stage: Stage, script: list[Step], ran: Ran, *more: Any) -> Any:
    """An agent whose questions are handed over."""
    both = [AmplifierHooks(stage.hooks, asks="interrupt"), *more]
    wanted = [str, DeferredToolRequests]
    return build(stage.hooks, script, ran, capabilities=both, output_type=wanted)


@pytest.mark.parametrize("second", ["Allow", "Deny"])
async def test_each_gate_of_a_call_is_asked_once(stage: Stage, second: str) -> None:
    """An answer to one question answers no other, also not a later one about the same call."""
    stage.answer("tool:pre", ask("First?"), name="first")
    stage.answer("tool:pre", ask("Second?"), name="second")
    ran, asked = Ran(), []
    agent = build_asking(stage, WIPE, ran)
    result = await agent.run("Do it.")
    while isinstance(result.output, DeferredToolRequests):
        question = result.output.metadata["call_1"]
        asked.append(question["prompt"])
        chosen = second if question["prompt"] == "Second?" else "Allow"
        results = resume(result.output, {"call_1": answer(question, chosen, by="ana")})
        result = await agent.run(
            message_history=result.all_messages(), deferred_tool_results=results
        )
    assert asked == ["First?", "Second?"]
    assert len(ran.calls) == (1 if second == "Allow" else 0)


async def test_what_the_agent_itself_defers_is_answered_beside_it(stage: Stage) -> None:
    """Hooks judge such a call when it is about to run."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("tool:pre")
    ran = Ran()
    script = use(call("wipe", 1, path="/tmp/x"), call("launch", 2))
    agent = build_asking(stage, script, ran)

    @agent.tool_plain(requires_approval=True)
    def launch() -> str:
        ran.calls.append(("launch", {}))
        return "launched"

    result = await agent.run("Do it.")
    assert {data["tool_name"] for _, data in stage.heard.events} == {"wipe"}
    requests = result.output
    assert {one.tool_call_id for one in requests.approvals} == {"call_1", "call_2"}
    answers = {"call_1": answer(requests.metadata["call_1"], "Allow")}
    await agent.run(
        message_history=result.all_messages(),
        deferred_tool_results=resume(requests, answers, approvals={"call_2": True}),
    )
    assert sorted(name for name, _ in ran.calls) == ["launch", "wipe"]
    assert "launch" in {data["tool_name"] for _, data in stage.heard.events}


async def test_a_yes_of_the_framework_alone_is_no_answer(stage: Stage) -> None:
    """The question comes again, because nobody said what was allowed."""
    stage.answer("tool:pre", ask())
    ran = Ran()
    agent = build_asking(stage, WIPE, ran)
    result = await agent.run("Do it.")
    approved = DeferredToolResults(approvals={"call_1": True})
    again = await agent.run(message_history=result.all_messages(), deferred_tool_results=approved)
    assert isinstance(again.output, DeferredToolRequests)
    assert ran.calls == []


async def test_a_handler_may_answer_within_the_run(stage: Stage) -> None:
    """A capability of the framework, which asks somebody elsewhere."""
    stage.answer("tool:pre", ask())

    async def handle(ctx: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults:
        shown = requests.metadata.items()
        return resume(requests, {one: answer(question, "Allow") for one, question in shown})

    ran = Ran()
    result = await build_asking(stage, WIPE, ran, HandleDeferredToolCalls(handle)).run("Do it.")
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]
    assert isinstance(result.output, str)


async def test_the_agent_has_to_be_able_to_pause(stage: Stage) -> None:
    """The framework says what is missing, and nothing runs."""
    stage.answer("tool:pre", ask())
    ran = Ran()
    asking = [AmplifierHooks(stage.hooks, asks="interrupt")]
    with pytest.raises(UserError, match="DeferredToolRequests"):
        await build(stage.hooks, WIPE, ran, capabilities=asking).run("Do it.")
    assert ran.calls == []


def test_an_answer_to_what_no_hook_asked_is_refused() -> None:
    """The message says what hooks asked about, and where the other answer belongs."""
    requests = DeferredToolRequests(metadata={"call_2": {"amplifier": "approval"}})
    with pytest.raises(ValueError, match=r"'call_1'.*\['call_2'\].*approvals= or calls="):
        resume(requests, {"call_1": {"option": "Allow", "digest": "0"}})
