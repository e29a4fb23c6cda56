"""A session among careless callers, loops, contexts and hooks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError, SessionDenied, SessionStateError
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.session import STOPPED_AT_ONCE, AmplifierSession
from amplifier_core.testing import EventRecorder, MockTool, ScriptedApproval, wait_for
from amplifier_foundation.orchestrators.streaming import StreamingLoop
from tests.support.sessions import SessionHarness, calls, plan_for

INJECT = HookResult(action="inject_context", context_injection="mind the gap")


# Starting and ending


async def test_two_prompts_on_a_session_that_has_not_started_start_it_once() -> None:
    """initialize is called when needed, and once."""
    harness = SessionHarness([{"text": "one"}, {"text": "two"}])
    heard = harness.listen()
    replies = await asyncio.gather(*(harness.session.execute(p) for p in "ab"))
    await harness.session.cleanup()
    assert sorted(replies) == ["one", "two"]
    assert heard.names.count("session:start") == 1


@pytest.mark.parametrize("what", ["execute", "execute_tool", "initialize"])
async def test_an_ended_session_starts_nothing_again(what: str) -> None:
    """An ended session says so, whatever it is asked for."""
    async with SessionHarness([{"text": "x"}], tools=[MockTool("Echo")]) as harness:
        pass
    given: Any = {"execute": ("x",), "execute_tool": ("Echo", {}), "initialize": ()}[what]
    with pytest.raises(SessionStateError, match="has ended"):
        await getattr(harness.session, what)(*given)
    assert harness.session.mounting.mounted == []


async def test_a_hook_of_the_start_cannot_work_with_a_session_that_is_not_there_yet() -> None:
    """A session:start hook that calls a tool is a failed hook, not a session that hangs."""
    harness = SessionHarness([{"text": "fine"}])

    async def early(event: str, data: dict[str, Any]) -> None:
        await harness.session.execute_tool("Echo", {})

    harness.hooks.register("session:start", early)
    async with asyncio.timeout(5):
        assert await harness.session.execute("x") == "fine"
    await harness.session.cleanup()


async def test_a_hook_of_a_turn_cannot_start_another_turn() -> None:
    """One turn at a time: its own hook gets an error instead of waiting for itself."""
    caught: list[str] = []
    async with SessionHarness([{"text": "fine"}]) as harness:

        async def nested(event: str, data: dict[str, Any]) -> None:
            try:
                await harness.session.execute("again")
            except SessionStateError as error:
                caught.append(str(error))

        harness.hooks.register("prompt:submit", nested)
        async with asyncio.timeout(5):
            assert await harness.session.execute("x") == "fine"
    assert caught == ["A turn is under way; its own hooks cannot start another"]


async def test_a_refused_start_is_on_record_with_its_end() -> None:
    """The trail of a session that a hook refused has a beginning and an end."""
    harness = SessionHarness([])
    no = HookResult(action="deny", reason="not today")
    harness.hooks.register("session:start", EventRecorder(no), name="doorman")
    with pytest.raises(SessionDenied, match="Operation denied by doorman: not today"):
        await harness.session.initialize()
    (ended,) = harness.trail.of_type("session_ended")
    assert ended["body"]["reason"] == "denied"


async def test_a_context_that_fails_at_the_end_does_not_keep_the_session_alive(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Everything is undone, whatever a module does."""
    undone: list[str] = []
    harness = SessionHarness([{"text": "x"}])
    heard = harness.listen()
    async with harness:
        harness.coordinator.register_cleanup(lambda: undone.append("yes"))
        harness.session.context.get_messages = lambda: 1 / 0
    assert undone == ["yes"]
    assert heard.names.count("session:end") == 1
    assert "cannot say what it holds" in caplog.text


async def test_before_the_start_there_are_no_messages_and_no_injections() -> None:
    """State and review of a session that has not started are empty, not an error."""
    session = SessionHarness([]).session
    assert (await session.state())["messages"] == []
    assert await session.injections() == []


# What a hook may do to the plan


