"""What agents may do."""

from __future__ import annotations

import asyncio
import json

from tests.hooks.server.world import World, allow, make_request


async def test_an_agent_asks_waits_claims_and_finishes(world: World):
    """The whole way of a call over the API."""
    body = make_request(requester="somebody else").model_dump(mode="json")
    async with await world.agent() as agent, await world.person() as person:
        asked = await agent.post("/agent/approvals", json=body)
        again = await agent.post("/agent/approvals", json=body)
        id = asked.json()["id"]
        assert (asked.status_code, again.json()["id"]) == (201, id)
        assert asked.json()["request"]["requester"] == "bot"
        waiting = asyncio.create_task(agent.get(f"/agent/approvals/{id}", params={"wait": 60}))
        nonce = (await person.get(f"/approvals/{id}")).json()["nonce"]
        decision = {"option": 1, "nonce": nonce, "key": "k"}
        await person.post(f"/approvals/{id}/decision", json=decision)
        assert (await waiting).json()["status"] == "approved"
        call = {"session_id": "session-1", "tool_call_id": "call-1", "digest": "d" * 64}
        claim = (await agent.post("/agent/claims", json={**call, "lease": 60})).json()["claim"]
        second = await agent.post("/agent/claims", json={**call, "lease": 60})
        path, ids = f"/agent/claims/{claim['fence']}", claim["approvals"]
        renewed = await agent.post(f"{path}/renewal", json={"approvals": ids, "lease": 90})
        done = {"approvals": ids, "outcome": "executed"}
        assert (await agent.post(f"{path}/result", json=done)).status_code == 200
        unknown = {**call, "tool_call_id": "nobody asked"}
        nothing = await agent.post("/agent/claims", json={**unknown, "lease": 60})
    assert second.status_code == 409
    assert renewed.json()["claim"]["lease_until"] > claim["lease_until"]
    assert nothing.json() == {"claim": None}
    assert (await world.store.approvals.get(id)).status == "executed"


async def test_an_agent_never_sees_what_a_decision_must_name(world: World):
    """Not in an answer, and not in a conflict."""
    async with await world.agent() as agent:
        body = make_request().model_dump(mode="json")
        asked = await agent.post("/agent/approvals", json=body)
        id = asked.json()["id"]
        held = (await world.store.approvals.get(id)).nonce
        call = {"session_id": "session-1", "tool_call_id": "call-1", "digest": "d" * 64}
        answers = [
            asked,
            await agent.post("/agent/claims", json={**call, "lease": 60}),
            await agent.get(f"/agent/approvals/{id}"),
            await agent.post(f"/agent/approvals/{id}/withdrawal", json={}),
        ]
    assert [one.status_code for one in answers] == [201, 409, 200, 200]
    assert all(held not in one.text for one in answers)


async def test_keys_of_different_agents_never_meet(world: World):
    """The same key of another agent neither finds nor blocks anything."""
    mine = make_request()
    theirs = mine.model_copy(update={"session_id": "session-2"})
    async with await world.agent() as bot, await world.agent("other") as other:
        one = await bot.post("/agent/approvals", json=mine.model_dump(mode="json"))
        two = await other.post("/agent/approvals", json=theirs.model_dump(mode="json"))
    assert one.json()["id"] != two.json()["id"]


async def test_an_agent_withdraws_what_was_answered_at_its_terminal(world: World):
    """The other question closes by itself and says who answered."""
    async with await world.agent() as agent:
        asked = await agent.post("/agent/approvals", json=make_request().model_dump(mode="json"))
        path = f"/agent/approvals/{asked.json()['id']}/withdrawal"
        body = {"by": "kim", "option": "Allow once", "reason": "at the terminal"}
        ended = (await agent.post(path, json=body)).json()
    assert (ended["status"], ended["decided_by"]) == ("cancelled", "kim")


