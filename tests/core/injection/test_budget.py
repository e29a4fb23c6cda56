"""The size of an injection and the budget of a turn."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.coordinator import (
    INJECTION_BUDGET_PER_TURN,
    MAX_INJECTION_SIZE,
    SessionCoordinator,
)
from amplifier_core.errors import InjectionTooLarge
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock
from amplifier_core.models import HookResult
from amplifier_core.mount_plan import InjectionLimits
from amplifier_core.testing import EventRecorder, MockContextManager
from tests.support.harness import Harness
from tests.support.hooks import POST, injects
from tests.support.sessions import SessionHarness

INJECT = HookResult(action="inject_context", context_injection="mind the gap")


async def post(harness: Harness) -> HookResult:
    return await harness.coordinator.execute_with_hooks(POST, {"tool_name": "Write"})


class Counting:
    """A model that can count: every character is a token."""

    name = "counting"

    async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
        return ChatResponse(content=[TextBlock(text="ok")])

    def count_tokens(self, text: str) -> int:
        return len(text)


async def test_the_providers_count_is_used_for_budget_and_context() -> None:
    """A model that can count is asked; otherwise four characters are a token."""
    async with SessionHarness([]) as harness:
        harness.coordinator.mount_points["providers"].clear()
        await harness.coordinator.mount("providers", Counting())
        harness.hooks.register("prompt:submit", EventRecorder(INJECT))
        await harness.session.execute("x")
        assert harness.coordinator.injection_budget == len("mind the gap")
        assert harness.session.context.token_count() == sum(  # type: ignore[attr-defined]
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

    async with SessionHarness([]) as harness:
        harness.coordinator.mount_points["providers"].clear()
        await harness.coordinator.mount("providers", Counting())
        await harness.coordinator.mount("context", MockContextManager())
        assert await harness.session.execute("x") == "ok"


def test_the_names_and_defaults():
    """`MAX_INJECTION_SIZE`, `INJECTION_BUDGET_PER_TURN` and `injection_budget` exist."""
    session = SessionCoordinator()
    assert (MAX_INJECTION_SIZE, INJECTION_BUDGET_PER_TURN) == (10_240, 10_000)
    assert (session.injection_size_limit, session.injection_budget_per_turn) == (10_240, 10_000)
    assert session.injection_budget == 0
    session.injection_budget = 5
    assert session.injection_budget == 5


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("x" * 10_240, True),
        ("x" * 10_241, False),
        ("é" * 5_120, True),
        ("é" * 5_120 + "x", False),
    ],
)
async def test_bytes_of_utf8_are_counted(text, fits):
    """One byte over the limit is too much, in letters of any width."""
    harness = Harness()
    harness.hooks.register(POST, injects(text), name="big")
    await post(harness)
    assert harness.texts == ([text] if fits else [])
    if not fits:
        [(message, level, source)] = harness.shown
        assert "exceeds 10240 bytes: it has 10241" in message
        assert (level, source) == ("warning", "hook:big")
        assert "exceeds" in harness.bodies("injection_dropped")[0]["why"]


async def test_the_check_is_at_the_call():
    """Too large is known before anything is awaited."""
    session = SessionCoordinator()
    with pytest.raises(ValueError, match="exceeds") as caught:
        session.handle_context_injection(HookResult(context_injection="x" * 10_241))
    assert isinstance(caught.value, InjectionTooLarge)


async def test_none_is_unlimited():
    harness = Harness(injection_size_limit=None, injection_budget_per_turn=None)
    harness.hooks.register(POST, injects("x" * 1_000_000))
    await post(harness)
    assert len(harness.context.messages) == 1
    assert InjectionLimits.read({}) == InjectionLimits()


async def test_a_thousand_injections_in_a_turn():
    """What is over the budget is dropped and recorded; the next turn has its own."""
    harness = Harness(injection_budget_per_turn=100)
    harness.hooks.register(POST, injects("x" * 40))
    for _ in range(1000):
        await post(harness)
    assert (len(harness.context.messages), harness.coordinator.injection_budget) == (10, 100)
    assert len(harness.bodies("injection_dropped")) == 990
    harness.coordinator.reset_turn()
    await post(harness)
    assert len(harness.context.messages) == 11
    assert harness.coordinator.trail.turn == 1


async def test_the_soft_limit_warns_and_injects(caplog):
    """A session may choose to be told instead of protected."""
    harness = Harness(injection_budget_per_turn=10, injection_over_budget="warn")
    harness.hooks.register(POST, injects("x" * 400))
    await post(harness)
    assert len(harness.context.messages) == 1
    assert "Hooks have injected 100 tokens this turn" in caplog.text


async def test_ephemeral_counts_and_is_never_stored():
    harness = Harness()
    harness.hooks.register(POST, injects("x" * 40, ephemeral=True))
    await post(harness)
    assert (harness.coordinator.injection_budget, harness.context.messages) == (10, [])


async def test_the_provider_may_count():
    harness = Harness()
    harness.coordinator.count_tokens_with(lambda text: 7)
    harness.hooks.register(POST, injects("x"))
    await post(harness)
    assert harness.coordinator.injection_budget == 7


@pytest.mark.parametrize("nonsense", [-5, None, "many", ValueError("x"), True])
async def test_a_counter_that_talks_nonsense(nonsense, caplog):
    def count(text: str) -> Any:
        if isinstance(nonsense, Exception):
            raise nonsense
        return nonsense

    harness = Harness()
    harness.coordinator.count_tokens_with(count)
    harness.hooks.register(POST, injects("x" * 8))
    await post(harness)
    assert harness.coordinator.injection_budget == 2
    assert "from now on four characters are one" in caplog.text