async def test_the_changed_plan_is_used_hooks_and_limits_included(tmp_path: Any) -> None:
    """`session:start`, modify: the changed plan is used."""
    added = tmp_path / "added.py"
    added.write_text(
        "from amplifier_core.models import HookResult\n"
        "async def on_prompt_submit(event, data):\n"
        "    return HookResult(user_message='added')\n"
    )
    removed = tmp_path / "removed.py"
    removed.write_text(added.read_text().replace("added", "removed"))
    harness = SessionHarness([{"text": "ok"}], hooks=[{"module": str(removed)}])

    async def change(event: str, data: dict[str, Any]) -> HookResult:
        plan = data["mount_plan"]
        session = {**plan["session"], "injection_budget_per_turn": 7}
        plan = {**plan, "session": session, "hooks": [{"module": str(added)}]}
        return HookResult(action="modify", data={**data, "mount_plan": plan})

    harness.hooks.register("session:start", change)
    async with harness:
        await harness.session.execute("x")
        assert harness.coordinator.injection_budget_per_turn == 7
    assert [text for text, _, _ in harness.screen.messages] == ["added"]


async def test_a_hook_that_leaves_no_prompt_ends_the_turn_with_a_sentence() -> None:
    """A changed prompt that is none is not sent to the model."""
    async with SessionHarness([{"text": "never"}]) as harness:
        heard = harness.listen()
        data = {"prompt": ["not", "a", "text"]}
        wrong = HookResult(action="modify", data=data)
        harness.hooks.register("prompt:submit", EventRecorder(wrong))
        assert await harness.session.execute("x") == "A hook left no usable prompt: list"
        assert harness.session.status == "denied"
    assert "provider:request" not in heard.names


@pytest.mark.parametrize("prompt", [None, 3, b"x", {"prompt": "x"}])
async def test_a_prompt_of_another_type_is_refused(prompt: Any) -> None:
    """Bad input gets a clear sentence."""
    async with SessionHarness([]) as harness:
        with pytest.raises(TypeError, match="A prompt is a text, got"):
            await harness.session.execute(prompt)


# Stopping


async def test_an_immediate_stop_reaches_a_question_before_the_prompt_is_accepted() -> None:
    """Cancellation that is graceful first and immediate second, from the first hook on."""
    asked = asyncio.Event()

    class Silent:
        async def request_approval(self, *given: Any) -> str:
            asked.set()
            await asyncio.sleep(60)
            return "Allow"

    async with SessionHarness([{"text": "never"}], approval=Silent()) as harness:
        ask = HookResult(action="ask_user", approval_prompt="really?")
        harness.hooks.register("prompt:submit", EventRecorder(ask))
        heard = harness.listen()
        turn = asyncio.create_task(harness.session.execute("x"))
        await asked.wait()
        await harness.coordinator.request_cancel(immediate=True)
        assert await asyncio.wait_for(turn, 5) == STOPPED_AT_ONCE
        assert harness.session.status == "interrupted"
    assert "cancel:completed" in heard.names
    assert "prompt:complete" not in heard.names


async def test_a_cancelled_task_is_cancelled_even_if_a_stop_was_wanted_too() -> None:
    """When the running task is being cancelled, cancellation goes through."""
    running = asyncio.Event()

    class Slow(MockTool):
        async def execute(self, input: dict[str, Any]) -> ToolResult:
            running.set()
            await asyncio.sleep(60)
            return ToolResult()

    async with SessionHarness([calls("Slow"), {"text": "x"}], tools=[Slow("Slow")]) as harness:
        turn = asyncio.create_task(harness.session.execute("x"))
        await running.wait()
        await harness.coordinator.request_cancel(immediate=True)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn


async def test_a_stop_without_callbacks_swallows_no_cancellation() -> None:
    """A token that somebody set by hand does not turn a real cancellation into a reply."""
    running = asyncio.Event()

    class Slow(MockTool):
        async def execute(self, input: dict[str, Any]) -> ToolResult:
            running.set()
            await asyncio.sleep(60)
            return ToolResult()

    async with SessionHarness([calls("Slow"), {"text": "x"}], tools=[Slow("Slow")]) as harness:
        turn = asyncio.create_task(harness.session.execute("x"))
        await running.wait()
        harness.coordinator.cancellation.request_immediate()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn


async def test_a_loop_that_swallows_the_stop_leaves_the_task_uncancelled() -> None:
    """After the turn the caller's task is as before."""

    class Stubborn:
        async def execute(self, prompt: str, *given: Any, **more: Any) -> str:
            try:
                await more["coordinator"].request_cancel(immediate=True)
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                pass
            return "went on"

    async with SessionHarness([]) as harness:
        await harness.coordinator.mount("orchestrator", Stubborn())
        assert await harness.session.execute("x") == "went on"
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0


