"""Compaction: contexts of every form are asked whether they want it, before each request."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.errors import SessionError
from amplifier_core.models import HookResult
from amplifier_core.testing import MemoryContext, MockContextManager, MockTool, TestCoordinator
from amplifier_core.utils import resolve
from amplifier_hooks.agent.contexts.simple import SimpleContext, SimpleContextConfig
from amplifier_hooks.agent.loops.model_call import (
    compact_if_needed,
    compact_now,
    read_messages,
)
from tests.support.sessions import SessionHarness, calls


class Plain(MockContextManager):
    """A context that answers at once."""

    def __init__(self, wanted: bool) -> None:
        super().__init__()
        self.wanted = wanted
        self.compacted = 0

    def should_compact(self) -> Any:
        return self.wanted

    def compact(self) -> Any:
        self.compacted += 1


class Awaited(Plain):
    """A context that has to be awaited, as many of the ecosystem have."""

    async def should_compact(self) -> Any:
        return self.wanted

    async def compact(self) -> Any:
        self.compacted += 1


@pytest.mark.parametrize("kind", [Plain, Awaited])
@pytest.mark.parametrize("wanted", [True, False])
async def test_a_context_that_wants_to_is_compacted(kind: type[Plain], wanted: bool) -> None:
    """Both forms, asked plainly or awaited, are compacted once if they want it."""
    context = kind(wanted)
    await compact_if_needed(context)
    assert context.compacted == int(wanted)


async def test_a_context_that_cannot_is_left_alone() -> None:
    """Compaction is optional in a context."""
    context = MockContextManager([{"role": "user", "content": "x"}])
    await compact_if_needed(context)
    assert len(context.messages) == 1


@pytest.mark.parametrize("kind", [Plain, Awaited])
async def test_a_person_can_have_any_context_compacted(kind: type[Plain]) -> None:
    """A context that does not ask why is compacted all the same."""
    context = kind(False)
    assert await compact_now(context) is True
    assert context.compacted == 1


async def test_hooks_are_told_that_a_person_wanted_it() -> None:
    """context:pre_compact: trigger is "auto" or "manual"."""
    triggers: list[str] = []

    async def note(event: str, data: dict[str, Any]) -> HookResult:
        triggers.append(data["trigger"])
        return HookResult(action="continue")

    coordinator = TestCoordinator()
    coordinator.hooks.register("context:pre_compact", note)
    coordinator.hooks.register("context:post_compact", note)
    context = SimpleContext(SimpleContextConfig(keep_last=1), coordinator)
    assert await compact_now(context) is False
    for number in range(9):
        context.add_message("user", f"message {number}")
    assert await compact_now(context) is True
    assert triggers == ["manual", "manual"]


async def test_a_context_that_cannot_be_compacted_says_so() -> None:
    """The message names what would have to be there."""
    with pytest.raises(SessionError, match=r"MemoryContext cannot be compacted.*compact\(\)"):
        await compact_now(MemoryContext())


async def test_a_long_turn_is_compacted_between_its_requests() -> None:
    """A conversation that grows over the budget while tools run does not wait for the next turn."""
    script = [calls("Echo", text="x" * 900) for _ in range(4)] + [{"text": "done"}]
    context = {"max_tokens": 500, "keep_last": 2}
    async with SessionHarness(script, tools=[MockTool("Echo")], context_config=context) as harness:
        heard = harness.listen()
        assert await harness.session.execute("go") == "done"
        assert "earlier messages were left out" in str(harness.messages[0]["content"])
        assert "go" in harness.texts("user")
    assert heard.names.count("context:post_compact") >= 2


class Makes:
    """A context that makes room when it is asked what to send."""

    def __init__(self, messages: Any) -> None:
        self.messages = messages
        self.asked: list[Any] = []

    def get_messages_for_request(self, token_budget: Any = None, provider: Any = None) -> Any:
        self.asked.append((token_budget, provider))
        return self.messages

    def should_compact(self) -> bool:
        raise AssertionError("that is the context's own business")


async def later(messages: Any) -> Any:
    return messages


@pytest.mark.parametrize("awaited", [False, True])
async def test_a_context_says_what_to_send(awaited: bool) -> None:
    """It is told who reads it, and compacts as it sees fit."""
    history = [{"role": "user", "content": "x"}]
    context: Any = Makes(later(history) if awaited else history)
    provider: Any = object()
    assert await resolve(read_messages(context, provider)) == history
    assert context.asked == [(None, provider)]


async def test_a_context_that_only_holds_messages_is_compacted_and_read_by_the_kernel() -> None:
    """Older contexts have no such method."""

    class Holds:
        compacted = 0

        def should_compact(self) -> bool:
            return True

        def compact(self) -> None:
            self.compacted += 1

    context: Any = Holds()
    assert await resolve(read_messages(context, context)) == []
    assert context.compacted == 1


async def test_what_the_context_says_is_what_is_sent() -> None:
    """All that it holds stays where it is."""

    class Brief(MemoryContext):
        def get_messages_for_request(self, token_budget: Any = None, provider: Any = None) -> Any:
            return super().get_messages()[-1:]

    async with SessionHarness([{"text": "one"}, {"text": "two"}]) as harness:
        await harness.coordinator.mount("context", Brief())
        heard = harness.listen()
        await harness.session.execute("first")
        await harness.session.execute("second")
        assert [one["content"] for one in harness.messages] == ["first", "one", "second", "two"]
    sent = [data["messages"] for _, data in heard.get_events("provider:request")]
    assert [[one["content"] for one in each] for each in sent] == [["first"], ["second"]]


async def test_a_subclass_that_says_what_to_send_is_asked() -> None:
    """Its own method is never passed over."""

    class Brief(SimpleContext):
        async def get_messages_for_request(self, *args: Any, **more: Any) -> Any:
            return (await super().get_messages_for_request(*args, **more))[-1:]

    context = Brief()
    context.add_message("user", "a")
    context.add_message("user", "b")
    provider: Any = object()
    assert [one["content"] for one in await resolve(read_messages(context, provider))] == ["b"]
