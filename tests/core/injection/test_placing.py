"""Context injection: limits, budget, roles, frames, placement, contexts of every kind."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="assignment"

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core import injection as injector
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.injection import Injection, add_ephemeral
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, MockContextManager
from tests.support.harness import Harness
from tests.support.hooks import POST, PRE, Data, injects, modifies, says
from tests.support.sessions import SessionHarness

REQUEST = "provider:request"


async def post(harness: Harness) -> HookResult:
    return await harness.coordinator.execute_with_hooks(POST, {"tool_name": "Write"})


class TestPlacement:
    async def test_at_once_when_no_call_is_under_way(self):
        harness = Harness()
        harness.hooks.register(POST, injects("now"))
        await post(harness)
        assert harness.texts == ["now"]

    async def test_parked_behind_the_results(self):
        """Between a call and its result a provider accepts nothing."""
        harness = Harness()
        harness.hooks.register(POST, injects("after"))
        async with harness.coordinator.tool_calls():
            async with harness.coordinator.tool_calls():
                await post(harness)
            assert harness.texts == []
            await harness.context.add_message("tool", "result")
        assert harness.texts == ["result", "after"]

    async def test_parked_also_when_the_call_fails(self):
        harness = Harness()
        harness.hooks.register(POST, injects("after"))

        async def call() -> None:
            async with harness.coordinator.tool_calls():
                await post(harness)
                raise ValueError("tool")

        with pytest.raises(ValueError, match="tool"):
            await call()
        assert harness.texts == ["after"]

    async def test_ephemeral_is_for_one_request(self):
        """Ephemeral injections for one request only."""
        harness = Harness()
        await harness.context.add_message("user", "hi")
        harness.hooks.register(POST, injects("todo", ephemeral=True), name="todo")
        await post(harness)
        first, second = [
            (await harness.coordinator.open_request({})).data["messages"] for _ in range(2)
        ]
        assert [message["content"] for message in first] == ["hi", "todo"]
        assert first[-1]["metadata"]["ephemeral"] is True
        assert [message["content"] for message in second] == ["hi"]
        assert harness.texts == ["hi"]

    async def test_hooks_of_the_request_itself_are_part_of_it(self):
        """What they inject is in the request they were asked about."""
        harness = Harness()
        await harness.context.add_message("user", "hi")
        harness.hooks.register(REQUEST, injects("date", ephemeral=True))
        harness.hooks.register(REQUEST, injects("stored"))
        messages = (await harness.coordinator.open_request({"model": "m"})).data["messages"]
        assert [message["content"] for message in messages] == ["hi", "stored", "date"]
        assert harness.texts == ["hi", "stored"]

    async def test_changed_messages_are_sent(self):
        harness = Harness()
        harness.hooks.register(REQUEST, modifies(messages=[{"role": "user", "content": "[gone]"}]))
        messages = (await harness.coordinator.open_request({})).data["messages"]
        assert messages == [{"role": "user", "content": "[gone]"}]

    @pytest.mark.parametrize("nonsense", [None, "text", {"a": 1}])
    async def test_messages_that_are_no_list_are_denied(self, nonsense):
        """Where security is concerned, denied: the unredacted ones are not sent instead."""
        harness = Harness()
        harness.hooks.register(REQUEST, modifies(messages=nonsense))
        result = await harness.coordinator.open_request({})
        assert not result.allowed
        assert "instead of a list of messages" in result.reason

    async def test_a_denied_request_stays_denied(self):
        harness = Harness()
        harness.hooks.register(REQUEST, says("deny", reason="budget"))
        assert (await harness.coordinator.open_request({})).reason == "budget"

    async def test_without_listeners_the_request_is_cheap(self):
        session = SessionCoordinator(context=MockContextManager())
        assert (await session.open_request({"model": "m"})).data == {"model": "m", "messages": []}
        assert (await SessionCoordinator().open_request({})).data["messages"] == []

    def injection(self, text: str, **fields: Any) -> Injection:
        return Injection("h", "e", text, ephemeral=True, **fields)

    def test_appended_to_the_last_tool_result(self):
        """`append_to_last_tool_result` with its fallback."""
        behind = self.injection("note", append_to_last_tool_result=True)
        tool = {"role": "tool", "content": "out", "tool_call_id": "1"}
        history = [{"role": "user", "content": "hi"}, tool]
        made = add_ephemeral(history, [self.injection("plain"), behind])
        assert [one["content"] for one in made] == ["hi", "out\n\nnote", "plain"]
        assert tool["content"] == "out"
        assert made[1]["tool_call_id"] == "1"
        blocks = [{"type": "text", "text": "out"}]
        made = add_ephemeral([{"role": "tool", "content": blocks}], [behind])
        assert made[0]["content"] == [*blocks, {"type": "text", "text": "note"}]
        assert add_ephemeral([{"role": "tool"}], [behind])[0]["content"] == "\n\nnote"

    @pytest.mark.parametrize("history", [[], [{"role": "user", "content": "hi"}]])
    def test_the_fallback_is_a_message(self, history):
        behind = self.injection("note", append_to_last_tool_result=True)
        assert add_ephemeral(history, [behind])[-1]["content"] == "note"

    async def test_a_context_that_fails_behind_the_results(self):
        harness = Harness(context=Raising())
        harness.hooks.register(POST, injects("after"), name="late")
        async with harness.coordinator.tool_calls():
            await post(harness)
            assert harness.shown == []
        [(message, level, source)] = harness.shown
        assert message.startswith("Context injection failed: OSError")
        assert (level, source) == ("error", "hook:late")

    async def test_what_is_never_stored_can_be_reviewed(self):
        """With `debug` the person sees what the agent was told in passing."""
        harness = Harness(debug=True)
        harness.hooks.register(POST, injects("now", ephemeral=True), name="todo")
        await post(harness)
        assert [one["content"] for one in harness.coordinator.ephemeral_injections()] == ["now"]
        assert harness.shown == [("Injected: now", "info", "hook:todo")]

    async def test_an_agent_elsewhere_takes_what_is_meant_for_its_next_request(self):
        """Once: the request after it does not have it any more."""
        harness = Harness()
        harness.hooks.register(POST, injects("now", ephemeral=True), name="todo")
        await post(harness)
        assert [one["content"] for one in harness.coordinator.take_ephemeral()] == ["now"]
        assert harness.coordinator.take_ephemeral() == []

    async def test_a_changed_plan_changes_the_limits(self):
        harness = Harness()
        harness.coordinator.use_plan({"session": {"injection_size_limit": 3}})
        assert harness.coordinator.injection_size_limit == 3
        assert harness.coordinator.config == {"session": {"injection_size_limit": 3}}

    async def test_nothing_waits_after_the_end(self):
        harness = Harness()
        harness.hooks.register(POST, injects("x", ephemeral=True))
        await post(harness)
        await harness.coordinator.cleanup()
        assert (await harness.coordinator.open_request({})).data["messages"] == []


class Dicts:
    def __init__(self) -> None:
        self.messages: list[Data] = []

    def add_message(self, message: Data) -> None:
        self.messages.append(message)

    def get_messages(self) -> list[Data]:
        return self.messages


class AsyncDicts(Dicts):
    async def add_message(self, message: Data) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        self.messages.append(message)

    async def get_messages(self) -> tuple[Data, ...]:  # type: ignore[override]
        return tuple(self.messages)


class AsyncRoles(Dicts):
    async def add_message(self, role: str, content: str, **more: Any) -> None:  # type: ignore[override]
        self.messages.append({"role": role, "content": content, **more})

    def get_messages(self) -> tuple[Data, ...]:  # type: ignore[override]
        return tuple(self.messages)


class Bare(Dicts):
    def add_message(self, role: str, content: str) -> None:  # type: ignore[override]
        self.messages.append({"role": role, "content": content})


class Secretive(Dicts):
    """A method whose signature nobody can see."""

    def __init__(self) -> None:
        super().__init__()
        self.add_message = self.messages.append  # type: ignore[method-assign]


class Futures(Dicts):
    def add_message(self, message: Data) -> Any:  # type: ignore[override]
        self.messages.append(message)
        future = asyncio.get_running_loop().create_future()
        future.set_result(None)
        return future


@pytest.mark.parametrize("kind", [Dicts, AsyncDicts, AsyncRoles, Bare, Secretive, Futures])
async def test_contexts_of_either_form(kind):
    """A role and a text, or one dict; plain or async; even a method without a signature."""
    context = kind()
    harness = Harness(context=context)
    harness.hooks.register(POST, injects("found"))
    await post(harness)
    assert context.messages[0]["content"] == "found"
    assert (await harness.coordinator.open_request({})).data["messages"][0]["role"] == "system"


class Raising(Dicts):
    def add_message(self, message: Data) -> None:
        raise OSError("full")

    def get_messages(self) -> list[Data]:
        raise OSError("full")


class Hanging(Dicts):
    async def add_message(self, message: Data) -> None:  # type: ignore[override]
        await asyncio.sleep(60)

    async def get_messages(self) -> list[Data]:  # type: ignore[override]
        await asyncio.sleep(60)
        return []


class Nonsense:
    add_message = None
    get_messages = None


class Cancelling(Dicts):
    async def add_message(self, message: Data) -> None:  # type: ignore[override]
        raise asyncio.CancelledError

    async def get_messages(self) -> list[Data]:  # type: ignore[override]
        raise asyncio.CancelledError


@pytest.mark.parametrize(
    "event", ["session:start", PRE, POST, "provider:request", "session:end", "deploy:start"]
)
@pytest.mark.parametrize("during_a_call", [False, True])
async def test_the_hooks_message_is_an_error_if_it_cannot_be_injected(event, during_a_call):
    """On every event, also where the injection waited behind a tool's result."""
    harness = Harness(context=Raising())
    harness.hooks.register(event, injects("x", user_message="look"), name="linter")
    if during_a_call:
        async with harness.coordinator.tool_calls():
            await harness.run(event, messages=[])
    else:
        await harness.run(event, messages=[])
    assert [one for one in harness.shown if one[1] == "error"] == [("look", "error", "hook:linter")]


