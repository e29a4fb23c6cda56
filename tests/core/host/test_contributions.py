"""Contribution channels: what modules have to say when somebody asks."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type"

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core import host as contributions
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.host import Contributions
from tests.support.harness import Harness


async def show(message: str, level: str, source: str) -> None:
    """Somebody who does not look."""


@pytest.fixture
def channels() -> Contributions:
    return Contributions()


async def test_contributions_come_in_the_order_of_registration(channels: Contributions) -> None:
    """Plain and async alike; None says nothing, other empty values do."""

    async def later() -> str:
        await asyncio.sleep(0)
        return "async"

    for name, callback in {
        "plain": lambda: "plain",
        "later": later,
        "silent": lambda: None,
        "zero": lambda: 0,
        "empty": list,
    }.items():
        channels.register("c", name, callback)
    assert await channels.collect("c", show) == ["plain", "async", 0, []]
    assert await channels.collect("nobody contributes", show) == []


async def fail() -> None:
    raise ValueError("boom")


async def hang() -> None:
    await asyncio.sleep(60)


async def cancel_itself() -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("callback", "cause"),
    [
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        (fail, "ValueError: boom"),
        (hang, "TimeoutError: took longer than 0.01 s"),
    ],
)
async def test_one_that_fails_is_named_and_skipped(
    channels: Contributions,
    callback: Any,
    cause: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The others are heard, before and after it."""
    monkeypatch.setattr(contributions, "PATIENCE", 0.01)
    channels.register("c", "first", lambda: 1)
    channels.register("c", "odd", callback)
    channels.register("c", "last", lambda: 2)
    assert await channels.collect("c", show) == [1, 2]
    assert caplog.messages == [f"Contributor 'odd' of channel 'c' failed: {cause}"]


async def test_the_person_is_told_once_of_one_that_fails() -> None:
    """It may be asked at each turn."""
    harness = Harness()
    harness.coordinator.register_contributor("c", "odd", fail)
    for _ in range(2):
        assert await harness.coordinator.collect_contributions("c") == []
    assert harness.shown == [
        ("Contributor 'odd' of channel 'c' failed: ValueError: boom", "error", "session")
    ]


async def test_one_that_cancels_itself_ends_the_collection(channels: Contributions) -> None:
    """With what there is so far; nobody had asked the collection to stop."""
    channels.register("c", "first", lambda: 1)
    channels.register("c", "odd", cancel_itself)
    channels.register("c", "last", lambda: 2)
    assert await channels.collect("c", show) == [1]


async def test_who_registers_while_others_contribute_is_heard_next_time(
    channels: Contributions,
) -> None:
    """A collection works on those that were there when it began."""
    channels.register("c", "adder", lambda: channels.register("c", "late", lambda: "late"))
    assert await channels.collect("c", show) == []
    assert await channels.collect("c", show) == ["late"]


async def test_cancelling_whoever_collects_goes_through(channels: Contributions) -> None:
    """A deadline around the collection holds."""
    channels.register("c", "slow", hang)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await channels.collect("c", show)


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        (("", len), ValueError, "A channel needs a name, got ''"),
        ((5, len), ValueError, "A channel needs a name, got 5"),
        (("c", "name", "text"), TypeError, "A contributor must be callable, got 'text'"),
        (("c", "text"), TypeError, "A contributor must be callable, got 'text'"),
    ],
)
def test_what_cannot_contribute_is_refused(
    arguments: tuple[Any, ...], kind: type[Exception], text: str
) -> None:
    """When it registers, not when somebody asks."""
    with pytest.raises(kind, match=text):
        SessionCoordinator().register_contributor(*arguments)


async def test_the_coordinator_takes_contributors_with_and_without_a_name() -> None:
    """Without one, it is the function's."""
    coordinator = SessionCoordinator()
    coordinator.register_contributor("c", hang)
    coordinator.register_contributor("c", "named", lambda: 1)
    assert [entry["name"] for entry in coordinator.channels["c"]] == ["hang", "named"]
