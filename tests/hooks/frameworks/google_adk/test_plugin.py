"""The plugin of a runner, and its invocations."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent, ParallelAgent, SequentialAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events.event import Event
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.genai import types

from amplifier_core import HookResult
from amplifier_hooks.coverage import GOOGLE_ADK
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks.google_adk import AmplifierPlugin
from amplifier_hooks.frameworks.google_adk.plugin import WITHHELD, Invocations
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.google_adk import ScriptedLlm, _Agent, _ask, make_tools
from tests.adapters.stage import DONE, Stage, ask, call, change_input, use

DENY = HookResult(action="deny", reason="against the rules")


def make_agent(ran: Ran, script: list[Step], name: str = "agent", **more: Any) -> LlmAgent:
    """An agent with the usual tools."""
    model = ScriptedLlm(model="scripted-1", script=list(script))
    model.requests = ran.requests
    return LlmAgent(name=name, model=model, tools=make_tools(ran), **more)


def make_runner(agent: Any, *plugins: BasePlugin) -> InMemoryRunner:
    """A runner that creates the session it is asked for."""
    runner = InMemoryRunner(agent=agent, plugins=list(plugins))
    runner.auto_create_session = True
    return runner


async def work(
    runner: InMemoryRunner, prompt: str = "Do it.", config: RunConfig | None = None
) -> list[Event]:
    """A turn of the conversation."""
    message = types.Content(role="user", parts=[types.Part(text=prompt)])
    found = runner.run_async(user_id="u", session_id="s", new_message=message, run_config=config)
    return [event async for event in found]


def read_texts(events: list[Event]) -> list[str]:
    """What the caller reads."""
    parts = (part for event in events for part in (event.content.parts if event.content else []))
    return [part.text for part in parts if part.text]


async def test_a_denied_prompt_is_in_no_later_request(stage: Stage) -> None:
    """The framework keeps every message, so a refused one is replaced before that."""
    stage.answer("prompt:submit", lambda data: DENY if "4711" in data["prompt"] else HookResult())
    ran = Ran()
    runner = make_runner(make_agent(ran, [DONE]), AmplifierPlugin(stage.hooks))
    refused = await work(runner, "My PIN is 4711.")
    assert "against the rules" in read_texts(refused)[-1]
    assert read_texts(await work(runner, "Hello.")) == [DONE]
    assert "4711" not in ran.requests[0]
    assert WITHHELD in ran.requests[0]


async def test_a_refused_start_ends_the_run(stage: Stage) -> None:
    """Nothing of a run happens that a hook does not let start."""
    stage.answer("session:start", DENY)
    ran = Ran()
    runner = make_runner(make_agent(ran, [DONE]), AmplifierPlugin(stage.hooks))
    assert "against the rules" in read_texts(await work(runner))[-1]
    assert ran.requests == []


class Changer(BasePlugin):
    """A plugin that changes each message, and so hides it from those after it."""

    async def on_user_message_callback(self, **given: Any) -> types.Content:
        return types.Content(role="user", parts=[types.Part(text="Changed.")])


async def test_a_prompt_that_another_plugin_changed_is_judged_all_the_same(stage: Stage) -> None:
    """Behind another plugin, a prompt can still be refused."""
    stage.answer("prompt:submit", lambda data: DENY if "Changed" in data["prompt"] else ask())
    ran = Ran()
    runner = make_runner(make_agent(ran, [DONE]), Changer("changer"), AmplifierPlugin(stage.hooks))
    assert "against the rules" in read_texts(await work(runner))[-1]
    assert ran.requests == []


async def test_a_prompt_that_cannot_be_changed_any_more_is_refused(stage: Stage) -> None:
    """A hook's change is never dropped in silence: the caller reads what to do."""
    rewrite = lambda data: HookResult(action="modify", data={**data, "prompt": "Other."})  # noqa: E731
    stage.answer("prompt:submit", rewrite)
    ran = Ran()
    runner = make_runner(make_agent(ran, [DONE]), Changer("changer"), AmplifierPlugin(stage.hooks))
    assert "put amplifier first" in read_texts(await work(runner))[-1]
    assert ran.requests == []


