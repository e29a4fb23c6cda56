"""The runner, and what attaches it."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    ModelRefusalError,
    RunContextWrapper,
    Runner,
    SQLiteSession,
    UserError,
    function_tool,
    handoff,
    set_tracing_disabled,
)
from agents.run import AgentRunner, get_default_agent_runner
from agents.run_internal.agent_tool_configuration import agent_tool_configuration_run
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from pydantic import BaseModel

from amplifier_core import HookRegistry, HookResult
from amplifier_hooks.frameworks.openai_agents import PromptDenied, amplify, coverage
from amplifier_hooks.frameworks.openai_agents.runner import GovernedRunner
from amplifier_hooks.frameworks.openai_agents.turn import Turn, check_turn, current, find_board
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


def test_the_agent_stays_the_same_object(stage: Stage) -> None:
    """Programs that hold it have the governed one."""
    agent = Agent("agent")
    assert amplify(agent, stage.hooks) is agent
    assert isinstance(agent, Agent)
    assert type(agent).__name__ == "Agent"


def test_the_runner_is_put_in_place_once(stage: Stage) -> None:
    """However many agents are governed."""
    amplify(Agent("one"), stage.hooks)
    first = get_default_agent_runner()
    amplify(Agent("two"), stage.hooks)
    assert isinstance(first, GovernedRunner)
    assert get_default_agent_runner() is first


def test_the_same_hooks_twice_are_the_same_hooks(stage: Stage) -> None:
    """Governing an agent again changes nothing."""
    hooks, agent = stage.hooks, Agent("agent")
    kind = type(amplify(agent, hooks))
    assert type(amplify(agent, hooks)) is kind


def test_other_hooks_are_refused(stage: Stage) -> None:
    """Silently, one of the two would not be called."""
    agent = amplify(Agent("agent"), stage.hooks)
    with pytest.raises(UserError, match="'agent' is governed by other hooks already"):
        amplify(agent, HookRegistry())
    with pytest.raises(UserError, match="with the same asks="):
        amplify(Agent("other", handoffs=[agent]), stage.hooks)


@pytest.mark.parametrize("wrong", ["agent", None, Agent])
def test_only_agents_are_governed(wrong: Any, stage: Stage) -> None:
    """Whatever else is given is named."""
    with pytest.raises(TypeError, match=type(wrong).__name__):
        amplify(wrong, stage.hooks)


def test_there_are_two_ways_to_ask(stage: Stage) -> None:
    """Inline and by interruptions."""
    with pytest.raises(ValueError, match="'inline' or 'interrupt', got 'later'"):
        amplify(Agent("agent"), stage.hooks, asks="later")  # type: ignore[arg-type]
    assert coverage().asking == ("inline", "interrupt")


async def test_a_registry_is_enough() -> None:
    """Nothing else has to be made first."""
    registry, ran = HookRegistry(), Ran()

    @registry.register("tool:pre")
    async def refuse(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="not here")

    model = make_model(use(call("wipe", path="/")))
    agent = amplify(Agent("agent", tools=make_tools(ran), model=model), registry)
    await Runner.run(agent, "Go.", run_config=CONFIG)
    assert ran.calls == []


class Total(BaseModel):
    """The output of an agent with an output type."""

    total: int


def say(text: str) -> Any:
    """A hook's answer: another answer."""
    return lambda data: HookResult(action="modify", data={**data, "response": text})


async def test_a_tool_result_that_is_the_answer_is_judged(stage: Stage) -> None:
    """With tool_use_behavior, no reply of the model is the answer."""
    stage.listen("prompt:answer")
    stage.answer("prompt:answer", say("noted [removed]"))
    agent = Agent(
        "agent",
        tools=make_tools(Ran()),
        model=make_model(use(call("note", text="4711"))),
        tool_use_behavior="stop_on_first_tool",
    )
    result = await Runner.run(amplify(agent, stage.hooks), "Go.", run_config=CONFIG)
    assert result.final_output == "noted [removed]"
    assert len(stage.heard.events) == 1


async def test_an_answer_that_is_no_text_is_kept_or_refused(stage: Stage) -> None:
    """A value of the application's own cannot be made of a text."""

    @function_tool
    def count() -> Total:
        return Total(total=7)

    stage.listen("prompt:answer")
    stage.answer("prompt:answer", say('{"total": 8}'))
    agent = Agent(
        "agent",
        tools=[count],
        model=make_model(use(call("count"))),
        output_type=Total,
        tool_use_behavior="stop_on_first_tool",
    )
    with pytest.raises(ModelRefusalError):
        await Runner.run(amplify(agent, stage.hooks), "Go.", run_config=CONFIG)
    assert stage.heard.events[0][1]["response"] == '{"total": 8}'


async def test_what_an_error_handler_says_is_judged(stage: Stage) -> None:
    """It goes out as any answer does."""
    stage.answer("prompt:answer", say("[removed]"))
    agent = Agent(
        "agent",
        tools=make_tools(Ran()),
        model=make_model([[call("note", 1, text="a")], [call("note", 2, text="b")], DONE]),
    )
    result = await Runner.run(
        amplify(agent, stage.hooks),
        "Go.",
        max_turns=1,
        run_config=CONFIG,
        error_handlers={"max_turns": lambda _: "It took too long."},
    )
    assert result.final_output == "[removed]"