async def test_after_a_graceful_stop_no_further_tool_runs() -> None:
    """Graceful: the reply is finished, its calls are answered, and nothing new begins."""
    tool = MockTool("Echo")
    async with SessionHarness([calls("Echo"), {"text": "never"}], tools=[tool]) as harness:

        async def stop(event: str, data: dict[str, Any]) -> None:
            await harness.coordinator.request_cancel()

        harness.hooks.register("provider:response", stop)
        await harness.session.execute("x")
        assert harness.texts("tool") == ["The call was not run: the user asked to stop."]
    assert tool.calls == []


# Foreign loops, tools and results


async def test_loops_are_given_what_they_take() -> None:
    """The architecture document's loop takes no hooks; others take hooks, or a coordinator."""
    seen: dict[str, tuple[Any, ...]] = {}

    class Oldest:
        async def execute(self, prompt: str, context: Any, providers: Any, tools: Any) -> str:
            seen["oldest"] = (context, providers, tools)
            return "oldest"

    class Middle:
        async def execute(
            self, prompt: str, context: Any, providers: Any, tools: Any, hooks: Any
        ) -> None:
            seen["middle"] = (hooks,)

    class Counting:
        async def execute(self, *given: Any, coordinator: Any = None) -> int:
            seen["counting"] = (given[4], coordinator)
            return 42

    async with SessionHarness([]) as harness:
        for loop, reply in ((Oldest(), "oldest"), (Middle(), ""), (Counting(), "42")):
            await harness.coordinator.mount("orchestrator", loop)
            assert await harness.session.execute("x") == reply
        assert seen["oldest"][0] is harness.session.context
        assert seen["middle"] == (harness.hooks,)
        assert seen["counting"] == (harness.hooks, harness.coordinator)


async def test_a_loop_whose_signature_is_a_secret_gets_everything() -> None:
    """What cannot be looked at is called as the protocol says."""

    async def run(*given: Any, **more: Any) -> str:
        return f"{len(given)} {sorted(more)}"

    class Secret:
        __signature__ = "nonsense"

        async def __call__(self, *given: Any, **more: Any) -> str:
            return await run(*given, **more)

    class Loop:
        execute = Secret()

    async with SessionHarness([]) as harness:
        await harness.coordinator.mount("orchestrator", Loop())
        assert await harness.session.execute("x") == "5 ['coordinator']"


@pytest.mark.parametrize(
    ("answer", "success", "output"),
    [
        ({"success": True, "count": 3}, True, {"success": True, "count": 3}),
        ({"success": False, "error": "no"}, False, None),
        ({"success": True, "output": [1]}, True, [1]),
        ("plain", True, "plain"),
    ],
)
async def test_a_plain_function_may_be_a_tool_and_its_own_fields_are_not_lost(
    answer: Any, success: bool, output: Any
) -> None:
    """A dict of a ToolResult's fields is one; any other dict is the output."""

    class Plain(MockTool):
        def execute(self, input: dict[str, Any]) -> Any:  # type: ignore[override]
            return answer

    async with SessionHarness(tools=[Plain("Plain")]) as harness:
        result = await harness.session.execute_tool("Plain", {})
    assert (result.success, result.output) == (success, output)


async def test_a_tool_that_cancels_itself_has_failed() -> None:
    """A CancelledError that nobody asked for does not end the turn."""

    class Sulking(MockTool):
        async def execute(self, input: dict[str, Any]) -> ToolResult:
            raise asyncio.CancelledError

    async with SessionHarness(
        [calls("Sulking"), {"text": "went on"}], tools=[Sulking("Sulking")]
    ) as harness:
        assert await harness.session.execute("x") == "went on"
        assert harness.texts("tool") == ["the tool cancelled itself"]


async def test_a_hook_that_leaves_no_result_is_told_to_the_agent() -> None:
    """A changed result that is none is a sentence, not the end of the turn."""

    async def spoil(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "tool_result": {"success": "perhaps"}})

    async with SessionHarness(tools=[MockTool("Echo")]) as harness:
        harness.hooks.register("tool:post", spoil)
        result = await harness.session.execute_tool("Echo", {})
    assert (result.error or "").startswith("A hook left no usable result: ValidationError")


