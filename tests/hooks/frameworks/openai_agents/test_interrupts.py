"""Questions as interruptions of the SDK: asked, answered, stored, and bound to what runs."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, Runner, RunResult, RunState, ToolInputGuardrail, function_tool
from agents.testing import ScriptedModel
from agents.tool_guardrails import ToolGuardrailFunctionOutput

from amplifier_core import HookResult
from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.openai_agents import amplify, questions, settle
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.openai_agents import CONFIG, make_model, make_tools, read_requests
from tests.adapters.stage import DONE, Stage, ask, call, change_input, use

WIPE = call("wipe", 2, path="/tmp/x")


class Bench:
    """An agent whose questions are interruptions."""

    def __init__(self, stage: Stage, script: list[Step], *tools: Any) -> None:
        self.ran = Ran()
        self.model: ScriptedModel = make_model(script)
        self.agent = Agent("agent", tools=[*make_tools(self.ran), *tools], model=self.model)
        amplify(self.agent, stage.hooks, asks="interrupt")

    async def run(self, given: Any = "Go.") -> RunResult:
        """Run it, or go on with it."""
        return await Runner.run(self.agent, given, run_config=CONFIG)

    @property
    def last(self) -> str:
        """What the model was sent last."""
        return read_requests(self.model)[-1]


def decide(result: RunResult, option: str = "Allow") -> RunState[Any]:
    """Answer each question with the same."""
    state = result.to_state()
    for item, payload in questions(result):
        settle(state, item, answer(payload, option, by="ana"))
    return state


async def test_a_question_is_an_interruption(stage: Stage) -> None:
    """With what a person needs to see; other calls have run."""
    stage.answer("tool:pre", ask("Really?"), tool="wipe")
    bench = Bench(stage, use(call("note", 1, text="a"), WIPE))
    result = await bench.run()
    [(item, payload)] = questions(result)
    assert item.tool_name == "wipe"
    assert (payload["prompt"], payload["tool_input"]) == ("Really?", {"path": "/tmp/x"})
    assert bench.ran.calls == [("note", {"text": "a"})]
    assert (await bench.run(decide(result))).final_output == DONE
    assert bench.ran.ran("note") == [{"text": "a"}]
    assert bench.ran.ran("wipe") == [{"path": "/tmp/x"}]


async def test_each_hook_judges_a_call_once(stage: Stage) -> None:
    """A call that nobody is asked about is judged before the SDK runs it, and not again."""
    stage.listen("tool:pre", "tool:post")
    bench = Bench(stage, use(call("note", 1, text="a"), call("note", 2, text="b")))
    await bench.run()
    assert sorted(stage.heard.names) == ["tool:post", "tool:post", "tool:pre", "tool:pre"]


async def test_a_state_that_was_stored_goes_on(stage: Stage) -> None:
    """In another process, say: with the answer to what was shown in the first one."""
    stage.answer("tool:pre", ask(), tool="wipe")
    bench = Bench(stage, use(WIPE))
    result = await bench.run()
    payload = questions(result)[0][1]
    text = result.to_state().to_string()
    state: RunState[Any] = await RunState.from_string(bench.agent, text)
    [item] = state.get_interruptions()
    settle(state, item, answer(payload, "Allow", by="ana"))
    assert (await bench.run(state)).final_output == DONE
    assert bench.ran.calls == [("wipe", {"path": "/tmp/x"})]
    assert stage.of_type("approval_decided")[-1]["body"]["by"] == "ana"


async def test_the_sdks_own_approval_counts_for_what_it_has_shown(stage: Stage) -> None:
    """An application that knows nothing of us approves as ever."""
    stage.answer("tool:pre", ask(), tool="wipe")
    bench = Bench(stage, use(WIPE))
    result = await bench.run()
    state = result.to_state()
    state.approve(result.interruptions[0])
    assert (await bench.run(state)).final_output == DONE
    assert bench.ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_the_sdks_own_approval_does_not_count_for_anything_else(stage: Stage) -> None:
    """It shows what the model wanted, not what a hook made of it."""
    stage.answer("tool:pre", change_input(path="/"), tool="wipe", name="changer", priority=-5)
    stage.answer("tool:pre", ask(), tool="wipe")
    bench = Bench(stage, use(WIPE))
    result = await bench.run()
    assert questions(result)[0][1]["tool_input"] == {"path": "/"}
    state = result.to_state()
    state.approve(result.interruptions[0])
    await bench.run(state)
    assert bench.ran.calls == []
    assert "its question was not put to anybody" in bench.last


async def test_the_sdks_own_refusal_is_one(stage: Stage) -> None:
    """Nothing runs, and the model reads the SDK's words."""
    stage.answer("tool:pre", ask(), tool="wipe")
    bench = Bench(stage, use(WIPE))
    result = await bench.run()
    state = result.to_state()
    state.reject(result.interruptions[0], rejection_message="use the trash")
    await bench.run(state)
    assert bench.ran.calls == []
    assert "use the trash" in bench.last


