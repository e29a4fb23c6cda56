"""The basic loop."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ModuleNotFound
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, MockContextManager, MockTool
from amplifier_foundation.orchestrators.basic import BasicLoop
from amplifier_foundation.orchestrators.loop import Loop, LoopConfig
from tests.support.sessions import SessionHarness, calls


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


@pytest.mark.parametrize("wanted", [None, "other"])
async def test_a_loop_without_its_provider_says_which_there_are(wanted: str | None) -> None:
    """No provider is mounted; have []."""
    loop = BasicLoop(LoopConfig(provider=wanted))
    with pytest.raises(ModuleNotFound, match=r"No provider .*is mounted; have \[\]"):
        await loop.execute("x", MockContextManager(), {}, {}, SessionCoordinator().hooks)


async def test_a_loop_says_how_replies_arrive() -> None:
    """The shared turn leaves the reply to the kind of loop."""
    with pytest.raises(NotImplementedError):
        await Loop().reply(None, ChatRequest(messages=[]))  # type: ignore[arg-type]


async def test_the_instructions_stand_before_the_conversation() -> None:
    """`system` of the loop is the first message of each request, and is not stored."""
    seen: list[list[str]] = []

    class Model:
        name = "m"

        async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
            seen.append([one.role for one in request.messages])
            return ChatResponse(content=[TextBlock(text="ok")])

    context = MockContextManager()
    loop = BasicLoop(LoopConfig(system="be kind"))
    await loop.execute("x", context, {"m": Model()}, {}, SessionCoordinator().hooks)
    assert seen == [["system", "user"]]
    assert [one["role"] for one in context.messages] == ["user", "assistant"]


async def test_a_turn_with_calls_stops_when_every_call_is_denied_again_and_again() -> None:
    """Runaway protection: a hook that keeps denying cannot spin the loop for ever."""
    no = EventRecorder(HookResult(action="deny", reason="never"))
    script = [calls("Echo")] * 9
    async with SessionHarness(
        script, tools=[MockTool("Echo")], loop_config={"max_denied": 3}
    ) as harness:
        harness.hooks.register("tool:pre", no)
        reply = await harness.session.execute("x")
    assert reply == "Stopped: every tool call of 3 rounds was denied."
    assert len(no.events) == 3
