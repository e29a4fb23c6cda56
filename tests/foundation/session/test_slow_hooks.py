"""A hook that holds the loop too long is named in a warning."""

from __future__ import annotations

import asyncio
import re
import time

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.testing import MemoryAudit
from amplifier_foundation.session import slow_hooks
from amplifier_foundation.session.slow_hooks import watch_for_slow_hooks
from tests.support.harness import Harness
from tests.support.hooks import PRE, Data


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_hooks, "TOO_LONG", 0.02)


@pytest.fixture
def harness() -> Harness:
    made = Harness()
    watch_for_slow_hooks(made.coordinator)
    return made


@pytest.mark.parametrize("audited", [False, True])
@pytest.mark.parametrize("kind", ["async", "plain"])
async def test_it_is_named_once(kind: str, audited: bool, caplog: pytest.LogCaptureFixture) -> None:
    """Plain and async hooks, audited or not: one warning, at the second time it was slow."""

    async def blocker(event: str, data: Data) -> HookResult:
        time.sleep(0.03)
        return HookResult()

    def plain_blocker(event: str, data: Data) -> HookResult:
        time.sleep(0.03)
        return HookResult()

    hooks = HookRegistry()
    hooks.register(PRE, blocker if kind == "async" else plain_blocker, name="blocker")
    session = SessionCoordinator(hooks, audit=MemoryAudit() if audited else None)
    watch_for_slow_hooks(session)
    for _ in range(4):
        await session.execute_with_hooks(PRE, {})
    [message] = caplog.messages
    assert re.match(r"Hook 'blocker' on 'tool:pre' held the event loop for \d+ ms", message)


async def test_waiting_is_not_holding(harness: Harness, caplog: pytest.LogCaptureFixture) -> None:
    """A hook that awaits something slow lets others run; it can be cancelled, and is not named."""
    cancelled: list[bool] = []

    async def patient(event: str, data: Data) -> HookResult:
        try:
            await asyncio.sleep(0.03)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return HookResult(action="modify", data={**data, "x": 1})

    harness.hooks.register(PRE, patient)
    await harness.pre()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await harness.pre()
    for _ in range(2):
        assert (await harness.pre()).data["x"] == 1
    assert cancelled == [True]
    assert caplog.messages == []


async def test_what_a_suspect_raises_goes_through(harness: Harness) -> None:
    """Being timed step by step does not hide a hook's exception."""

    async def failing(event: str, data: Data) -> HookResult:
        await asyncio.sleep(0.03)
        raise ValueError("boom")

    harness.hooks.register(PRE, failing, on_error="deny")
    for _ in range(2):
        assert "ValueError: boom" in (await harness.pre()).reason
