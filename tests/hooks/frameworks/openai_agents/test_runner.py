"""The runner: prompts, sessions of ours, streams, and runs inside of runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    InputGuardrailTripwireTriggered,
    Runner,
    SQLiteSession,
    UserError,
    function_tool,
    set_tracing_disabled,
)
from agents.run import AgentRunner
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from amplifier_core import HookResult
from amplifier_hooks.frameworks.openai_agents import PromptDenied, amplify
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.openai_agents import CONFIG, make_model, make_tools, read_requests
from tests.adapters.stage import DONE, Stage, call, use

DENY = HookResult(action="deny", reason="against the rules")


async def test_a_denied_prompt_is_raised_as_a_guardrail(stage: Stage) -> None:
    """Programs that know guardrails of the SDK handle it as one."""
    stage.answer("prompt:submit", DENY)
    session = SQLiteSession("one")
    agent = amplify(Agent("agent", model=make_model([DONE])), stage.hooks)
    with pytest.raises(InputGuardrailTripwireTriggered, match="against the rules") as raised:
        await Runner.run(agent, "My PIN is 4711.", session=session, run_config=CONFIG)
    assert isinstance(raised.value, PromptDenied)
    assert "against the rules" in raised.value.guardrail_result.output.output_info
    assert await session.get_items() == []
    session.close()


async def test_a_changed_prompt_is_what_the_sdk_keeps(stage: Stage) -> None:
    """In its session, and in the input of the result."""
    stage.answer(
        "prompt:submit",
        lambda data: HookResult(action="modify", data={**data, "prompt": "My PIN is secret."}),
    )
    session = SQLiteSession("one")
    agent = amplify(Agent("agent", model=make_model([DONE])), stage.hooks)
    result = await Runner.run(agent, "My PIN is 4711.", session=session, run_config=CONFIG)
    kept = str(await session.get_items()) + str(result.to_input_list())
    assert "4711" not in kept
    assert "secret" in kept
    session.close()


async def test_another_runner_does_not_run_governed_agents(stage: Stage) -> None:
    """It would run them without their hooks."""
    model = make_model([DONE])
    agent = amplify(Agent("agent", model=model), stage.hooks)
    with pytest.raises(UserError, match="with another runner"):
        await AgentRunner().run(agent, "Go.", run_config=CONFIG)
    assert model.calls == ()


async def test_runs_without_a_configuration(stage: Stage) -> None:
    """The provider that we make is closed by us."""
    set_tracing_disabled(True)
    agent = amplify(Agent("agent", model=make_model([DONE, DONE])), stage.hooks)
    for config in (None, {"tracing_disabled": True}):
        result = await Runner.run(agent, "Go.", run_config=config)
        assert result.final_output == DONE


# Runs inside of runs


async def test_an_agent_that_a_tool_runs_is_a_sub_agent(stage: Stage) -> None:
    """Nobody has to govern it: it gets the hooks of the agent whose tool runs it."""
    ran = Ran()
    helper_model = make_model(use(call("wipe", 7, path="/")))
    helper = Agent("helper", tools=make_tools(ran), model=helper_model)

    @function_tool
    async def delegate(task: str) -> str:
        return str((await Runner.run(helper, task, run_config=CONFIG)).final_output)

    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("session:fork", "agent:spawn", "agent:complete", "prompt:submit")
    model = make_model(use(call("delegate", task="Clean up.")))
    await Runner.run(
        amplify(Agent("agent", tools=[delegate], model=model), stage.hooks),
        "Go.",
        run_config=CONFIG,
    )
    assert ran.calls == []
    assert "against the rules" in read_requests(helper_model)[-1]
    assert stage.heard.names == [
        "prompt:submit",
        "agent:spawn",
        "session:fork",
        "prompt:submit",
        "agent:complete",
    ]
    spawned = stage.heard.events[1][1]
    assert (spawned["agent_name"], spawned["task"]) == ("helper", "Clean up.")


async def test_a_sub_agent_that_is_denied_does_not_start(stage: Stage) -> None:
    """The model of the outer agent reads why."""
    stage.answer("agent:spawn", DENY)
    helper_model, model = make_model([DONE]), make_model(use(call("helper", input="Clean up.")))
    helper = Agent("helper", model=helper_model)
    agent = Agent("agent", tools=[helper.as_tool("helper", "Helps.")], model=model)
    result = await Runner.run(amplify(agent, stage.hooks), "Go.", run_config=CONFIG)
    assert result.final_output == DONE
    assert helper_model.calls == ()
    assert "against the rules" in read_requests(model)[-1]


async def test_a_sub_agent_in_a_thread(stage: Stage) -> None:
    """A tool that is no coroutine runs its agent in the thread that it was called in."""
    ran = Ran()
    helper_model = make_model(use(call("wipe", 7, path="/")))
    helper = Agent("helper", tools=make_tools(ran), model=helper_model)

    @function_tool
    def delegate(task: str) -> str:
        with asyncio.Runner() as runner:
            work = Runner.run(helper, task, run_config=CONFIG)
            return str(runner.run(work).final_output)

    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("session:start", "session:end")
    model = make_model(use(call("delegate", task="Clean up.")))
    agent = amplify(Agent("agent", tools=[delegate], model=model), stage.hooks)
    result = await Runner.run(agent, "Go.", run_config=CONFIG)
    assert result.final_output == DONE
    assert ran.calls == []
    assert stage.heard.names == ["session:start", "session:start", "session:end", "session:end"]


async def test_runs_of_one_agent_do_not_hear_one_another(stage: Stage) -> None:
    """At the same time: what a hook says in one is in that one only."""

    def tell(data: dict[str, Any]) -> HookResult:
        text = f"<<{data['tool_input']['text']}>>"
        return HookResult(action="inject_context", context_injection=text)

    def reply(asked: Any) -> Any:
        texts = [str(one.get("content")) for one in asked.input if "role" in one]
        if len(asked.input) > 1:
            return [assistant_message(" ".join(texts))]
        return [function_call("note", {"text": texts[0]}, call_id="call_1")]

    stage.answer("tool:post", tell)
    model = ScriptedModel([ModelStep.respond(reply) for _ in range(40)])
    agent = amplify(Agent("agent", tools=make_tools(Ran()), model=model), stage.hooks)
    work = (Runner.run(agent, f"n{number}", run_config=CONFIG) for number in range(20))
    for number, result in enumerate(await asyncio.gather(*work)):
        assert result.final_output.count("<<") == 1
        assert f"<<n{number}>>" in result.final_output