async def test_a_session_ends_with_a_run_that_is_cancelled(stage: Stage) -> None:
    """The framework tells no plugin of it; the session ends all the same."""
    asked = asyncio.Event()

    async def think(_: object) -> str:
        asked.set()
        await asyncio.Event().wait()
        return "Deny"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person(think)
    ended = asyncio.Event()

    async def hear(event: str, data: dict[str, Any]) -> HookResult:
        stage.heard.events.append((event, data))
        ended.set()
        return HookResult()

    stage.registry.register("session:end", hear)
    runner = make_runner(
        make_agent(Ran(), use(call("wipe", path="/"))), AmplifierPlugin(stage.hooks)
    )
    waiting = asyncio.create_task(work(runner))
    await asyncio.wait_for(asked.wait(), 60)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.wait_for(ended.wait(), 60)
    assert stage.heard.events[0][1]["reason"] == "user_exit"


async def test_a_run_that_fails_ends_with_an_error(stage: Stage) -> None:
    """The exception is the framework's own, and hooks hear why the session ended."""
    stage.listen("session:end")
    runner = make_runner(
        make_agent(Ran(), use(call("boom", text="x"))), AmplifierPlugin(stage.hooks)
    )
    with pytest.raises(RuntimeError, match="boom x"):
        await work(runner)
    assert stage.heard.events[0][1]["reason"] == "error"


async def test_agents_in_a_sequence_and_side_by_side_are_seen(stage: Stage) -> None:
    """All agents of one invocation are governed, in one session."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran = Ran()
    script = use(call("wipe", path="/"), call("note", 2, text="a"))
    both = ParallelAgent(
        name="both", sub_agents=[make_agent(ran, script, "left"), make_agent(ran, script, "right")]
    )
    tree = SequentialAgent(name="tree", sub_agents=[both, make_agent(ran, script, "last")])
    await work(make_runner(tree, AmplifierPlugin(stage.hooks)))
    assert ran.calls == [("note", {"text": "a"})] * 3
    assert len(stage.of_type("session_started")) == 1


async def test_an_agent_that_takes_over_is_seen(stage: Stage) -> None:
    """A transfer is a tool call, and what the other agent does passes the same hooks."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("tool:post")
    ran = Ran()
    other = make_agent(ran, use(call("wipe", path="/"), call("note", 2, text="a")), "other")
    transfer: list[Step] = [[call("transfer_to_agent", agent_name="other")]]
    agent = make_agent(ran, transfer, sub_agents=[other])
    events = await work(make_runner(agent, AmplifierPlugin(stage.hooks)))
    assert ran.calls == [("note", {"text": "a"})]
    heard = [data["tool_name"] for _, data in stage.heard.events]
    assert heard == ["transfer_to_agent", "note"]
    assert read_texts(events) == [DONE]


async def test_a_changed_answer_is_also_what_the_framework_keeps(stage: Stage) -> None:
    """An agent's output_key holds what the caller got."""
    rewrite = lambda data: HookResult(action="modify", data={**data, "response": "Nearly."})  # noqa: E731
    stage.answer("prompt:answer", rewrite)
    runner = make_runner(make_agent(Ran(), [DONE], output_key="said"), AmplifierPlugin(stage.hooks))
    assert read_texts(await work(runner)) == ["Nearly."]
    session = await runner.session_service.get_session(
        app_name=runner.app_name, user_id="u", session_id="s"
    )
    assert session.state["said"] == "Nearly."
    assert DONE not in read_texts(session.events)


