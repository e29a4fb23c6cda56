"""An agent's link to a server."""

from __future__ import annotations

import asyncio
import json

import pytest

from amplifier_hooks.approvals.client import HttpLink
from amplifier_hooks.approvals.errors import Conflict, NotAllowed, NotFound, StoreUnavailable
from amplifier_hooks.approvals.link import AgentLink
from amplifier_hooks.approvals.models import Choice, Decider, SessionEntry, SessionRecord
from tests.hooks.approvals.client.scripted_server import run_scripted, write_answer
from tests.hooks.server.world import World, make_request

ANN = Decider("ann", "web")


async def connect(world: World, name: str = "bot") -> HttpLink:
    return HttpLink(world.address, await world.token(name, "agent"), patience=0.5)


async def test_a_call_is_asked_about_allowed_claimed_and_finished(served: World):
    """The same as over a store in the process."""
    link: AgentLink = await connect(served)
    asked = await link.request(make_request())
    assert (await link.request(make_request())).id == asked.id
    assert (await link.wait(asked.id, 0.01)).status == "pending"
    waiting = asyncio.create_task(link.wait(asked.id, 60))
    held = await served.store.approvals.get(asked.id)
    choice = Choice(option=1, nonce=held.nonce, key="k", comment="go")
    await served.store.approvals.decide(asked.id, choice, ANN)
    decided = await waiting
    assert (decided.status, decided.decided_by, decided.comment) == ("approved", "ann", "go")
    claim = await link.claim("session-1", "call-1", "d" * 64, 60.0)
    with pytest.raises(Conflict) as twice:
        await link.claim("session-1", "call-1", "d" * 64, 60.0)
    assert twice.value.approval.status == "executing"
    renewed = await link.renew(claim, 90.0)
    assert renewed.fence == claim.fence
    await link.finish(renewed, "executed")
    await link.finish(renewed, "executed")  # an answer that got lost is asked for again
    assert (await served.store.approvals.get(asked.id)).status == "executed"
    assert await link.claim("session-1", "nobody asked", "d", 60.0) is None
    await link.close()


async def test_rules_sessions_records_and_withdrawals_pass(served: World):
    """Everything an agent needs of a store."""
    link = await connect(served)
    await link.save_session(SessionEntry(id="session-1", turns=2), [{"role": "user"}])
    await link.publish(
        "session-1", [SessionRecord(number=1, time=1.0, type="dispatch", body={"a": 1})]
    )
    assert await link.find_rule(make_request()) is None
    asked = await link.request(make_request())
    ended = await link.withdraw(asked.id, by="kim", option="Deny", reason="terminal")
    assert (ended.status, ended.decided_by) == ("cancelled", "kim")
    assert (await served.store.sessions.get("session-1")).user == "bot"
    assert await served.store.sessions.transcript("session-1") == [{"role": "user"}]
    assert (await served.store.records.read("session-1"))[0].body == {"a": 1}
    await link.close()


async def test_what_is_too_large_for_one_request_arrives_all_the_same(served: World):
    """A long conversation is cut at its beginning; many records come in portions."""
    link = await connect(served)
    messages = [{"role": "user", "content": f"{number} {'x' * 100_000}"} for number in range(40)]
    await link.save_session(SessionEntry(id="session-1"), messages)
    records = [
        SessionRecord(number=n, time=1.0, type="dispatch", body={"a": "x" * 200_000})
        for n in range(1, 16)
    ]
    await link.publish("session-1", records)
    kept = await served.store.sessions.transcript("session-1")
    assert kept[0]["left_out"] + len(kept) - 1 == 40
    assert kept[-1] == messages[-1]
    assert await served.store.records.read("session-1") == records
    await link.close()


async def test_another_agents_questions_are_not_there(served: World):
    """Agents see only their own."""
    mine, theirs = await connect(served), await connect(served, "other")
    asked = await mine.request(make_request())
    with pytest.raises(NotFound):
        await theirs.wait(asked.id, 1)
    with pytest.raises(NotAllowed):
        await theirs.claim("session-1", "call-1", "d" * 64, 60.0)
    await mine.close()
    await theirs.close()


async def test_a_wrong_token_is_said_at_once(served: World):
    """Nothing is gained by trying again."""
    link = HttpLink(served.address, "amp_wrong")
    with pytest.raises(NotAllowed) as raised:
        await link.request(make_request())
    assert "amp_wrong" not in str(raised.value)
    await link.close()


async def test_a_server_that_comes_back_gets_the_question_again():
    """Retries until the deadline; the key makes it harmless."""
    from amplifier_hooks.approvals.models import Approval

    approval = Approval(
        id="id",
        nonce="",
        status="pending",
        request=make_request(),
        created=1.0,
        deadline=2.0,
        updated=1.0,
        seconds_left=1.0,
    )
    good = write_answer(201, json.dumps(approval.model_dump(mode="json")))
    async with run_scripted(write_answer(503), b"", good) as server:
        link = HttpLink(server.address, "amp_t")
        assert await link.request(make_request()) == approval
        await link.close()
    assert len(server.requests) == 3


async def test_a_server_that_stays_away_is_unavailable_with_a_sentence():
    """StoreUnavailable otherwise, for a wait and for a question."""
    async with run_scripted(b"") as server:
        pass
    link = HttpLink(server.address, "amp_t", patience=0.1)
    for attempt in (
        link.request(make_request(timeout=0.1)),
        link.wait("id", 0.1),
        link.claim("s", "c", "d", 1.0),
        link.publish("s", [SessionRecord(number=1, time=1.0, type="dispatch")]),
    ):
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await attempt
    await link.close()


@pytest.mark.parametrize("answer", ["{}", '{"claim": 5}', '{"claim": {"fence": "x"}}'])
async def test_an_answer_that_is_none_allows_nothing(answer: str):
    """Another server may stand there: no approval, and no claim."""
    async with run_scripted(write_answer(200, answer)) as server:
        link = HttpLink(server.address, "amp_t", patience=0.0)
        with pytest.raises(StoreUnavailable):
            await link.wait("id", 0.0)
        with pytest.raises(StoreUnavailable):
            await link.claim("s", "c", "d", 1.0)
        await link.close()
