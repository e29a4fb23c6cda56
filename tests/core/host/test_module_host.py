"""What modules offer to one another, and what they want undone."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type"

from __future__ import annotations

import asyncio

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.utils import calling as waiting
from tests.support.harness import Harness
from tests.support.hooks import PRE, says


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