async def test_a_hook_that_drops_the_tools_name_stops_the_call() -> None:
    """Guards judged a call without a name; it must not run under one."""
    tool = MockTool("Echo")

    async def drop(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={"tool_input": data["tool_input"]})

    async with SessionHarness(tools=[tool]) as harness:
        harness.hooks.register("tool:pre", drop)
        result = await harness.session.execute_tool("Echo", {})
    assert result.error == "Unknown tool 'None'; have ['Echo']"
    assert tool.calls == []


async def test_calls_with_the_same_id_keep_their_own_results() -> None:
    """Small models repeat ids or leave them out; results keep the model's order."""
    made = [
        ToolCall(id=one, name="Echo", arguments={"n": n}) for n, one in enumerate(["", "a", "a"])
    ]

    class Repeating:
        name = "repeating"

        async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
            if request.messages[-1].role == "tool":
                return ChatResponse(content=[TextBlock(text="done")])
            return ChatResponse(tool_calls=list(made))

    tool = MockTool("Echo", lambda given: str(given["n"]))
    async with SessionHarness([], tools=[tool]) as harness:
        await harness.coordinator.unmount("providers", "scripted")
        await harness.coordinator.mount("providers", Repeating())
        assert await harness.session.execute("x") == "done"
        ids = [one["tool_call_id"] for one in harness.messages if one["role"] == "tool"]
        assert harness.texts("tool") == ["0", "1", "2"]
    assert len(set(ids)) == 3


async def test_a_stream_is_closed_where_the_reply_ends() -> None:
    """No connection is left open until the garbage is collected."""
    closed: list[bool] = []

    class Streaming:
        name = "streaming"

        async def stream(self, request: ChatRequest, **_: Any) -> Any:
            from amplifier_core.message_models import StreamChunk

            try:
                yield StreamChunk("response", response=ChatResponse(content=[TextBlock(text="x")]))
                yield StreamChunk("text", text="nobody reads this")
            finally:
                closed.append(True)

    async with SessionHarness([]) as harness:
        await harness.coordinator.mount("orchestrator", StreamingLoop())
        harness.coordinator.mount_points["providers"].clear()
        await harness.coordinator.mount("providers", Streaming())
        assert await harness.session.execute("x") == "x"
        assert closed == [True]


# Review and counting


@pytest.mark.parametrize("ephemeral", [False, True])
async def test_debug_shows_each_accepted_injection(ephemeral: bool) -> None:
    """Injections can be reviewed by the user (`debug`), the passing ones too."""
    inject = HookResult(
        action="inject_context", context_injection="mind the gap", ephemeral=ephemeral
    )
    async with SessionHarness([{"text": "ok"}], session={"debug": True}) as harness:
        harness.hooks.register("prompt:submit", EventRecorder(inject), name="driver")
        await harness.session.execute("x")
        (listed,) = await harness.session.injections()
        stored = [one for one in harness.messages if one["content"] == "mind the gap"]
    assert harness.screen.messages == [("Injected: mind the gap", "info", "hook:driver")]
    assert (listed["content"], listed["metadata"]["hook_name"]) == ("mind the gap", "driver")
    assert bool(stored) is not ephemeral


async def test_without_debug_nothing_is_shown_and_what_is_dropped_never_is() -> None:
    """Only what the agent reads is shown as injected."""
    for session in ({}, {"debug": True, "injection_size_limit": 3}):
        async with SessionHarness([{"text": "ok"}], session=session) as harness:
            harness.hooks.register("prompt:submit", EventRecorder(INJECT), name="driver")
            await harness.session.execute("x")
        assert not [one for one, _, _ in harness.screen.messages if one.startswith("Injected")]


class Counting:
    """A model that can count: every character is a token."""

    name = "counting"

    async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
        return ChatResponse(content=[TextBlock(text="ok")])

    def count_tokens(self, text: str) -> int:
        return len(text)


async def test_the_providers_count_is_used_for_budget_and_context() -> None:
    """A token is 4 characters unless the provider can count."""
    async with SessionHarness([]) as harness:
        harness.coordinator.mount_points["providers"].clear()
        await harness.coordinator.mount("providers", Counting())
        harness.hooks.register("prompt:submit", EventRecorder(INJECT))
        await harness.session.execute("x")
        assert harness.coordinator.injection_budget == len("mind the gap")
        assert harness.session.context.token_count() == sum(
            len(one["content"]) + 4 for one in harness.messages
        )