async def test_an_agent_reports_its_session_and_its_records(world: World):
    """Whose session it is, the token says; and no agent makes itself hosted."""
    async with await world.agent() as agent, await world.person() as person:
        entry = {"id": "s", "user": "root", "hosted": True, "transcript": [{"role": "user"}]}
        assert (await agent.post("/agent/sessions", json=entry)).status_code == 200
        records = {"records": [{"number": 1, "time": 1.0, "type": "dispatch"}]}
        assert (await agent.post("/agent/sessions/s/records", json=records)).status_code == 200
        many = {"records": records["records"] * 1001}
        assert (await agent.post("/agent/sessions/s/records", json=many)).status_code == 422
        session = (await person.get("/sessions/s")).json()
        assert (session["user"], session["hosted"]) == ("bot", False)
        assert len((await person.get("/sessions/s/records")).json()["records"]) == 1


async def test_a_standing_rule_answers_for_the_person(world: World):
    """And its use is counted."""
    asked = await world.ask()
    async with await world.agent() as agent, await world.person() as person:
        body = make_request(key="next").model_dump(mode="json")
        assert (await agent.post("/agent/rules/match", json=body)).json() == {"rule": None}
        decision = allow(asked, standing={"scope": "exact"})
        await person.post(f"/approvals/{asked.id}/decision", json=decision)
        rule = (await agent.post("/agent/rules/match", json=body)).json()["rule"]
    assert (rule["author"], rule["uses"]) == ("ann", 1)


async def test_people_do_not_ask(world: World):
    """Only agents create approvals; clients may only list and decide."""
    async with await world.person() as person:
        answer = await person.post("/agent/approvals", json=make_request().model_dump(mode="json"))
    assert answer.status_code == 403


async def test_a_session_is_no_child_of_another_agents(world: World):
    """Nothing is shown below a session that it did not start."""
    await world.ask()
    body = {"id": "child", "parent_id": "session-1"}
    async with await world.agent("other") as other, await world.agent() as agent:
        assert (await other.post("/agent/sessions", json=body)).status_code == 403
        assert (await agent.post("/agent/sessions", json=body)).status_code == 200


def nest(levels: int) -> str:
    """JSON that is nested so deeply."""
    return '{"a":' * levels + "1" + "}" * levels


async def test_an_input_that_is_nested_too_deeply_hides_nothing_else(world: World):
    """One that was kept would fail every list that it is in, and so hide all that waits."""
    question = make_request().model_dump(mode="json")
    async with await world.agent() as agent, await world.person() as person:
        agent.headers["Content-Type"] = "application/json"
        for levels in (150, 900, 20_000):
            text = json.dumps({**question, "key": str(levels), "tool_input": {"deep": None}})
            refused = await agent.post(
                "/agent/approvals", content=text.replace("null", nest(levels))
            )
            assert refused.status_code == 400
            assert "nested" in refused.json()["error"]["message"]
        asked = await world.ask()
        listed = (await person.get("/approvals")).json()["approvals"]
        assert [one["id"] for one in listed] == [asked.id]


async def test_of_what_is_reported_too_deep_parts_are_left_out(world: World):
    """The rest of the session is still shown."""
    async with await world.agent() as agent, await world.person() as person:
        agent.headers["Content-Type"] = "application/json"
        messages = f'[{{"role":"user","content":{nest(500)}}},{{"role":"assistant","content":"b"}}]'
        session = f'{{"id":"s","transcript":{messages}}}'
        record = f'{{"number":1,"time":1.0,"type":"x","body":{nest(500)}}}'
        assert (await agent.post("/agent/sessions", content=session)).status_code == 200
        publish = await agent.post("/agent/sessions/s/records", content=f'{{"records":[{record}]}}')
        assert publish.status_code == 200
        told = (await person.get("/sessions/s/transcript")).json()["messages"]
        assert told[1] == {"role": "assistant", "content": "b"}
        (kept,) = (await person.get("/sessions/s/records")).json()["records"]
        assert "100 levels" in told[0]["left_out"]
        assert "100 levels" in kept["body"]["left_out"]
