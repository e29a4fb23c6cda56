"""What hooks answered."""

from __future__ import annotations

from time import time

import pytest

from amplifier_hooks.approvals.models import SessionRecord
from amplifier_hooks.approvals.stores import statistics
from tests.hooks.server.world import World


async def test_figures_and_overrulings_of_the_last_hours(world: World):
    """Answers over time, time per call, how often people overruled it."""
    hooks = [{"hook": "h1", "action": "deny", "ms": 2.0}, {"hook": "h2", "action": "continue"}]
    records = [
        SessionRecord(
            number=1, time=time(), type="dispatch", event="tool:pre", body={"hooks": hooks}
        )
    ]
    await world.store.records.publish("s", records)
    asked = await world.ask(hook="h1")
    await world.store.approvals.withdraw(asked.id)
    async with await world.person() as person:
        everything = (await person.get("/statistics")).json()
        one = (await person.get("/statistics", params={"hook": "h2", "hours": 2})).json()
        assert (await person.get("/statistics", params={"hours": 0})).status_code == 422
        assert (await person.get("/statistics", params={"hours": "inf"})).status_code == 422
    assert {(it["hook"], it["action"], it["count"]) for it in everything["figures"]} == {
        ("h1", "deny", 1),
        ("h2", "continue", 1),
    }
    assert [(it["hook"], it["asked"]) for it in everything["overrulings"]] == [("h1", 1)]
    assert [it["hook"] for it in one["figures"]] == ["h2"]
    assert one["overrulings"] == []


async def test_the_newest_hours_are_there_however_many_figures_there_are(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """The oldest are left out, and the answer says so; in larger buckets all of them fit."""
    monkeypatch.setattr(statistics, "MOST", 20)
    now = time()
    for hour in range(40):
        body = {"hooks": [{"hook": "h1", "action": "deny", "ms": 2.0}]}
        record = SessionRecord(
            number=hour + 1, time=now - hour * 3600, type="dispatch", event="tool:pre", body=body
        )
        await world.store.records.publish("s", [record])
    async with await world.person() as person:
        cut = (await person.get("/statistics", params={"hours": 100, "bucket": 1})).json()
        days = (await person.get("/statistics", params={"hours": 100})).json()
        whole = (await person.get("/statistics", params={"hours": 100, "bucket": 4})).json()
    assert max(one["hour"] for one in cut["figures"]) > now - 3600
    assert cut["cut"] is True
    assert (days["bucket_hours"], days["cut"]) == (24, False)
    assert cut["complete_since"] <= min(one["hour"] for one in cut["figures"])
    assert (whole["cut"], whole["bucket_hours"]) == (False, 4)
    assert sum(one["count"] for one in whole["figures"]) == 40


async def test_prometheus_gets_the_figures_of_all_time_with_a_token(world: World):
    """As plain text; nobody gets them without the right to read."""
    hooks = [{"hook": 'h"1', "action": "deny", "ms": 2.0}]
    records = [
        SessionRecord(number=1, time=5.0, type="dispatch", event="tool:pre", body={"hooks": hooks})
    ]
    await world.store.records.publish("s", records)
    await world.ask(hook="h1")
    async with await world.person("prometheus", "read") as scraper:
        told = await scraper.get(f"{world.address}/metrics")
        assert (await scraper.head(f"{world.address}/metrics")).status_code == 405
    assert (told.status_code, told.headers["content-type"]) == (
        200,
        "text/plain; version=0.0.4; charset=utf-8",
    )
    labels = 'action="deny",event="tool:pre",hook="h\\"1"'
    assert "# TYPE amplifier_hook_calls_total counter\n" in told.text
    assert f"amplifier_hook_calls_total{{{labels}}} 1.0\n" in told.text
    assert "amplifier_approvals_waiting 1.0\n" in told.text
    async with world.client() as nobody, await world.agent() as agent:
        assert (await nobody.get(f"{world.address}/metrics")).status_code == 401
        assert (await agent.get(f"{world.address}/metrics")).status_code == 403
    async with await world.browser() as browser:
        del browser.headers["X-Amplifier-CSRF"]
        assert (await browser.get(f"{world.address}/metrics")).status_code == 401
