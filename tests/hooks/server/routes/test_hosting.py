"""Sessions run through the API: start, get `approval_required` back, decide, go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from amplifier_hooks.approvals.stores.store import Store
from tests.hooks.server.hosting_project import WRITE, save_bundle, trust
from tests.hooks.server.world import World, run_app

RUN = ("read", "run")
SOMEBODY_ELSE = {"via": "store", "requester_may_approve": False}


@asynccontextmanager
async def run_hosting(store: Store, folder: Path) -> AsyncIterator[World]:
    async with run_app(store, folder=folder) as world:
        yield world


async def wait_for(client: httpx2.AsyncClient, session: str, *wanted: str) -> dict[str, Any]:
    """The session, once its status is one of these."""
    entry: dict[str, Any] = {}
    for _ in range(50):
        answer = await client.get(f"/sessions/{session}", params={"wait": 10, "while": "running"})
        entry = answer.json()
        if entry["status"] in wanted:
            break
        await asyncio.sleep(0.02)  # where it is not running, nothing is waited for
    assert entry["status"] in wanted, entry
    return entry


async def decide(world: World, approval: dict[str, Any], *, allow: bool) -> None:
    person = await world.person("ann", "read", "decide")
    options = approval["request"]["options"]
    option = next(one["id"] for one in options if one["allows"] == allow)
    body = {"option": option, "nonce": approval["nonce"], "key": "k"}
    answer = await person.post(f"/approvals/{approval['id']}/decision", json=body)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("allow", [True, False])
async def test_a_session_goes_on_when_a_person_has_decided(
    store: Store, tmp_path: Path, allow: bool
) -> None:
    """The specification's API approvals: the request goes out, the answer comes back."""
    folder = tmp_path / "project"
    save_bundle(folder, WRITE, "Done.", "Again.")
    trust(folder)
    async with run_hosting(store, folder) as world:
        client = await world.person("tool", *RUN)
        made = await client.post("/sessions", json={"prompt": "configure", "name": "config"})
        assert made.status_code == 201
        session = made.json()["id"]
        waiting = await wait_for(client, session, "waiting")
        (approval,) = waiting["approval_required"]
        assert approval["request"]["tool_input"]["content"] == "workers = 4\n"
        assert not (folder / "production").exists()
        await decide(world, approval, allow=allow)
        done = await wait_for(client, session, "idle")
        assert (done["reply"], done["turns"], done["hosted"]) == ("Done.", 1, True)
        assert (folder / "production" / "app.conf").exists() == allow
        again = await client.post(f"/sessions/{session}/prompts", json={"prompt": "more"})
        assert again.status_code == 202
        assert (await wait_for(client, session, "idle"))["reply"] in ("Done.", "Again.")
        ended = await client.post(f"/sessions/{session}/end")
        assert ended.json()["status"] == "ended"
        gone = await client.post(f"/sessions/{session}/prompts", json={"prompt": "more"})
        assert gone.status_code == 404


async def test_a_restart_of_the_server_loses_no_question(store: Store, tmp_path: Path) -> None:
    """Decided while no server ran: the next one goes on with the session, and runs it once."""
    folder = tmp_path / "project"
    save_bundle(folder, WRITE)
    trust(folder)
    async with run_hosting(store, folder) as world:
        client = await world.person("tool", *RUN)
        session = (await client.post("/sessions", json={"prompt": "configure"})).json()["id"]
        (approval,) = (await wait_for(client, session, "waiting"))["approval_required"]
    assert (await store.approvals.get(approval["id"])).status == "pending"
    save_bundle(folder, "Finished.")
    trust(folder)
    async with run_app(store, folder=tmp_path / "elsewhere") as world:
        await decide(world, approval, allow=True)
    async with run_hosting(store, folder) as world:
        client = await world.person("tool", *RUN)
        done = await wait_for(client, session, "idle")
        for _ in range(20):
            if done["reply"]:
                break
            params: dict[str, str] = {"wait": "5", "while": "idle"}
            done = (await client.get(f"/sessions/{session}", params=params)).json()
        assert done["reply"] == "Finished."
    assert (folder / "production" / "app.conf").read_text() == "workers = 4\n"
    assert (await store.approvals.get(approval["id"])).status == "executed"


