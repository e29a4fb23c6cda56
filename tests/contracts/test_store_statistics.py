"""Figures of hooks by the hour, on both databases."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.models import SessionRecord
from amplifier_hooks.approvals.stores import statistics
from amplifier_hooks.approvals.stores.statistics import SUMS
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import ManualClock

HOUR = 3600.0


async def publish(store: Store, hours: range, hooks: int) -> None:
    """One answer of each hook in each of these hours."""
    for hour in hours:
        answers = [{"hook": f"h{at}", "action": "continue", "ms": 1.0} for at in range(hooks)]
        body = {"hooks": answers}
        record = SessionRecord(
            number=hour + 1, time=hour * HOUR, type="dispatch", event="tool:pre", body=body
        )
        await store.records.publish("s", [record])


async def test_the_newest_hours_are_never_left_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the limit it is the oldest; it is said since when all are there."""
    await publish(store, range(1000, 1010), hooks=3)
    monkeypatch.setattr(statistics, "MOST", 10)
    found = await store.statistics.read_buckets(1000 * HOUR)
    assert {one.hour for one in found.figures} == {hour * HOUR for hour in (1007, 1008, 1009)}
    assert found.complete_since == 1007 * HOUR
    assert [one.hour for one in found.figures] == sorted(one.hour for one in found.figures)
    monkeypatch.setattr(statistics, "MOST", 30)
    everything = await store.statistics.read_buckets(1000 * HOUR)
    assert (len(everything.figures), everything.complete_since) == (30, 1000 * HOUR)


async def test_buckets_add_up_to_the_same(store: Store) -> None:
    """Whatever their size: sums are sums, and the slowest is the slowest of all."""
    await publish(store, range(1000, 1030), hooks=2)
    by_hour = await store.statistics.read(1000 * HOUR)
    for size in (1, 5, 12, 24):
        found = (await store.statistics.read_buckets(1000 * HOUR, hours=size)).figures
        assert all(one.hour % (size * HOUR) == 0 for one in found)
        assert len(found) == 2 * len({hour // size for hour in range(1000, 1030)})
        for name in SUMS:
            assert sum(getattr(one, name) for one in found) == sum(
                getattr(one, name) for one in by_hour
            )
        assert max(one.slowest for one in found) == 1.0
    only = (await store.statistics.read_buckets(1000 * HOUR, "h1", 12)).figures
    assert {one.hook for one in only} == {"h1"}


async def test_figures_of_hours_are_removed_and_sums_of_all_time_stay(
    store: Store, clock: ManualClock
) -> None:
    """As old as is asked, to the hour."""
    now = int(clock.now // HOUR)
    await publish(store, range(now - 50, now), hooks=2)
    assert await store.statistics.remove_older(24 * HOUR) == 2 * 26
    assert {one.hour for one in await store.statistics.read(0)} == {
        hour * HOUR for hour in range(now - 24, now)
    }
    days = (await store.statistics.read_buckets(0, hours=24)).figures
    assert all(now * HOUR - one.hour <= 49 * HOUR for one in days)
    assert sum(one.count for one in days) >= 2 * 24
    figures, _ = await store.statistics.sum_up()
    assert sum(one.count for one in figures) == 100
