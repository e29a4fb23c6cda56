"""What is whose: an agent can do nothing with another's sessions, calls and approvals."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.approvals.models import SessionEntry
from tests.hooks.server.world import World, allow, make_request

QUESTION = make_request(key="other").model_dump(mode="json")
CALL = {"session_id": "session-1", "tool_call_id": "call-1", "digest": "d" * 64, "lease": 60}
RECORD = {"number": 1, "time": 1.0, "type": "dispatch"}
OF_SESSION: list[tuple[str, Any]] = [
    ("/agent/approvals", QUESTION),
    ("/agent/rules/match", QUESTION),
    ("/agent/claims", CALL),
    ("/agent/sessions", {"id": "session-1"}),
    ("/agent/sessions", {"id": "new", "parent_id": "session-1"}),
    ("/agent/sessions/session-1/records", {"records": [RECORD]}),
]


@pytest.mark.parametrize("known_by", ["its question", "the index"])
@pytest.mark.parametrize(("path", "body"), OF_SESSION)
async def test_nobody_acts_in_the_session_of_another(
    world: World, path: str, body: Any, known_by: str
):
    """It is of who reported it first; who does is told so, and nothing is kept."""
    if known_by == "the index":
        await world.store.sessions.save(SessionEntry(id="session-1", user="bot"))
    else:
        await world.ask()
    async with await world.agent("other") as other:
        answer = await other.post(path, json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "not_allowed")
    kept = await world.store.sessions.list()
    assert [one.user for one in kept[0]] == (["bot"] if known_by == "the index" else [])
    assert await world.store.records.read("session-1") == []
    found, _ = await world.store.approvals.list()
    assert {one.request.requester for one in found} <= {"bot"}


@pytest.mark.parametrize(("path", "body"), OF_SESSION)
async def test_who_reported_a_session_acts_in_it(world: World, path: str, body: Any):
    """Also where others ask in sessions of their own."""
    await world.store.sessions.save(SessionEntry(id="session-1", user="bot"))
    await world.ask(session_id="another", requester="other")
    async with await world.agent() as agent:
        assert (await agent.post(path, json=body)).status_code in (200, 201)


async def test_a_session_that_the_server_runs_is_no_agents(world: World):
    """Whatever the name is of the person who started it."""
    await world.store.sessions.save(SessionEntry(id="session-1", user="bot", hosted=True))
    async with await world.agent() as agent:
        assert (await agent.post("/agent/approvals", json=QUESTION)).status_code == 403


async def test_nobody_runs_what_another_was_allowed_to(world: World):
    """In a session that both have asked in, before it was known whose it is."""
    await world.ask(requester="other", tool_call_id="call-1")
    await world.store.sessions.save(SessionEntry(id="session-1", user="bot"))
    async with await world.agent() as agent:
        answer = await agent.post("/agent/claims", json=CALL)
    assert answer.status_code == 403
    assert "this call" in answer.json()["error"]["message"]


@pytest.mark.parametrize("form", ["reading", "withdrawal", "renewal", "result"])
async def test_an_agent_does_not_learn_of_anothers_approval(world: World, form: str):
    """It looks as if it were not there."""
    asked = await world.ask()
    async with await world.person() as person, await world.agent() as agent:
        await person.post(f"/approvals/{asked.id}/decision", json=allow(asked))
        claim = (await agent.post("/agent/claims", json=CALL)).json()["claim"]
    before = await world.store.approvals.get(asked.id)
    unknown = "0" * 32
    async with await world.agent("other") as other:

        async def send(id: str) -> Any:
            if form == "reading":
                return await other.get(f"/agent/approvals/{id}")
            if form == "withdrawal":
                return await other.post(f"/agent/approvals/{id}/withdrawal", json={})
            more = {"lease": 60.0} if form == "renewal" else {"outcome": "executed"}
            path = f"/agent/claims/{claim['fence']}/{form}"
            return await other.post(path, json={"approvals": [id], **more})

        foreign, missing = await send(asked.id), await send(unknown)
    assert (foreign.status_code, missing.status_code) == (404, 404)
    words = [one.json()["error"]["message"] for one in (foreign, missing)]
    assert words[0].replace(asked.id, "") == words[1].replace(unknown, "")
    assert await world.store.approvals.get(asked.id) == before
