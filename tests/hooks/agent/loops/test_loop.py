"""The loop: where a turn begins, goes on and ends, whichever way replies arrive."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, NotRequired, get_origin, get_type_hints

import pytest
from pydantic import ValidationError

from amplifier_core.errors import ModuleNotFound, SessionStateError
from amplifier_core.events import payload_type
from amplifier_core.hooks import HookRegistry
from amplifier_core.interfaces import Orchestrator
from amplifier_core.message_models import ChatRequest, ImageBlock, TextBlock
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.testing import (
    EventRecorder,
    MockContextManager,
    MockTool,
    RecordingDisplay,
    TestCoordinator,
)
from amplifier_hooks.agent.loops import basic
from amplifier_hooks.agent.loops.basic import BasicLoop
from amplifier_hooks.agent.loops.loop import (
    RESULT_LIMIT,
    Loop,
    list_pictures,
    read_result_limit,
    render_result,
)
from amplifier_hooks.agent.loops.model_call import LoopConfig, Turn
from amplifier_hooks.agent.providers.scripted import Reply, ScriptedProvider
from tests.support.hooks import injects, says
from tests.support.sessions import SessionHarness, calls
from tests.support.waiting import wait_until


async def test_it_never_streams() -> None:
    """There are no deltas to hear; the reply comes as one."""
    async with SessionHarness([{"text": "one two three"}]) as harness:
        heard = harness.listen()
        assert await harness.session.execute("x") == "one two three"
    assert not [name for name in heard.names if name.startswith("content_block")]
    assert heard.names.count("provider:response") == 1


async def test_options_may_be_called_as_loops_of_the_ecosystem_call_them() -> None:
    """What means the same is the same."""
    screen = RecordingDisplay()
    host = TestCoordinator(display_system=screen)
    await basic.mount(host, {"max_iterations": 7, "default_provider": "second"})
    config = host.get("orchestrator").config
    assert (config.max_turns, config.provider) == (7, "second")
    assert screen.messages == []


async def test_it_mounts_as_the_orchestrator_with_its_options() -> None:
    """The options of the plan are those of the mounted loop."""
    host = TestCoordinator()
    assert await basic.mount(host, {"max_turns": 7}) is None
    loop = host.get("orchestrator")
    assert isinstance(loop, basic.BasicLoop)
    fits: Orchestrator = loop
    assert callable(fits.execute)
    assert (loop.name, loop.config.max_turns, loop.config.attempts) == ("loop-basic", 7, 4)


async def test_an_unknown_option_is_named_with_the_nearest_right_one() -> None:
    """The person is told that a misspelt option has no effect."""
    screen = RecordingDisplay()
    await basic.mount(TestCoordinator(display_system=screen), {"max_turn": 7})
    assert screen.messages == [
        (
            "loop-basic: unknown option 'max_turn' is ignored; did you mean 'max_turns'?",
            "warning",
            "loop-basic",
        )
    ]


def test_the_defaults_are_those_of_the_documentation() -> None:
    """Changing one means changing docs/modules/loops.md, too."""
    assert LoopConfig().model_dump() == {
        "max_turns": 50,
        "max_denied": 8,
        "attempts": 4,
        "retry_delay": 1.0,
        "max_retry_delay": 60.0,
        "provider": None,
        "system": None,
        "parallel_tools": True,
    }


@pytest.mark.parametrize(
    "options",
    [
        {"max_turns": 0},
        {"max_turns": -2},
        {"max_denied": 0},
        {"attempts": 0},
        {"retry_delay": -1},
        {"max_retry_delay": -0.1},
        {"parallel": True},
    ],
)
def test_a_loop_that_could_never_run_cannot_be_configured(options: dict[str, Any]) -> None:
    """Limits leave room for one request; options that do not exist are refused."""
    with pytest.raises(ValidationError):
        LoopConfig(**options)


def test_a_loop_may_have_no_limit() -> None:
    """Written as loops of the ecosystem write it."""
    assert LoopConfig(max_turns=-1).max_turns == sys.maxsize


def test_a_turn_begins_with_nothing_done() -> None:
    """Two turns share nothing that one of them changes."""
    provider = ScriptedProvider([])
    one, two = (Turn(TestCoordinator(), MockContextManager(), provider, {}, []) for _ in range(2))
    one.last_message["content"] = "said"
    assert (two.requests, two.denied_in_a_row, two.status) == (0, 0, "success")
    assert two.last_message == {}


def test_a_result_within_the_limit_is_read_whole() -> None:
    """Nothing is added to a result that fits, or that has no limit."""
    assert render_result(ToolResult(output="abc"), 3) == "abc"
    assert render_result(ToolResult(output="abc"), None) == "abc"


def test_a_result_over_the_limit_is_cut_with_a_sentence() -> None:
    """The agent learns how much there was, and what to do."""
    text = render_result(ToolResult(output="abcdef"), 4)
    head, said = text.split("\n")
    assert head == "abcd"
    assert "2 of 6 characters are left out" in said
    assert "Ask for less" in said


def test_what_no_model_takes_is_left_out() -> None:
    """Odd file names may bring in lone surrogates, and they do not count towards the limit."""
    assert render_result(ToolResult(output="a\udcffb\u00e9")) == "ab\u00e9"
    assert render_result(ToolResult(output="\x00\x00abc"), limit=3) == "abc"


@pytest.mark.parametrize(
    ("plan", "limit"),
    [
        ({}, RESULT_LIMIT),
        ({"session": None}, RESULT_LIMIT),
        ({"session": {"tool_result_limit": 5}}, 5),
        ({"session": {"tool_result_limit": None}}, None),
    ],
)
def test_the_plan_sets_the_limit(plan: dict[str, object], limit: int | None) -> None:
    """A plan that says nothing has the default; null means no limit."""
    assert read_result_limit(plan) == limit


def test_pictures_of_a_result_stand_behind_its_text() -> None:
    """A result that failed has none, and texts among its parts are not repeated."""
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    parts: list[TextBlock | ImageBlock] = [TextBlock(text="Look:"), ImageBlock(source=source)]
    assert list_pictures(ToolResult(output="Look:", content=parts)) == [
        {"type": "image", "source": source}
    ]
    assert list_pictures(ToolResult(success=False, output="no", content=parts)) == []
    assert list_pictures(ToolResult(output="plain")) == []


LOOPS = pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])


@LOOPS
async def test_a_turn_without_tools_is_one_request(loop: str) -> None:
    """The prompt and the reply stand in the conversation, and the turn says that it succeeded."""
    async with SessionHarness([{"text": "hello"}], loop=loop) as harness:
        heard = harness.listen()
        assert await harness.session.execute("hi") == "hello"
        assert [(one["role"], one["content"]) for one in harness.messages] == [
            ("user", "hi"),
            ("assistant", "hello"),
        ]
    ((_, done),) = heard.get_events("orchestrator:complete")
    assert (done["orchestrator"], done["status"], done["turn_count"]) == (loop, "success", 1)
    assert done["final_message"]["content"] == "hello"
    ((_, ended),) = heard.get_events("execution:complete")
    assert (ended["response"], ended["status"]) == ("hello", "success")


@LOOPS
async def test_turns_of_the_conversation_are_counted_apart_from_requests(loop: str) -> None:
    """turn_count: number of conversation turns; a resumed conversation goes on counting."""
    script: list[dict[str, Any]] = [calls("Echo"), {"text": "one"}, {"text": "two"}]
    async with SessionHarness(script, tools=[MockTool("Echo")], loop=loop) as harness:
        harness.hooks.register("prompt:submit", injects("a note", context_injection_role="user"))
        heard = harness.listen()
        await harness.session.execute("first")
        await harness.session.execute("second")
        state = await harness.session.state()
    async with SessionHarness([{"text": "three"}], loop=loop, state=state) as harness:
        heard_later = harness.listen()
        await harness.session.execute("third")
    told = [
        data
        for recorder in (heard, heard_later)
        for _, data in recorder.get_events("orchestrator:complete")
    ]
    assert [(one["turn_count"], one["request_count"]) for one in told] == [(1, 2), (2, 1), (3, 1)]


@LOOPS
async def test_every_event_of_a_turn_has_the_fields_it_promises(loop: str) -> None:
    """Whoever listens may rely on the payload type of the event."""
    script: list[dict[str, Any]] = [
        {"error": "overloaded"},
        {"thinking": "hm", **calls("Echo", "Let me see.")},
        {"text": "done"},
    ]
    async with SessionHarness(script, tools=[MockTool("Echo")], loop=loop) as harness:
        heard = harness.listen()
        await harness.session.execute("x")
    for event, data in heard.events:
        hints = get_type_hints(payload_type(event), include_extras=True)
        required = {name for name, hint in hints.items() if get_origin(hint) is not NotRequired}
        assert required <= data.keys(), event
    assert {"provider:retry", "decision:tool_resolution", "execution:start"} <= set(heard.names)


async def test_a_reply_with_thinking_is_stored_with_its_blocks() -> None:
    """Thinking has to go back to the model with its signature; without it the text is enough."""
    script = [{"thinking": "hm", "signature": "s", "text": "first"}, {"text": "second"}]
    async with SessionHarness(script) as harness:
        await harness.session.execute("x")
        await harness.session.execute("y")
        _, first, _, second = harness.messages
    assert [block["type"] for block in first["content"]] == ["thinking", "text"]
    assert first["content"][0]["signature"] == "s"
    assert second["content"] == "second"


async def test_a_loop_runs_without_a_coordinator() -> None:
    """The protocol of a loop asks for hooks and a context; the coordinator is optional."""
    provider = ScriptedProvider([Reply(text="alone")])
    context, heard = MockContextManager(), EventRecorder()
    hooks = HookRegistry()
    hooks.register("execution:start", heard)
    said = await BasicLoop().execute("x", context, {"scripted": provider}, {}, hooks)
    assert said == "alone"
    assert heard.names == ["execution:start"]
    assert [message["role"] for message in context.messages] == ["user", "assistant"]


async def test_what_stands_in_for_a_registry_is_asked_too() -> None:
    """Tests of the ecosystem hand a loop something that only emits."""
    denies = EventRecorder(HookResult(action="deny", reason="closed"))
    for hooks, said in ((EventRecorder(), "alone"), (denies, "closed")):
        provider = ScriptedProvider([Reply(text="alone")])
        context = MockContextManager()
        assert said in await BasicLoop().execute("x", context, {"scripted": provider}, {}, hooks)
        assert "provider:request" in hooks.names


async def test_a_kind_of_loop_has_to_say_how_replies_arrive() -> None:
    """The base class by itself sends nothing."""
    provider = ScriptedProvider([])
    request = ChatRequest(messages=[])
    with pytest.raises(NotImplementedError):
        await Loop().fetch_reply(provider, request)  # type: ignore[arg-type]


# Which provider


async def test_no_provider_is_one_clear_sentence() -> None:
    """Without any provider the turn says so."""
    async with SessionHarness([]) as harness:
        await harness.coordinator.unmount("providers", "scripted")
        with pytest.raises(SessionStateError, match="No providers mounted"):
            await harness.session.execute("x")


@pytest.mark.parametrize(("wanted", "reply"), [(None, "first"), ("second", "second")])
async def test_the_configured_provider_is_asked_else_the_first(
    wanted: str | None, reply: str
) -> None:
    """`provider` chooses among several by the name they are mounted under."""
    async with SessionHarness([{"text": "first"}], loop_config={"provider": wanted}) as harness:
        other = ScriptedProvider([Reply(text="second")], name="second")
        await harness.coordinator.mount("providers", other)
        assert await harness.session.execute("x") == reply


async def test_a_provider_that_is_not_mounted_is_named_with_those_that_are() -> None:
    """The message says which one was wanted and which there are."""
    async with SessionHarness([{"text": "x"}], loop_config={"provider": "other"}) as harness:
        expected = "No provider 'other' is mounted; have scripted"
        with pytest.raises(ModuleNotFound, match=expected):
            await harness.session.execute("x")


# Limits


@LOOPS
async def test_its_limits_may_be_changed_while_it_is_used(loop: str) -> None:
    """They hold from the next request on."""
    script = [calls("Echo")] * 9
    async with SessionHarness(script, tools=[MockTool("Echo")], loop=loop) as harness:
        harness.coordinator.get("orchestrator").config.max_turns = 2
        reply = await harness.session.execute("x")
    assert reply == "Stopped: max_turns reached: 2 requests for one prompt."


@LOOPS
async def test_a_loop_without_end_stops_and_says_why(loop: str) -> None:
    """After `max_turns` requests the turn ends, and both the person and the hooks are told."""
    script = [calls("Echo", word=str(n)) for n in range(9)]
    config = {"max_turns": 4}
    async with SessionHarness(
        script, tools=[MockTool("Echo")], loop=loop, loop_config=config
    ) as harness:
        heard = harness.listen()
        reply = await harness.session.execute("x")
        assert reply == "Stopped: max_turns reached: 4 requests for one prompt."
        assert len(harness.tools["Echo"].calls) == 4
        assert (reply, "warning", loop) in harness.screen.messages
    ((_, told),) = heard.get_events("orchestrator:complete")
    counts = (told["status"], told["turn_count"], told["request_count"])
    assert counts == ("interrupted", 1, 4)
    alerts = [d for _, d in heard.get_events("user:notification")]
    assert [(d["notification_type"], d["metadata"]) for d in alerts if d["message"] == reply] == [
        ("alert", {"loop": loop})
    ]


async def test_a_hook_that_keeps_denying_cannot_spin_the_loop() -> None:
    """After `max_denied` rounds in which every call was denied the turn ends."""
    script = [calls("Echo", word=str(n)) for n in range(20)]
    async with SessionHarness(
        script, tools=[MockTool("Echo")], loop_config={"max_denied": 3}
    ) as harness:
        harness.hooks.register("tool:pre", says("deny", reason="no"))
        reply = await harness.session.execute("x")
        assert harness.tools["Echo"].calls == []
    assert reply == "Stopped: every tool call of 3 rounds was denied."


async def test_a_tool_that_words_its_errors_like_a_denial_is_not_denied() -> None:
    """Whether a call was denied is a field of its result; what the error says does not count."""
    failed = ToolResult.failed("Operation denied by the server: try again")
    script = [*(calls("Remote") for _ in range(6)), {"text": "it worked"}]
    tool = MockTool("Remote", failed)
    async with SessionHarness(script, tools=[tool], loop_config={"max_denied": 2}) as harness:
        assert await harness.session.execute("x") == "it worked"
    assert len(tool.calls) == 6


async def test_a_round_in_which_one_call_ran_is_not_a_denied_one() -> None:
    """Only rounds in a row count, and only if nothing in them ran."""

    async def guard(event: str, data: dict[str, Any]) -> HookResult:
        denied = data["tool_input"].get("bad")
        return HookResult(action="deny" if denied else "continue", reason="no")

    good, bad = {"name": "Echo", "input": {}}, {"name": "Echo", "input": {"bad": True}}
    rounds: list[dict[str, Any]] = [{"tool_calls": [bad]}, {"tool_calls": [bad, good]}] * 3
    script = [*rounds, {"text": "done"}]
    async with SessionHarness(
        script, tools=[MockTool("Echo")], loop_config={"max_denied": 2}
    ) as harness:
        harness.hooks.register("tool:pre", guard)
        assert await harness.session.execute("x") == "done"


async def test_a_hook_that_keeps_injecting_cannot_spin_the_loop() -> None:
    """A hook that injects on every event ends with the model's last word."""
    async with SessionHarness([{"text": "done"}]) as harness:
        harness.hooks.register("*", injects("more"))
        assert await harness.session.execute("x") == "done"


