"""Requests to a model and its replies, as the hooks of a run judge them."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import HookResult
from amplifier_core.testing import EventRecorder, TestCoordinator
from amplifier_hooks.coverage import ALL, Coverage
from amplifier_hooks.external.conversation import ExternalContext
from amplifier_hooks.external.messages import Placed
from amplifier_hooks.external.model_side import ModelSide, refuse_change
from amplifier_hooks.external.verdicts import Reply, ReplyVerdict

FULL = Coverage("x", "X", "x", "x", "x", {"provider:request": ALL, "provider:response": ALL}, ())
NOTHING = Coverage("x", "X", "x", "x", "x", {}, ())
ASKED = [{"role": "user", "content": "a"}]
GROWN = [*ASKED, {"role": "assistant", "content": "b"}]


class World:
    """A run's side towards the model, with hooks that answer as told."""

    def __init__(self, coverage: Coverage = FULL) -> None:
        self.context = ExternalContext()
        self.coordinator = TestCoordinator(context=self.context)
        self.side = ModelSide(self.coordinator, self.context, coverage)

    def answer(self, event: str, result: HookResult) -> None:
        self.coordinator.hooks.register(event, EventRecorder(result), name="policy")

    async def ask(self, messages: list[dict[str, Any]], *, keeps: bool = False) -> Any:
        return await self.side.request(messages, "p", None, [], keeps)


async def test_what_is_kept_comes_back_in_its_place() -> None:
    """A framework that cannot store it gets it with every request, once."""
    world = World()
    note = {"role": "user", "content": "note"}
    await world.context.add_message(note)
    first = await world.ask(ASKED)
    assert first.placed == [Placed(0), Placed(None, note)]
    assert first.lasting == [note]
    second = await world.ask(GROWN)
    assert second.placed == [Placed(0), Placed(None, note), Placed(1)]
    assert second.lasting == []


async def test_what_the_framework_keeps_is_not_repeated() -> None:
    """It comes back by itself."""
    world = World()
    await world.context.add_message({"role": "user", "content": "note"})
    assert len((await world.ask(ASKED, keeps=True)).placed) == 2
    again = await world.ask(GROWN, keeps=True)
    assert not again.changed


async def test_a_shorter_conversation_has_its_notes_at_the_end() -> None:
    """A framework may have made room."""
    world = World()
    await world.context.add_message({"role": "user", "content": "note"})
    await world.ask(GROWN)
    placed = (await world.ask(ASKED)).placed
    assert [one.index for one in placed] == [0, None]


async def test_a_change_that_cannot_be_given_is_denied() -> None:
    """Rather than ignored; a text of a hook is no change of what the framework had."""
    world = World(NOTHING)
    await world.context.add_message(
        {"role": "user", "content": "note", "metadata": {"source": "hook"}}
    )
    assert (await world.ask(ASKED)).allowed
    changed = {"messages": [{"role": "user", "content": "z"}]}
    world.answer("provider:request", HookResult(action="modify", data=changed))
    verdict = await world.ask(ASKED)
    assert not verdict.allowed
    assert "X offers no place for it" in verdict.reason


async def test_a_reply_is_denied_changed_or_left_alone() -> None:
    """Text and calls by themselves."""
    calls = [{"id": "1", "name": "note", "arguments": {"text": "a"}}]
    reply = Reply("said", calls)
    world = World()
    assert not (await world.side.review(reply, "p")).changed
    world.answer(
        "provider:response",
        HookResult(
            action="modify",
            data={"response": {"content": [{"type": "text", "text": "z"}], "tool_calls": calls}},
        ),
    )
    verdict = await world.side.review(reply, "p")
    assert (verdict.text, verdict.calls) == ("z", None)
    world.answer("provider:response", HookResult(action="deny", reason="no"))
    assert not (await world.side.review(reply, "p")).allowed


async def test_a_change_of_type_in_a_call_is_a_change() -> None:
    """For Python 1 equals True; for a tool it may not."""
    world = World()

    async def change(event: str, data: dict[str, Any]) -> HookResult:
        response = dict(data["response"])
        response["tool_calls"] = [{"id": "1", "name": "wipe", "arguments": {"force": 0}}]
        return HookResult(action="modify", data={**data, "response": response})

    world.coordinator.hooks.register("provider:response", change)
    calls = [{"id": "1", "name": "wipe", "arguments": {"force": False}}]
    verdict = await world.side.review(Reply("", calls), "p")
    assert verdict.calls is not None
    assert verdict.calls[0]["arguments"]["force"] is not False


DENIED: list[tuple[Coverage, str, HookResult, str]] = [
    (FULL, "provider:request", HookResult(action="deny", reason="too dear"), "too dear"),
    (
        FULL,
        "provider:request",
        HookResult(action="modify", data={"messages": [3]}),
        "left int as message 1",
    ),
    (
        FULL,
        "provider:response",
        HookResult(action="modify", data={"response": {"content": 7}}),
        "no usable reply",
    ),
    (
        NOTHING,
        "provider:response",
        HookResult(action="modify", data={"response": {"content": []}}),
        "X",
    ),
]


@pytest.mark.parametrize(("coverage", "event", "answer", "why"), DENIED)
async def test_what_cannot_be_done_is_denied_with_the_reason(
    coverage: Coverage, event: str, answer: HookResult, why: str
) -> None:
    """A hook that leaves nonsense breaks no agent, and lets nothing through."""
    world = World(coverage)
    world.answer(event, answer)
    if event == "provider:request":
        denied = await world.ask(ASKED)
    else:
        denied = await world.side.review(Reply("said"), "p")
    assert not denied.allowed
    assert why in denied.reason
    assert await refuse_change(world.coordinator, FULL, event) is None


async def test_a_reply_that_nobody_judges_is_not_written_out() -> None:
    """It is allowed as it is; a changed one has another text, other calls, or both."""
    side = ModelSide(TestCoordinator(audit=None), ExternalContext(), FULL)
    assert not (await side.review(Reply("a"), "p")).changed
    assert ReplyVerdict(True, text="").changed
    assert ReplyVerdict(True, calls=[]).changed
