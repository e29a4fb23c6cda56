"""Deadlines, leases and ends: whoever is too late, or lost, is allowed nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.server.judging import bodies
from amplifier_hooks.server.settings import JudgeSettings
from tests.hooks.server.judging.scene import (
    Program,
    Scene,
    list_ends,
    open_session,
    read_trail,
    run_judge,
    run_serve,
    write_project,
)
from tests.hooks.server.judging.switches import gates, heard
from tests.support.waiting import wait_until


@asynccontextmanager
async def run_hasty(folder: Path, store: Store, deadline: float) -> AsyncIterator[Scene]:
    """A judge whose hooks have little time."""
    async with run_judge(JudgeSettings(folder=folder, deadline=deadline), store) as scene:
        yield scene


async def open_briefly(scene: Scene, client: httpx2.AsyncClient, lease: float) -> Program:
    """A session with a lease that is shorter than a program may ask for."""
    values: dict[str, Any] = {"key": "brief", "program": "tests", "requests": False}
    body = bodies.NewSession.model_construct(**values, lease=lease)
    owner = scene.owner
    await scene.judge.open(body, owner)
    found = next(one for one in scene.judge._open.values() if one.terms.lease == lease)
    return Program(client, found.describe())


async def test_hooks_that_take_too_long_deny(folder: Path, store: Store) -> None:
    """The call is denied by the deadline, and the trail says so; a late yes allows nothing."""
    async with run_hasty(folder, store, 0.2) as scene, scene.client() as client:
        program = await open_session(client)
        late = await program.call("c1", "Slow")
        assert (late["decision"], late["hook"]) == ("deny", "deadline")
        assert "did not answer within 0.2 seconds" in late["reason"]
        gates["c1"].set()
        refused = await program.post(event="result", id="r", call="c1", output="x")
        assert refused.status_code == 409
        await program.end()
    assert list_ends(program.id) == {}
    denials = [one for one in read_trail(program.id) if "within 0.2 seconds" in str(one["body"])]
    assert denials


async def test_the_time_of_a_person_is_not_that_of_hooks(folder: Path, store: Store) -> None:
    """Asked for longer than hooks may take; what is left of their time goes on afterwards."""
    async with run_hasty(folder, store, 1.0) as scene, scene.client() as client:
        program = await open_session(client)
        assert (await program.call("c1", "Ask"))["decision"] == "pending"
        await asyncio.sleep(1.2)
        assert (await program.poll("c1")).json()["decision"] == "pending"
        await scene.answer(program.id)
        assert (await program.poll("c1", 30)).json()["decision"] == "allow"


async def test_a_question_that_nobody_answers_ends_in_a_denial(
    tmp_path: Path, folder: Path, store: Store
) -> None:
    """At its own deadline."""
    write_project(folder, approval={"timeout": 0.5})
    async with run_judge(JudgeSettings(folder=folder), store) as scene, scene.client() as client:
        program = await open_session(client)
        denied = await program.call("c1", "Ask", wait=60)
    assert (denied["decision"], denied["hook"]) == ("deny", "rules")
    assert "Timeout" in denied["reason"]


async def test_a_no_of_a_person_is_a_denial(scene: Scene) -> None:
    """With who asked."""
    async with scene.client() as client:
        program = await open_session(client)
        await program.call("c1", "Ask")
        await scene.answer(program.id, "Deny")
        denied = (await program.poll("c1", 30)).json()
    assert (denied["decision"], denied["hook"]) == ("deny", "rules")


async def test_a_lost_program_takes_its_questions_with_it(scene: Scene) -> None:
    """Withdrawn, so that nobody answers for nothing; what it did not report is unknown."""
    async with scene.client() as client:
        program = await open_briefly(scene, client, 1.0)
        await program.call("c1")
        await program.call("c2", "Ask")
        asked = await scene.wait_for_question(program.id)

        async def is_over() -> bool:
            return bool((await program.status())["status"] == "ended")

        await wait_until(is_over)
        state = await program.status()
        assert (state["reason"], state["unreported"]) == ("timeout", ["c1"])
        refused = await program.post(event="call", id="c3", tool="Plain", input={})
        assert refused.json()["error"]["code"] == "session_ended"
        await wait_until(lambda: program.id not in scene.judge._open)
    assert (await scene.store.approvals.get(asked.id)).status == "cancelled"
    assert list_ends(program.id) == {"c1": ["unknown"]}
    assert heard["end timeout"] == 1


async def test_requests_renew_the_lease_and_looking_does_not(
    judge: Scene, client: httpx2.AsyncClient
) -> None:
    """Renewals keep it for as long as they come."""
    program = await open_briefly(judge, client, 0.6)
    for _ in range(5):
        await asyncio.sleep(0.2)
        renewed = await client.post(f"{program.path}/renewal", json={})
        assert renewed.json()["status"] == "open"
    began = asyncio.get_running_loop().time()
    while (await program.status())["status"] == "open":
        await asyncio.sleep(0.05)
        assert asyncio.get_running_loop().time() - began < 30


async def test_who_waits_for_an_answer_is_not_lost(
    judge: Scene, client: httpx2.AsyncClient
) -> None:
    """A long poll holds the session for longer than its lease; whoever hangs up lets go of it."""
    program = await open_briefly(judge, client, 0.5)
    await program.call("c1", "Ask")
    polling = asyncio.create_task(program.poll("c1", 60))
    await asyncio.sleep(1.2)
    assert (await program.status())["status"] == "open"
    polling.cancel()
    await client.aclose()
    async with judge.client() as other:
        program.client = other

        async def is_over() -> bool:
            return bool((await program.status())["status"] == "ended")

        await wait_until(is_over, 20)


@pytest.mark.parametrize("kind", ["judge", "serve"])
async def test_a_server_that_ends_ends_its_sessions(folder: Path, store: Store, kind: str) -> None:
    """Whoever waits is answered; questions are withdrawn, and calls without a result unknown."""
    run = run_judge if kind == "judge" else run_serve
    async with run(JudgeSettings(folder=folder), store) as scene, scene.client() as client:
        program = await open_session(client)
        await program.call("c1")
        await program.call("c2", "Ask")
        asked = await scene.wait_for_question(program.id)
        polling = asyncio.create_task(program.poll("c2", 60))
        await asyncio.sleep(0.1)
        scene.judge.send_away()
        assert (await polling).json()["decision"] == "pending"
        refused = await client.post("/sessions", json={"key": "k", "program": "tests"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
    assert (await store.approvals.get(asked.id)).status == "cancelled"
    assert list_ends(program.id) == {"c1": ["unknown"]}
    assert heard["end error"] == 1


async def test_a_new_server_knows_nothing_of_the_sessions_before(
    folder: Path, store: Store
) -> None:
    """Nothing is allowed until another one is opened."""
    async with run_judge(JudgeSettings(folder=folder), store) as scene, scene.client() as client:
        program = await open_session(client)
    async with run_judge(JudgeSettings(folder=folder), store) as scene, scene.client() as client:
        program.client = client
        refused = await program.post(event="call", id="c1", tool="Plain", input={})
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "no_session")


async def test_an_end_stops_what_is_being_judged(client: httpx2.AsyncClient) -> None:
    """Whoever waits for it gets no yes; a result that has come is still recorded."""
    program = await open_session(client)
    await program.call("c1")
    slow = asyncio.create_task(program.post(event="call", id="c2", tool="Slow", input={}))
    while "c2" not in gates:
        await asyncio.sleep(0.01)
    await program.report("c1")
    await program.end()
    stopped = await slow
    assert (stopped.status_code, stopped.json()["error"]["code"]) == (409, "session_ended")
    gates["c2"].set()
    assert list_ends(program.id) == {"c1": ["returned"]}


async def test_a_result_that_is_being_judged_at_the_end_counts(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is reported, or it is unknown, and never both."""
    program = await open_session(client)
    await program.call("c1")
    report = asyncio.create_task(program.post(event="result", id="r1", call="c1", output="x"))
    ended, _ = await asyncio.gather(program.end(), report)
    ends = list_ends(program.id)
    assert ends in ({"c1": ["returned"]}, {"c1": ["unknown"]})
    assert ended["unreported"] == (["c1"] if ends == {"c1": ["unknown"]} else [])