async def test_always_of_the_sdk_does_not_answer_the_next_question(stage: Stage) -> None:
    """Our gates ask about each call; the next one is refused, and the model reads why."""
    stage.answer("tool:pre", ask(), tool="wipe")
    bench = Bench(stage, [[WIPE], [call("wipe", 3, path="/etc")], DONE])
    result = await bench.run()
    state = result.to_state()
    state.approve(result.interruptions[0], always_approve=True)
    await bench.run(state)
    assert bench.ran.ran("wipe") == [{"path": "/tmp/x"}]
    assert "its question was not put to anybody" in bench.last


async def test_a_second_question_about_a_call_is_refused(stage: Stage) -> None:
    """The SDK interrupts a call once."""
    stage.answer("tool:pre", ask("First?"), tool="wipe", name="first")
    stage.answer("tool:pre", ask("Second?"), tool="wipe", name="second")
    bench = Bench(stage, use(WIPE))
    await bench.run(decide(await bench.run()))
    assert bench.ran.calls == []
    assert 'use asks="inline"' in bench.last.replace("\\", "")


async def test_a_denied_call_is_no_interruption(stage: Stage) -> None:
    """The model reads why, in the same run."""
    stage.answer("tool:pre", HookResult(action="deny", reason="never"), tool="wipe")
    bench = Bench(stage, use(WIPE))
    result = await bench.run()
    assert (result.final_output, bench.ran.calls) == (DONE, [])
    assert "never" in bench.last


async def test_a_stream_is_interrupted(stage: Stage) -> None:
    """And goes on as a stream."""
    stage.answer("tool:pre", ask(), tool="wipe")
    bench = Bench(stage, use(WIPE))
    given: Any = "Go."
    for _ in range(2):
        result: Any = Runner.run_streamed(bench.agent, given, run_config=CONFIG)
        async for _ in result.stream_events():
            pass
        given = decide(result)
    assert result.final_output == DONE
    assert bench.ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_a_question_in_a_sub_agent_interrupts_the_whole_run(stage: Stage) -> None:
    """The application asks and goes on at the top."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    helper = Agent(
        "helper", tools=make_tools(ran), model=make_model(use(call("wipe", 7, path="/")))
    )
    tool = helper.as_tool("helper", "Helps.")
    bench = Bench(stage, use(call("helper", 1, input="Clean up.")), tool)
    result = await bench.run()
    [(item, payload)] = questions(result)
    assert (item.tool_name, payload["tool_call_id"]) == ("wipe", "call_7")
    result = await bench.run(decide(result))
    assert result.final_output == DONE
    assert ran.ran("wipe") == [{"path": "/"}]


async def test_a_tool_with_defaults_interrupts_nothing(stage: Stage) -> None:
    """The SDK asks about arguments that it cannot inspect, for rules of the application only."""

    @function_tool
    def greet(whom: str = "you") -> str:
        return f"hello {whom}"

    bench = Bench(stage, use(call("greet")), greet)
    result = await bench.run()
    assert result.final_output == DONE
    assert "hello you" in bench.last


@pytest.mark.parametrize("rule", [True, lambda *_: True])
async def test_a_rule_of_the_application_stays_one(stage: Stage, rule: Any) -> None:
    """Its interruption is none of ours; once it is approved, hooks judge the call."""

    @function_tool(needs_approval=rule)
    def greet(whom: str) -> str:
        return f"hello {whom}"

    stage.listen("tool:pre")
    bench = Bench(stage, use(call("greet", whom="ana")), greet)
    result = await bench.run()
    assert len(result.interruptions) == 1
    assert questions(result) == []
    assert stage.heard.names == []
    state = result.to_state()
    state.approve(result.interruptions[0])
    await bench.run(state)
    assert "hello ana" in bench.last
    assert stage.heard.names == ["tool:pre"]


async def test_arguments_that_the_sdk_cannot_inspect_need_its_approval(stage: Stage) -> None:
    """With a rule that is a function, as with the SDK alone."""

    @function_tool(needs_approval=_never)
    def greet(whom: str = "you") -> str:
        return f"hello {whom}"

    result = await Bench(stage, use(call("greet")), greet).run()
    assert len(result.interruptions) == 1


async def _never(*_: Any) -> bool:
    return False


async def test_more_calls_than_may_run_at_once(stage: Stage) -> None:
    """Those that wait, judged, hold up nobody."""
    bench = Bench(stage, use(*(call("note", number, text=str(number)) for number in range(60))))
    result = await bench.run()
    assert result.final_output == DONE
    assert len(bench.ran.calls) == 60


async def test_a_call_that_was_judged_and_never_run_is_ended(stage: Stage) -> None:
    """Such as one that a guardrail of the SDK rejects afterwards."""

    async def reject(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.reject_content("not with me")

    ran: list[str] = []

    @function_tool(tool_input_guardrails=[ToolInputGuardrail(reject)])
    def greet(whom: str) -> str:
        ran.append(whom)
        return whom

    bench = Bench(stage, use(call("greet", whom="ana")), greet)
    assert (await bench.run()).final_output == DONE
    assert ran == []
    assert [one["body"]["outcome"] for one in stage.of_type("tool_finished")] == ["cancelled"]