async def test_an_empty_reply_ends_the_turn() -> None:
    """A model that says nothing has nothing more to do."""
    async with SessionHarness([{"text": ""}]) as harness:
        assert await harness.session.execute("x") == ""


# Stopping


class Sleeps(MockTool):
    """Runs until somebody stops it."""

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.calls.append(input)
        await asyncio.sleep(30)
        return ToolResult()


class Released(MockTool):
    """Runs until it is let go."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.go = asyncio.Event()

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.calls.append(input)
        await self.go.wait()
        return ToolResult(output="finished")


@pytest.mark.parametrize(
    ("said", "reply"), [("", "Stopped, as requested."), ("Let me see.", "Let me see.")]
)
async def test_a_graceful_stop_lets_the_running_tool_finish(said: str, reply: str) -> None:
    """Whoever asks to stop gets what is under way; the last words of the agent are the reply."""
    script, tool = [calls("Brief", said), {"text": "never said"}], Released("Brief")
    async with SessionHarness(script, tools=[tool]) as harness:
        heard = harness.listen()
        work = asyncio.create_task(harness.session.execute("x"))
        await wait_until(lambda: bool(tool.calls))
        await harness.coordinator.request_cancel()
        tool.go.set()
        assert await work == reply
        assert harness.texts("tool") == ["finished"]
        assert harness.session.status == "interrupted"
    assert [d["immediate"] for _, d in heard.get_events("cancel:completed")] == [False]
    assert [d["status"] for _, d in heard.get_events("orchestrator:complete")] == ["interrupted"]


async def test_an_immediate_stop_ends_the_running_tool_and_the_history_stays_valid() -> None:
    """Every call still has its result, so the next turn works."""
    both = {"tool_calls": [{"name": "Sleeps", "input": {}}, {"name": "Echo", "input": {}}]}
    tools = [Sleeps("Sleeps"), MockTool("Echo", "quick")]
    async with SessionHarness([both, {"text": "next turn"}], tools=tools) as harness:
        heard = harness.listen()
        work = asyncio.create_task(harness.session.execute("x"))
        await wait_until(lambda: bool(harness.tools["Sleeps"].calls))
        await harness.coordinator.request_cancel()
        await harness.coordinator.request_cancel(immediate=True)
        assert await work == "Stopped at once, as requested."
        assert harness.texts("tool") == ["The call was cancelled.", "quick"]
        assert await harness.session.execute("again") == "next turn"
    requested = [d["immediate"] for _, d in heard.get_events("cancel:requested")]
    assert requested == [False, True]


async def test_cancelling_the_task_goes_through() -> None:
    """A cancelled task ends with CancelledError, and the end of the turn is still announced."""
    async with SessionHarness([calls("Sleeps")], tools=[Sleeps("Sleeps")]) as harness:
        heard = harness.listen()
        work = asyncio.create_task(harness.session.execute("x"))
        await wait_until(lambda: bool(harness.tools["Sleeps"].calls))
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
    assert [d["status"] for _, d in heard.get_events("orchestrator:complete")] == ["interrupted"]


async def test_a_turn_that_takes_too_long_is_stopped() -> None:
    """`turn_timeout` ends a turn whatever its tools do."""
    async with SessionHarness(
        [calls("Sleeps")], tools=[Sleeps("Sleeps")], session={"turn_timeout": 0.05}
    ) as harness:
        with pytest.raises(TimeoutError):
            await harness.session.execute("x")
        assert harness.texts("tool") == ["The call was cancelled."]


async def test_calls_run_as_they_are_and_are_kept_scrubbed() -> None:
    """The tool gets what the model wrote; the conversation has it as it may leave the session."""
    tool = MockTool("Login")
    async with SessionHarness(
        [calls("Login", word="hunter2"), {"text": "ok"}], tools=[tool]
    ) as one:
        one.coordinator.register_scrubber(lambda text: text.replace("hunter2", "***"))
        await one.session.execute("x")
        assert tool.calls == [{"word": "hunter2"}]
        assert "hunter2" not in repr(one.messages)
        assert "***" in repr(one.messages)