@pytest.mark.parametrize("kind", [Raising, Hanging, Nonsense, Cancelling])
async def test_a_context_that_fails_never_crashes_the_session(kind, monkeypatch):
    """The person is told, the trail too, and the agent goes on."""
    monkeypatch.setattr(injector, "PATIENCE", 0.01)
    harness = Harness()
    harness.coordinator.context = kind()
    harness.hooks.register(POST, injects("x", user_message="look"), name="linter")
    harness.hooks.register(POST, injects("y"), name="types")
    assert (await post(harness)).action == "continue"
    assert ("look", "error", "hook:linter") in harness.shown
    assert any(text.startswith("Context injection failed") for text, _, _ in harness.shown)
    assert len([one for one in harness.bodies("error") if "text" in one]) == 2
    assert (await harness.coordinator.open_request({})).data["messages"] == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_without_a_context_nothing_is_injected():
    harness = Harness()
    harness.coordinator.context = None
    harness.hooks.register(POST, injects("x"))
    await post(harness)
    assert "there is no context to inject into" in harness.bodies("error")[0]["why"]


async def test_injections_are_applied_when_another_hook_denies():
    """What one hook said is never lost because another spoke louder."""
    harness = Harness()
    harness.hooks.register(PRE, injects("found"), priority=0)
    harness.hooks.register(PRE, says("deny", reason="no"), priority=1)
    assert (await harness.pre()).action == "deny"
    assert harness.texts == ["found"]


INJECT = HookResult(action="inject_context", context_injection="mind the gap")


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