async def test_a_streamed_answer_is_called_so(stage: Stage) -> None:
    """Hooks are told that somebody has read the text."""
    stage.listen("prompt:answer", "provider:response")
    config = RunConfig(streaming_mode=StreamingMode.SSE)
    runner = make_runner(make_agent(Ran(), [DONE]), AmplifierPlugin(stage.hooks))
    await work(runner, config=config)
    assert stage.heard.names == ["provider:response", "prompt:answer"]
    assert stage.heard.events[1][1]["streamed"] is True


async def test_a_reply_is_handed_on_as_it_came(stage: Stage) -> None:
    """Hooks that say continue leave the framework its own objects."""
    seen: list[LlmResponse] = []

    class Watcher(BasePlugin):
        async def after_model_callback(self, *, llm_response: LlmResponse, **_: Any) -> None:
            seen.append(llm_response)

    stage.answer("provider:response", HookResult())
    reply = LlmResponse(content=types.Content(role="model", parts=[types.Part(text=DONE)]))

    class Fixed(ScriptedLlm):
        async def generate_content_async(self, *_: Any, **__: Any) -> Any:
            yield reply

    agent = LlmAgent(name="agent", model=Fixed(model="scripted-1", script=[]))
    await work(make_runner(agent, AmplifierPlugin(stage.hooks), Watcher("watcher")))
    assert seen[0] is reply


async def test_a_plugin_that_fails_runs_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistake of ours aborts the run."""

    def fail(*_: Any) -> None:
        raise OSError("a mistake")

    monkeypatch.setattr("amplifier_hooks.frameworks.google_adk.plugin.take_hold", fail)
    ran = Ran()
    runner = make_runner(make_agent(ran, use(call("wipe", path="/"))), AmplifierPlugin(stage.hooks))
    with pytest.raises(RuntimeError, match="a mistake"):
        await work(runner)
    assert ran.calls == []


async def test_an_abort_while_a_person_thinks_runs_nothing(stage: Stage) -> None:
    """A yes that comes after the abort is about nothing."""
    signal = asyncio.Event()

    async def think(_: object) -> str:
        signal.set()
        for _ in range(20):
            await asyncio.sleep(0)
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person(think)
    ran = Ran()
    runner = make_runner(make_agent(ran, use(call("wipe", path="/"))), AmplifierPlugin(stage.hooks))
    message = types.Content(role="user", parts=[types.Part(text="Do it.")])
    found = runner.run_async(user_id="u", session_id="s", new_message=message, abort_signal=signal)
    async for _ in found:
        pass
    assert ran.calls == []


async def test_a_tool_that_nobody_has_is_told(stage: Stage) -> None:
    """Hooks hear of a call that the model made up."""
    stage.listen("tool:pre", "tool:error")
    ran = Ran()
    runner = make_runner(make_agent(ran, use(call("rocket", to="x"))), AmplifierPlugin(stage.hooks))
    await work(runner)
    assert stage.heard.names == ["tool:error"]
    assert "rocket" in stage.heard.events[0][1]["error"]["message"]


async def test_a_tool_that_raises_is_told_once(stage: Stage) -> None:
    """The framework's own error callback adds nothing to what hooks heard."""
    stage.listen("tool:error")
    answer = lambda **_: {"error": "never mind"}  # noqa: E731
    ran = Ran()
    agent = make_agent(ran, use(call("boom", text="x")), on_tool_error_callback=answer)
    await work(make_runner(agent, AmplifierPlugin(stage.hooks)))
    assert stage.heard.names == ["tool:error"]
    assert "never mind" in ran.requests[-1]


async def test_two_plugins_both_judge(stage: Stage) -> None:
    """Two sets of hooks on one runner: each may change and refuse."""
    other = Stage()
    stage.answer("tool:pre", change_input(text="b"))
    other.answer("tool:pre", lambda data: DENY if data["tool_input"]["text"] == "b" else ask())
    ran = Ran()
    runner = make_runner(
        make_agent(ran, use(call("note", text="a"))),
        AmplifierPlugin(stage.hooks),
        AmplifierPlugin(other.hooks, name="second"),
    )
    await work(runner)
    other.close()
    assert ran.calls == []
    assert "against the rules" in ran.requests[-1]