async def test_only_who_may_run_sessions_starts_one(store: Store, tmp_path: Path) -> None:
    """Neither who may read and decide, nor an agent."""
    folder = tmp_path / "project"
    save_bundle(folder, "Hello.")
    trust(folder)
    async with run_hosting(store, folder) as world:
        for client in (await world.person("ann", "read", "decide"), await world.agent()):
            assert (await client.post("/sessions", json={})).status_code == 403
        assert (await world.client().post("/sessions", json={})).status_code == 401
        client = await world.person("tool", *RUN)
        for path in ("prompts", "end", "interruption"):
            body = {"prompt": "x"} if path == "prompts" else None
            assert (await client.post(f"/sessions/none/{path}", json=body)).status_code == 404
        assert (await client.post("/sessions", json={"bundle": "/etc"})).status_code == 422


async def test_a_bundle_that_nobody_trusted_is_not_run(store: Store, tmp_path: Path) -> None:
    """The API is no way around a person's review of what a folder would run."""
    folder = tmp_path / "project"
    save_bundle(folder, "Hello.")
    async with run_hosting(store, folder) as world:
        client = await world.person("tool", *RUN)
        refused = await client.post("/sessions", json={"prompt": "go"})
        assert refused.status_code == 409
        assert "amplifier trust" in refused.json()["error"]["message"]


async def test_two_turns_at_once_are_refused_and_one_can_be_interrupted(
    store: Store, tmp_path: Path
) -> None:
    """An interruption also closes the question that the turn waited for."""
    folder = tmp_path / "project"
    save_bundle(folder, WRITE, "Done.")
    trust(folder)
    async with run_hosting(store, folder) as world:
        client = await world.person("tool", *RUN)
        session = (await client.post("/sessions", json={"prompt": "configure"})).json()["id"]
        (approval,) = (await wait_for(client, session, "waiting"))["approval_required"]
        second = await client.post(f"/sessions/{session}/prompts", json={"prompt": "more"})
        assert second.status_code == 409
        await client.post(f"/sessions/{session}/interruption")
        await wait_for(client, session, "idle")
        closed = await store.approvals.wait(approval["id"], 10)
        assert closed.status == "cancelled"


async def test_who_gave_the_prompt_has_requested_what_comes_of_it(
    store: Store, tmp_path: Path
) -> None:
    """So they may not allow it, also after a restart; an agent of that name owns nothing."""
    folder = tmp_path / "project"
    save_bundle(folder, WRITE, approval=SOMEBODY_ELSE)
    trust(folder)
    async with run_hosting(store, folder) as world:
        eve = await world.person("eve", "read", "run", "decide")
        session = (await eve.post("/sessions", json={"prompt": "configure"})).json()["id"]
        (approval,) = (await wait_for(eve, session, "waiting"))["approval_required"]
    assert approval["request"]["requester"] == "eve"
    save_bundle(folder, "Finished.", approval=SOMEBODY_ELSE)
    trust(folder)
    async with run_hosting(store, folder) as world:
        eve = await world.person("eve", "read", "run", "decide")
        (again,) = (await wait_for(eve, session, "waiting"))["approval_required"]
        assert again["id"] == approval["id"]
        body = {"option": 0, "nonce": approval["nonce"], "key": "k"}
        assert approval["request"]["options"][0]["allows"]
        refused = await eve.post(f"/approvals/{approval['id']}/decision", json=body)
        assert refused.status_code == 403
        agent = await world.agent("eve")
        stolen = await agent.post("/agent/sessions", json={"id": session, "reply": "forged"})
        assert stolen.status_code == 403
        await decide(world, approval, allow=True)
        for _ in range(1000):
            if (await store.approvals.get(approval["id"])).status == "executed":
                break
            await asyncio.sleep(0.02)
        assert (folder / "production" / "app.conf").exists()
