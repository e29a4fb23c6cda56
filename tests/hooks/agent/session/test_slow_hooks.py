"""A hook that holds the loop too long is named in a warning."""

from __future__ import annotations

import asyncio
import re

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.testing import MemoryAudit
from amplifier_hooks.agent.session import assembly
from amplifier_hooks.agent.session.assembly import watch_for_slow_hooks
from tests.support.harness import Harness
from tests.support.hooks import PRE, Data


class Clock:
    """A clock that goes on when it is told to, and next to nothing by itself."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1e-6
        return self.now

    def go_on(self) -> None:
        """By what is too long."""
        self.now += 2 * assembly.TOO_LONG

    async def go_on_meanwhile(self) -> None:
        """While whoever waits for this lets others run."""
        asyncio.get_running_loop().call_soon(self.go_on)
        await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(assembly, "perf_counter", clock)
    return clock


@pytest.fixture
def harness() -> Harness:
    made = Harness()
    watch_for_slow_hooks(made.coordinator)
    return made


@pytest.mark.parametrize("audited", [False, True])
@pytest.mark.parametrize("kind", ["async", "plain"])
async def test_it_is_named_once(
    kind: str, audited: bool, caplog: pytest.LogCaptureFixture, clock: Clock
) -> None:
    """Plain and async hooks, audited or not: one warning, at the second time it was slow."""

    async def blocker(event: str, data: Data) -> HookResult:
        clock.go_on()
        return HookResult()

    def plain_blocker(event: str, data: Data) -> HookResult:
        clock.go_on()
        return HookResult()

    hooks = HookRegistry()
    hooks.register(PRE, blocker if kind == "async" else plain_blocker, name="blocker")
    session = SessionCoordinator(hooks, audit=MemoryAudit() if audited else None)
    watch_for_slow_hooks(session)
    for _ in range(4):
        await session.execute_with_hooks(PRE, {})
    [message] = caplog.messages
    assert re.match(r"Hook 'blocker' on 'tool:pre' held the event loop for \d+ ms", message)


async def test_waiting_is_not_holding(
    harness: Harness, caplog: pytest.LogCaptureFixture, clock: Clock
) -> None:
    """A hook that awaits something slow lets others run; it can be cancelled, and is not named."""
    cancelled: list[bool] = []

    async def patient(event: str, data: Data) -> HookResult:
        try:
            await clock.go_on_meanwhile()
            if data.get("for ever"):
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return HookResult(action="modify", data={**data, "x": 1})

    harness.hooks.register(PRE, patient)
    await harness.pre()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await harness.coordinator.execute_with_hooks(PRE, {"for ever": True})
    for _ in range(2):
        assert (await harness.pre()).data["x"] == 1
    assert cancelled == [True]
    assert caplog.messages == []


async def test_what_a_suspect_raises_goes_through(harness: Harness, clock: Clock) -> None:
    """Being timed step by step does not hide a hook's exception."""

    async def failing(event: str, data: Data) -> HookResult:
        await clock.go_on_meanwhile()
        raise ValueError("boom")

    harness.hooks.register(PRE, failing, on_error="deny")
    for _ in range(2):
        assert "ValueError: boom" in (await harness.pre()).reason