def test_an_unknown_way_to_ask_is_refused(stage: Stage) -> None:
    """The message says what would do."""
    with pytest.raises(ValueError, match="inline, interrupt"):
        AmplifierPlugin(stage.hooks, asks="email")  # type: ignore[arg-type]


class Context:
    """Stands for the context of an invocation."""

    def __init__(self) -> None:
        self.invocation_id = "i1"
        self.is_aborted = False


async def begin(stage: Stage) -> tuple[Invocations, Any, Run]:
    """An invocation with a run behind it."""
    run = await stage.hooks.open(GOOGLE_ADK)
    invocations, context = Invocations(), Context()
    invocations.add(context, run, "")  # type: ignore[arg-type]
    return invocations, context, run


async def test_an_invocation_is_found_until_it_ends(stage: Stage) -> None:
    """And its run ends once."""
    stage.listen("session:end")
    invocations, context, run = await begin(stage)
    assert invocations.find("i1") is not None
    await invocations.end(context.invocation_id, "complete")
    await invocations.end(context.invocation_id, "complete")
    assert invocations.find("i1") is None
    assert run.has_ended
    assert len(stage.heard.events) == 1


async def test_all_are_ended_with_the_runner(stage: Stage) -> None:
    """A runner that is closed leaves no session open."""
    invocations, _, run = await begin(stage)
    await invocations.end_all("error")
    assert run.has_ended


async def test_an_invocation_that_nobody_holds_is_ended(stage: Stage) -> None:
    """Somebody stopped reading its events and went on."""
    ended = asyncio.Event()
    stage.registry.register("session:end", lambda event, data: ended.set(), name="ears")
    invocations, context, run = await begin(stage)
    del context
    await asyncio.wait_for(ended.wait(), 60)
    assert run.has_ended
    assert invocations.find("i1") is None


async def test_an_invocation_ends_with_its_task(stage: Stage) -> None:
    """A cancelled runner tells nobody."""
    kept: list[Any] = []

    async def work() -> None:
        kept.append(await begin(stage))
        await asyncio.Event().wait()

    ended = asyncio.Event()
    stage.registry.register("session:end", lambda event, data: ended.set(), name="ears")
    task = asyncio.create_task(work())
    while not kept:
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait_for(ended.wait(), 60)
    assert kept[0][2].has_ended


async def test_an_aborted_invocation_waits_for_nothing(stage: Stage) -> None:
    """A yes from then on runs nothing."""
    invocations, context, _ = await begin(stage)
    invocation = invocations.find("i1")
    assert invocation is not None
    assert invocation.is_alive()
    context.is_aborted = True
    assert not invocation.is_alive()


async def test_the_time_of_a_request_is_that_of_its_agent(stage: Stage) -> None:
    """Agents side by side do not share a clock; what was not started took no time."""
    invocations, _context, _ = await begin(stage)
    invocation = invocations.find("i1")
    assert invocation is not None
    invocation.start_request("left")
    assert invocation.measure_request("left") >= 0
    assert invocation.measure_request("right") == 0


async def test_a_stream_that_nobody_reads_to_its_end_was_stopped(stage: Stage) -> None:
    """ADK calls that a clean completion; the trail says what happened."""
    ran = Ran()
    agent = _Agent(ran, use(call("wipe", path="/tmp/x")))
    runner = InMemoryRunner(agent=agent.made, plugins=[AmplifierPlugin(stage.hooks)])
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    events = runner.run_async(user_id="u", session_id=session.id, new_message=_ask("Do it."))
    await anext(events)
    await events.aclose()
    assert [one["body"]["reason"] for one in stage.of_type("session_ended")] == ["user_exit"]
    assert ran.calls == []