async def test_a_run_that_raises_ends_its_session(stage: Stage) -> None:
    """With the reason that it is one."""
    stage.listen("session:end")
    agent = Agent("agent", tools=make_tools(Ran()), model=make_model(use(call("note", text="a"))))
    with pytest.raises(MaxTurnsExceeded):
        await Runner.run(amplify(agent, stage.hooks), "Go.", max_turns=1, run_config=CONFIG)
    assert [data["reason"] for _, data in stage.heard.events] == ["error"]


def make_turn(outer: Turn | None = None) -> Turn:
    """A turn without a session."""
    nothing = cast(Any, None)
    return Turn(nothing, nothing, outer)


def test_a_turn_knows_those_around_it() -> None:
    """From the inside to the outside."""
    outer = make_turn()
    middle = make_turn(outer)
    inner = make_turn(middle)
    assert list(inner.up()) == [inner, middle, outer]


def test_only_governed_agents_have_a_board(stage: Stage) -> None:
    """Whatever else is asked about has none."""
    assert find_board(amplify(Agent("agent"), stage.hooks)) is not None
    for other in (Agent("free"), None, "agent"):
        assert find_board(other) is None


def test_a_run_without_a_turn_is_refused() -> None:
    """It is the SDK that runs the agent, and nobody has opened a session."""
    agent = Agent("agent")
    check_turn(agent)
    with agent_tool_configuration_run(agent):
        with pytest.raises(UserError, match="'agent' is governed, but this run of it is not"):
            check_turn(agent)
        token = current.set(make_turn())
        check_turn(agent)
        current.reset(token)


def test_agents_behind_agents_are_governed(stage: Stage) -> None:
    """As tools, as hand-offs, as hand-offs of tools, and in a circle."""
    deep = Agent("deep")
    inner = Agent("inner", handoffs=[deep])
    other = Agent("other", tools=[inner.as_tool("inner", "Helps.")])
    last = Agent("last")
    agent = Agent("agent", handoffs=[handoff(other), last])
    deep.handoffs.append(agent)
    amplify(agent, stage.hooks)
    boards = {find_board(one) for one in (agent, other, inner, deep, last)}
    assert boards == {find_board(agent)}
    assert None not in boards


def test_agents_that_are_not_reached_are_left_alone(stage: Stage) -> None:
    """One that knows the governed one is not governed by it."""
    agent = Agent("agent")
    above = Agent("above", handoffs=[agent])
    amplify(agent, stage.hooks)
    assert find_board(above) is None


def test_what_an_agent_has_stays_what_it_was(stage: Stage) -> None:
    """Outside of a run, tools, model and hand-offs are the very objects."""
    tools, model, other = make_tools(Ran()), make_model([]), Agent("other")
    agent = Agent("agent", tools=list(tools), model=model, handoffs=[other])
    amplify(agent, stage.hooks)
    assert agent.model is model
    assert all(one is two for one, two in zip(agent.tools, tools, strict=True))
    assert agent.handoffs[0] is other


async def test_all_tools_are_the_same_objects(stage: Stage) -> None:
    """The SDK compares them by identity."""
    tools = make_tools(Ran())
    agent = amplify(Agent("agent", tools=list(tools)), stage.hooks)
    found = await agent.get_all_tools(RunContextWrapper(None))
    assert all(one is two for one, two in zip(found, tools, strict=True))


async def test_a_clone_is_governed(stage: Stage) -> None:
    """With tools of its own, too."""
    ran = Ran()
    stage.listen("tool:pre")
    agent = amplify(Agent("agent", model="gpt-x"), stage.hooks)
    clone = agent.clone(
        name="clone", tools=make_tools(ran), model=make_model(use(call("note", text="a")))
    )
    assert find_board(clone) is find_board(agent)
    await Runner.run(clone, "Go.", run_config=CONFIG)
    assert ran.calls == [("note", {"text": "a"})]
    assert stage.heard.names == ["tool:pre"]


async def test_a_tool_that_comes_later_is_governed(stage: Stage) -> None:
    """Tools are looked at each time that the SDK asks for them."""
    ran = Ran()
    stage.listen("tool:pre", "provider:request")

    @function_tool
    def grow() -> str:
        agent.tools.extend(make_tools(ran))
        return "grown"

    model = make_model([[call("grow", 1)], [call("note", 2, text="a")], DONE])
    agent = amplify(Agent("agent", tools=[grow]), stage.hooks)
    agent.model = model
    await Runner.run(agent, "Go.", run_config=CONFIG)
    heard = [data["tool_name"] for name, data in stage.heard.events if name == "tool:pre"]
    assert heard == ["grow", "note"]
    assert stage.heard.names.count("provider:request") == 3


async def test_other_agents_have_no_hooks(stage: Stage) -> None:
    """Also with a tool that a governed agent has."""
    ran, stage.person = Ran(), None
    tools = make_tools(ran)
    stage.listen("session:start", "tool:pre", "provider:request")
    amplify(Agent("agent", tools=tools), stage.hooks)
    free = Agent("free", tools=tools, model=make_model(use(call("note", text="a"))))
    result = await Runner.run(free, "Go.", run_config=CONFIG)
    assert result.final_output == DONE
    assert ran.calls == [("note", {"text": "a"})]
    assert stage.heard.names == []


def test_equal_agents_stay_equal(stage: Stage) -> None:
    """The SDK's agents are compared by what they have."""
    hooks = stage.hooks
    assert amplify(Agent("agent"), hooks) == amplify(Agent("agent"), hooks)
    assert amplify(Agent("agent"), hooks) != amplify(Agent("other"), hooks)
