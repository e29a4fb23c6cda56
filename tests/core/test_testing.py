"""The doubles behave like what they stand for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer, ApprovalTimeout
from amplifier_core.coordinator import ModuleCoordinator
from amplifier_core.errors import AuditUnavailable
from amplifier_core.hooks import HookRegistry
from amplifier_core.message_models import ChatRequest, Message
from amplifier_core.models import HookResult, ModelInfo, ProviderInfo, ToolResult
from amplifier_core.testing import (
    EventRecorder,
    MemoryAudit,
    MemoryContext,
    MockContextManager,
    MockCoordinator,
    MockProvider,
    MockTool,
    RecordingDisplay,
    ScriptedApproval,
    ScriptedLoop,
    ScriptedOrchestrator,
    TestCoordinator,
    create_test_coordinator,
    wait_for,
)


async def test_a_trail_keeps_what_was_written_at_that_moment() -> None:
    """What changes later does not change what was recorded."""
    trail, body = MemoryAudit(), {"n": 1}
    assert trail.append("first", body, session="s", event="tool:pre") == 0
    body["n"] = 2
    assert trail.append("second", body) == 1
    assert [one["body"] for one in trail.records] == [{"n": 1}, {"n": 2}]
    (first,) = trail.of_type("first")
    assert (first["session"], first["event"], first["hook"]) == ("s", "tool:pre", None)


async def test_a_trail_says_how_far_it_can_be_relied_on() -> None:
    """Up to a record, or all of it; never back again."""
    trail = MemoryAudit()
    for _ in range(3):
        trail.append("x", {})
    await trail.commit(1)
    assert trail.durable == 2
    await trail.commit(0)
    assert trail.durable == 2
    await trail.commit()
    assert trail.durable == 3


async def test_a_trail_takes_no_records_when_it_failed_or_is_closed() -> None:
    """Like a log on disk."""
    failed, closed = MemoryAudit(), MemoryAudit()
    failed.fail("no space")
    await closed.close()
    with pytest.raises(AuditUnavailable, match="no space"):
        failed.append("x", {})
    with pytest.raises(AuditUnavailable, match="no space"):
        await failed.commit()
    with pytest.raises(AuditUnavailable, match="it is closed"):
        closed.append("x", {})


def test_a_trail_takes_whatever_it_is_given() -> None:
    """Objects, odd keys and cycles are written as well as they can be."""
    trail = MemoryAudit()
    cycle: dict[Any, Any] = {}
    cycle["itself"] = cycle
    odd: dict[Any, Any] = {("a", "b"): 1}
    trail.append("object", {"o": object})
    trail.append("key", odd)
    trail.append("cycle", cycle)
    assert "class 'object'" in trail.records[0]["body"]["o"]
    assert "('a', 'b')" in trail.records[1]["body"]["repr"]
    assert "itself" in trail.records[2]["body"]["repr"]


SYSTEM = {"role": "system", "content": "s"}
USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize("kind", [MemoryContext, MockContextManager])
async def test_a_conversation_takes_both_forms(kind: type[MemoryContext]) -> None:
    """A whole message is kept as it is; one of role and content is given the rest."""
    context = kind([SYSTEM])
    await context.add_message(USER)
    await context.add_message("user", "a", {"k": 1}, name="n")
    assert context.messages[:2] == [SYSTEM, USER]
    last = context.messages[2]
    assert last.pop("timestamp").endswith("+00:00")
    assert last == {"role": "user", "content": "a", "metadata": {"k": 1}, "name": "n"}
    assert [one["content"] for one in await context.get_messages()] == ["s", "hi", "a"]
    await context.set_messages([USER])
    assert await context.get_messages_for_request() == [USER]
    await context.clear()
    assert await context.get_messages() == []
    assert context.messages == []


def test_a_conversation_can_be_read_without_waiting() -> None:
    """Loops of the specification read it plainly, those of the ecosystem await it."""
    context = MemoryContext([USER])
    assert context.get_messages() == [USER]
    assert context.get_messages_for_request(token_budget=5, provider=None) == [USER]


async def test_what_is_read_is_the_readers_own() -> None:
    """Neither the list given nor the list read is the conversation itself."""
    given = [USER]
    context = MemoryContext(given)
    given.clear()
    (await context.get_messages()).clear()
    assert context.messages == [USER]
    message = {"role": "user", "content": "x"}
    await context.add_message(message)
    message["content"] = "changed later"
    assert context.messages[1]["content"] == "x"


async def test_what_is_no_dict_is_kept_as_it_is() -> None:
    """A model of a message, say."""
    message, context = object(), MemoryContext()
    await context.add_message(message)
    assert context.messages == [message]


async def test_a_mock_can_be_asked_how_it_was_called() -> None:
    """Its methods are mocks over the messages."""
    context = MockContextManager()
    await context.add_message(USER)
    await context.get_messages_for_request(token_budget=10)
    await context.clear()
    context.add_message.assert_awaited_once_with(USER)  # type: ignore[attr-defined]
    context.get_messages.assert_not_awaited()  # type: ignore[attr-defined]
    asked = context.get_messages_for_request
    asked.assert_awaited_once_with(token_budget=10)  # type: ignore[attr-defined]
    context.clear.assert_awaited_once_with()  # type: ignore[attr-defined]


ASKS = HookResult(action="ask_user", approval_prompt="?", user_message="hm")
CALL = {"tool_name": "t", "tool_input": {}}


async def test_the_coordinator_is_a_real_one() -> None:
    """It asks, shows and records."""
    coordinator = TestCoordinator(approval_system=ScriptedApproval("Allow"))
    coordinator.hooks.register("tool:pre", EventRecorder(ASKS))
    result = await coordinator.execute_with_hooks("tool:pre", CALL)
    assert result.action == "continue"
    assert result.data is not None
    assert result.data["session_id"] == "test-session"
    assert isinstance(coordinator.screen, RecordingDisplay)
    assert coordinator.screen.messages == [("hm", "info", "hook:EventRecorder")]
    assert coordinator.recorded.of_type("approval_decided")
    assert isinstance(coordinator.context, MemoryContext)


async def test_nobody_is_there_to_allow_unless_given() -> None:
    """A test that forgot the person learns it."""
    coordinator = TestCoordinator()
    coordinator.hooks.register("tool:pre", EventRecorder(ASKS))
    assert (await coordinator.execute_with_hooks("tool:pre", CALL)).action == "deny"


async def test_the_ecosystems_coordinator_has_everything_around_it() -> None:
    """A session id, a person who allows and a screen; nothing is mounted yet."""
    coordinator = MockCoordinator()
    assert isinstance(coordinator, ModuleCoordinator)
    assert coordinator.session_id == "test-session"
    assert coordinator.parent_id is None
    assert coordinator.config == {}
    assert coordinator.get("context") is None
    assert coordinator.display_system is coordinator.screen
    coordinator.hooks.register("tool:pre", EventRecorder(ASKS))
    result = await coordinator.process_hook_result(
        await coordinator.hooks.emit("tool:pre", CALL), "tool:pre"
    )
    assert result.action == "continue"
    assert coordinator.screen.messages == [("hm", "info", "hook:EventRecorder")]


def test_what_is_given_takes_the_place_of_the_doubles() -> None:
    """Positionally too: session, approval system, display system."""

    class Session:
        session_id, parent_id = "mine", "parent"
        config: dict[str, Any] = {}

    person, screen = ScriptedApproval("Deny"), RecordingDisplay()
    coordinator = MockCoordinator(Session(), person, screen)
    assert (coordinator.session_id, coordinator.parent_id) == ("mine", "parent")
    assert coordinator.approval_system is person
    assert coordinator.display_system is screen


@pytest.mark.parametrize("kind", [MockCoordinator, TestCoordinator])
async def test_what_was_mounted_and_unmounted_is_remembered(
    kind: type[MockCoordinator | TestCoordinator],
) -> None:
    """As it was asked for, in order; what was refused is not."""
    coordinator, tool = kind(), MockTool("t")
    await coordinator.mount("tools", tool)
    await coordinator.mount("tools", tool, name="other")
    with pytest.raises(ValueError, match="Unknown mount point"):
        await coordinator.mount("nowhere", tool)
    await coordinator.unmount("tools", "t")
    await coordinator.unmount("orchestrator")
    assert coordinator.mount_history == [
        {"mount_point": "tools", "module": tool, "name": None},
        {"mount_point": "tools", "module": tool, "name": "other"},
    ]
    assert coordinator.unmount_history == [
        {"mount_point": "tools", "name": "t"},
        {"mount_point": "orchestrator", "name": None},
    ]
    assert list(coordinator.get("tools")) == ["other"]


async def test_a_ready_made_coordinator_has_tools_and_a_conversation() -> None:
    """One tool that works and one that does not."""
    coordinator = create_test_coordinator()
    assert isinstance(coordinator.get("context"), MockContextManager)
    tools = coordinator.get("tools")
    assert sorted(tools) == ["echo", "fail"]
    assert (await tools["echo"].execute({"a": 1})).output == {"a": 1}
    failed = await tools["fail"].execute({})
    assert not failed.success
    assert "always fails" in str(failed.error)


async def test_a_scripted_orchestrator_answers_in_turn_and_is_then_done() -> None:
    """It counts its calls and tells of a session around each."""
    loop, heard = ScriptedOrchestrator(["one", "two"]), EventRecorder()
    answers = [await loop.execute("p", None, {}, {}, heard) for _ in range(3)]
    assert answers == ["one", "two", "DONE"]
    assert loop.call_count == 3
    assert heard.names == ["session:start", "session:end"] * 3


async def test_a_scripted_orchestrator_does_without_hooks_and_takes_keywords() -> None:
    """As a session calls it, and as a small test does."""
    loop = ScriptedOrchestrator(["one"])
    assert await loop.execute("p") == "one"
    answer = await loop.execute(
        prompt="p", context=None, providers={}, tools={}, hooks=HookRegistry(), coordinator=None
    )
    assert answer == "DONE"


async def test_a_scripted_loop_calls_tools_through_the_hooks() -> None:
    """With and without a coordinator."""
    registry, heard = HookRegistry(), EventRecorder()
    registry.register("*", heard)
    loop = ScriptedLoop([("t", {"a": 1})], reply="bye")
    tools = {"t": MockTool("t", "ok")}
    assert await loop.execute("p", MemoryContext(), {}, tools, registry) == "bye"
    assert [one.output for one in loop.results] == ["ok"]
    assert heard.names == ["tool:pre", "tool:post", "orchestrator:complete"]
    coordinator = TestCoordinator()
    reply = await loop.execute("p", None, {}, tools, coordinator.hooks, coordinator=coordinator)
    assert reply == "bye"


async def test_a_person_answers_in_order_and_repeats_the_last_word() -> None:
    """Options, or functions of the question, on the plain protocol too."""
    person = ScriptedApproval("Deny", lambda question: ApprovalAnswer(question.options[0]))
    answers = [await person.request_approval("?", ["Allow", "Deny"], 1, "deny") for _ in "123"]
    assert answers == ["Deny", "Allow", "Allow"]
    assert person.prompts == ["?", "?", "?"]


async def test_a_person_can_fail_or_be_absent() -> None:
    """An exception is raised; without any answer, time runs out."""
    with pytest.raises(OSError, match="gone"):
        await ScriptedApproval(OSError("gone")).request_approval("?", [], 1, "deny")
    with pytest.raises(ApprovalTimeout):
        await ScriptedApproval().request_approval("?", [], 1, "deny")


async def test_a_person_may_take_their_time() -> None:
    """The function of the question may be async."""

    async def think(question: object) -> str:
        return "Allow"

    assert await ScriptedApproval(think).request_approval("?", ["Allow"], 1, "deny") == "Allow"


def test_a_screen_remembers_what_it_showed() -> None:
    """Message, level and source, in order."""
    screen = RecordingDisplay()
    screen.show_message("one", "info")
    screen.show_message("two", "error", "hook:x")
    assert screen.messages == [("one", "info", "hook"), ("two", "error", "hook:x")]


async def test_a_provider_gives_its_reply_to_every_request() -> None:
    """And keeps what it was asked."""
    provider = MockProvider(reply="hi")
    request = ChatRequest(messages=[Message(role="user", content="hello")])
    response = await provider.complete(request, temperature=0)
    assert response.text == "hi"
    assert provider.parse_tool_calls(response) == []
    assert provider.requests == [request]


async def test_a_provider_introduces_itself() -> None:
    """With the values that applications list."""
    provider = MockProvider("mine")
    info = provider.get_info()
    assert isinstance(info, ProviderInfo)
    assert info.id == provider.name == "mine"
    assert [type(model) for model in await provider.list_models()] == [ModelInfo]


async def test_a_recorder_hears_answers_and_forgets() -> None:
    """It is a hook like any other, and can be asked what it heard."""
    registry, heard = HookRegistry(), EventRecorder(HookResult(action="deny", reason="no"))
    registry.register("tool:*", heard.record)
    result = await registry.emit("tool:pre", {"a": 1})
    assert result.action == "deny"
    assert [data["a"] for _, data in heard.get_events("tool:pre")] == [1]
    assert heard.get_events("tool:post") == []
    assert heard.names == ["tool:pre"]
    heard.clear()
    assert heard.get_events() == []


async def test_a_recorder_stands_in_for_a_registry() -> None:
    """A loop emits on it and gets an answer that lets it go on, whatever it emits."""
    heard = EventRecorder()
    given = {"prompt": "hi"}
    assert (await heard.emit("prompt:submit", given)).action == "continue"
    assert (await heard.emit("prompt:complete", None)).action == "continue"
    given["prompt"] = "changed later"
    assert heard.events == [("prompt:submit", {"prompt": "hi"}), ("prompt:complete", None)]
    assert heard.get_events(event_type="prompt:complete") == [("prompt:complete", None)]


async def test_a_recorder_itself_can_be_registered() -> None:
    """Without naming its method."""
    registry, heard = HookRegistry(), EventRecorder()
    registry.register("tool:pre", heard)
    await registry.emit("tool:pre", {"a": 1})
    assert heard.names == ["tool:pre"]


@pytest.mark.parametrize(
    ("output", "expected"),
    [("x", "x"), (lambda given: given["a"], 1), (ToolResult(output=2), 2)],
)
async def test_a_tool_answers_as_told(output: Any, expected: Any) -> None:
    """An output, or a function of its input."""
    tool = MockTool("t", output)
    assert (await tool.execute({"a": 1})).output == expected
    assert tool.calls == [{"a": 1}]


async def test_a_tool_can_raise() -> None:
    """Or an exception."""
    with pytest.raises(ValueError, match="no"):
        await MockTool("t", ValueError("no")).execute({})


async def test_a_tool_needs_no_arguments() -> None:
    """It has a name, a description, a schema, and succeeds."""
    tool = MockTool()
    assert tool.name == "mock_tool"
    assert tool.description
    assert tool.input_schema["type"] == "object"
    result = await tool.execute({})
    assert (result.success, result.output) == (True, "Success")


async def test_a_tool_can_be_asked_how_it_was_called() -> None:
    """`execute` is a mock, and the calls are counted."""
    tool = MockTool()
    assert tool.call_count == 0
    await tool.execute({"a": 1})
    await tool.execute({"a": 2})
    assert tool.call_count == 2
    tool.execute.assert_awaited_with({"a": 2})  # type: ignore[attr-defined]


async def test_a_subclass_keeps_its_own_way_to_run() -> None:
    """Also when it is a plain function, as some tools have."""

    class Plain(MockTool):
        def execute(self, input: dict[str, Any]) -> Any:  # type: ignore[override]
            return "at once"

    assert Plain("p").execute({}) == "at once"


async def test_waiting_ends_when_it_holds() -> None:
    """The condition may be plain or async."""
    done: list[int] = []
    asyncio.get_running_loop().call_later(0.02, done.append, 1)
    assert await wait_for(lambda: bool(done)) is True

    async def holds() -> bool:
        return True

    assert await wait_for(holds) is True


async def test_waiting_ends_when_time_is_up() -> None:
    """Without an exception; a condition that hangs has no more time than another."""

    async def hangs() -> bool:
        await asyncio.Event().wait()
        return True

    assert await wait_for(lambda: False, timeout=0.02) is False
    assert await wait_for(hangs, timeout=0.02) is False


async def test_what_holds_already_needs_no_time() -> None:
    """A timeout of zero asks once."""
    assert await wait_for(lambda: True, timeout=0) is True


async def test_an_error_of_the_condition_is_not_taken_for_the_end_of_time() -> None:
    """Its own TimeoutError comes through."""

    async def times_out() -> bool:
        raise TimeoutError("the server's")

    with pytest.raises(TimeoutError, match="the server's"):
        await wait_for(times_out)
