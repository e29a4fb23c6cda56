"""What a session offers to its modules."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type"

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core import host as contributions
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.host import NAMED, SINGLE, Contributions, MountPoints
from amplifier_core.testing import MemoryContext
from amplifier_core.utils import calling as waiting
from tests.support.harness import Harness
from tests.support.hooks import PRE, says


class Named:
    name = "Write"


@pytest.fixture
def points() -> MountPoints:
    return MountPoints("the registry")


def test_at_first_nothing_is_mounted_but_the_registry(points: MountPoints) -> None:
    """None where one module belongs, an empty dict where several may."""
    assert {point: points.get(point) for point in SINGLE} == dict.fromkeys(SINGLE)
    assert {point: points.get(point) for point in NAMED} == {point: {} for point in NAMED}
    assert points.get("hooks") == "the registry"


@pytest.mark.parametrize("point", SINGLE)
def test_one_module_replaces_another(points: MountPoints, point: str) -> None:
    """There is one loop, one context, one resolver."""
    points.mount(point, "first")
    points.mount(point, "second", "a name that nobody needs")
    assert points.get(point) == points.get(point, "any") == "second"
    points.unmount(point)
    points.unmount(point)
    assert points.get(point) is None


@pytest.mark.parametrize("point", NAMED)
def test_several_modules_have_names(points: MountPoints, point: str) -> None:
    """Their own, unless the caller gives another; the same name replaces."""
    own, other = Named(), Named()
    points.mount(point, own)
    points.mount(point, other, "Other")
    assert points.get(point) == {"Write": own, "Other": other}
    assert points.get(point, "Write") is own
    assert points.get(point, "Nope") is None
    points.mount(point, other)
    assert points.get(point, "Write") is other
    points.unmount(point, "Write")
    points.unmount(point, "Write")
    assert points.get(point) == {"Other": other}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (("mount", "toolz", 1), r"Unknown mount point 'toolz'; have \w+, \w+"),
        (("mount", "hooks", 1), "Hooks should be registered with"),
        (("mount", "tools", object()), "Name required to mount at 'tools'"),
        (("mount", "tools", object(), ""), "Name required to mount at 'tools'"),
        (("unmount", "tools"), "Name required to unmount from 'tools'; have Write"),
        (("unmount", "hooks"), "Cannot unmount 'hooks'"),
        (("unmount", "toolz"), "Unknown mount point"),
        (("get", "toolz"), "Unknown mount point"),
    ],
)
def test_a_wrong_place_or_a_missing_name_is_said(
    points: MountPoints, call: tuple[Any, ...], text: str
) -> None:
    """With what would do."""
    points.mount("tools", Named())
    method, *arguments = call
    with pytest.raises(ValueError, match=text):
        getattr(points, method)(*arguments)


async def test_modules_mount_through_the_coordinator() -> None:
    """It awaits, and its context is the one that is mounted."""
    first = MemoryContext()
    coordinator = SessionCoordinator(context=first)
    assert coordinator.get("context") is coordinator.context is first
    await coordinator.mount("context", "second")
    await coordinator.mount("tools", Named())
    assert coordinator.context == "second"  # type: ignore[comparison-overlap]
    assert coordinator.get("hooks") is coordinator.hooks
    assert list(coordinator.mount_points["tools"]) == ["Write"]
    await coordinator.unmount("tools", "Write")
    assert coordinator.get("tools") == {}


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


def test_what_one_module_offers_another_finds_by_name():
    session = SessionCoordinator()
    session.register_capability("session.working_dir", "/x")
    assert session.get_capability("session.working_dir") == "/x"
    assert session.get_capability("missing") is None


async def test_what_modules_contribute_is_collected():
    session = SessionCoordinator()
    session.register_contributor("events", "one", lambda: ["a"])
    session.register_contributor("events", lambda: ["b"])
    assert await session.collect_contributions("events") == [["a"], ["b"]]


async def test_everything_is_undone_in_reverse_order(caplog, monkeypatch):
    """The last registered is undone first, once; one that fails or hangs stops no other."""
    monkeypatch.setattr(waiting, "PATIENCE", 0.01)
    harness, done = Harness(), []

    async def later() -> None:
        done.append("async")

    async def hanging() -> None:
        await asyncio.sleep(60)

    def broken() -> None:
        raise ValueError("boom")

    for undo in (lambda: done.append("first"), later, broken, hanging, None, "text"):
        harness.coordinator.register_cleanup(undo)
    harness.coordinator.register_cleanup(lambda: done.append("last"))
    await harness.coordinator.cleanup()
    await harness.coordinator.cleanup()
    assert done == ["last", "async", "first"]
    assert len(harness.bodies("error")) == 2
    harness.hooks.register(PRE, says())
    assert harness.bodies("hook_registered") == []