async def test_a_count_that_has_to_be_waited_for_is_not_used() -> None:
    """An asynchronous count stays the provider's own affair."""

    class Asking(Counting):
        async def count_tokens(self, text: str) -> int:  # type: ignore[override]
            return 1_000_000

    async with SessionHarness([]) as harness:
        harness.coordinator.mount_points["providers"].clear()
        await harness.coordinator.mount("providers", Asking())
        harness.hooks.register("prompt:submit", EventRecorder(INJECT))
        assert await harness.session.execute("x") == "ok"
        assert harness.coordinator.injection_budget == 3


async def test_a_context_that_cannot_count_is_left_alone() -> None:
    """Contexts of others have no count_tokens_with."""
    from amplifier_core.testing import MockContextManager

    async with SessionHarness([]) as harness:
        harness.coordinator.mount_points["providers"].clear()
        await harness.coordinator.mount("providers", Counting())
        await harness.coordinator.mount("context", MockContextManager())
        assert await harness.session.execute("x") == "ok"


# Modules


@pytest.mark.parametrize("entry", [42, {}, {"config": {}}, None])
async def test_an_entry_without_a_module_is_named(entry: Any) -> None:
    """Bad input gets a clear sentence."""
    session = AmplifierSession({**plan_for([]), "tools": [entry]})
    with pytest.raises(ModuleLoadError, match="An entry of tools names its module, got"):
        await session.initialize()


async def test_what_a_failing_module_had_mounted_is_taken_back(tmp_path: Any) -> None:
    """A module that fails half way leaves nothing behind."""
    half = tmp_path / "half.py"
    half.write_text(
        "from amplifier_core.testing import EventRecorder, MockTool\n"
        "async def mount(coordinator, config):\n"
        "    coordinator.hooks.register('tool:pre', EventRecorder(), name='half')\n"
        "    await coordinator.mount('tools', MockTool('Half'))\n"
        "    raise OSError('no network')\n"
    )
    async with SessionHarness([{"text": "ok"}], tool_modules=[{"module": str(half)}]) as harness:
        assert harness.coordinator.get("tools") == {}
        assert "half" not in str(harness.hooks.list_handlers())


async def test_a_clean_up_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing hangs, and an undone module is undone once."""
    from amplifier_core.mounting import mounted as mounting

    monkeypatch.setattr(mounting, "PATIENCE", 0.05)
    harness = SessionHarness([])
    await harness.session.initialize()
    mounted = harness.session.mounting.mounted[0]
    mounted.undo = lambda: asyncio.sleep(60)
    async with asyncio.timeout(5):
        await harness.session.cleanup()
    assert mounted.undo is None


async def test_an_id_that_is_no_name_is_an_unknown_module() -> None:
    """Unknown module, with the known ones, whatever the id looks like."""
    harness = SessionHarness([], hooks=[{"module": "a.b.c", "required": True}])
    with pytest.raises(ModuleLoadError, match=r"Unknown module 'a\.b\.c'; have"):
        await harness.session.initialize()


async def test_a_plain_mount_function_is_accepted(tmp_path: Any) -> None:
    """mount is async by contract; a plain one works too."""
    plain = tmp_path / "plain.py"
    plain.write_text(
        "from amplifier_core.testing import EventRecorder\n"
        "def mount(coordinator, config):\n"
        "    return coordinator.hooks.register('tool:pre', EventRecorder(), name='plain')\n"
    )
    async with SessionHarness([], hooks=[{"module": str(plain)}]) as harness:
        assert "plain" in str(harness.hooks.list_handlers())


async def test_an_approval_that_nobody_waits_for_any_more_is_forgotten() -> None:
    """T26: cancelling a waiting agent frees the waiter and leaves no task."""
    before = len(asyncio.all_tasks())

    class Endless(ScriptedApproval):
        async def decide(self, question: Any) -> str:
            self.questions.append(question)
            await asyncio.sleep(60)
            return "Allow"

    approval = Endless()
    ask = HookResult(action="ask_user", approval_prompt="run?")
    async with SessionHarness(tools=[MockTool("Echo")], approval=approval) as harness:
        harness.hooks.register("tool:pre", EventRecorder(ask))
        waiting = [
            asyncio.create_task(harness.session.execute_tool("Echo", {"n": n})) for n in range(100)
        ]
        await wait_for(lambda: len(approval.questions) == 100)
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert len(harness.trail.of_type("approval_cancelled")) == 100
    assert len(asyncio.all_tasks()) == before
