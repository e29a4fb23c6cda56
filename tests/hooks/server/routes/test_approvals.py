"""Approvals, for people."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.hooks.server.world import World, allow


async def test_approvals_are_listed_by_page_and_filter(world: World):
    """An inbox across sessions and machines with filters."""
    first = await world.ask(machine="m1", hook="h1", tool_name="Bash")
    second = await world.ask(machine="m2", session_id="s2", tool_name="Write")
    await world.store.approvals.withdraw(second.id)
    async with await world.person() as person:

        async def ids(**query: Any) -> list[str]:
            found = (await person.get("/approvals", params=query)).json()
            return [one["id"] for one in found["approvals"]]

        assert await ids() == [first.id, second.id]
        assert await ids(order="new") == [second.id, first.id]
        assert await ids(status="pending") == [first.id]
        assert await ids(status=["pending", "cancelled"]) == [first.id, second.id]
        assert await ids(machine="m2") == [second.id]
        assert await ids(session="s2", hook="h1") == []
        assert await ids(hook="h1", tool="Bash") == [first.id]
        page = (await person.get("/approvals", params={"limit": 1})).json()
        assert [one["id"] for one in page["approvals"]] == [first.id]
        assert await ids(limit=1, after=page["next"]) == [second.id]
        for wrong in ({"limit": 0}, {"limit": 501}, {"order": "x"}, {"status": "open"}):
            assert (await person.get("/approvals", params=wrong)).status_code == 422
        assert (await person.get("/approvals", params={"after": "x"})).status_code == 400


async def test_a_long_poll_returns_with_the_decision(world: World):
    """Approvals: list, long-poll, decide."""
    asked = await world.ask()
    async with await world.person() as person, await world.person("bob") as other:
        waiting = asyncio.create_task(person.get(f"/approvals/{asked.id}", params={"wait": 60}))
        decided = await other.post(f"/approvals/{asked.id}/decision", json=allow(asked))
        assert decided.json()["status"] == "approved"
        assert (await waiting).json()["decided_by"] == "bob"
        assert (await person.get(f"/approvals/{asked.id}", params={"wait": 61})).status_code == 422
        assert (await person.get("/approvals/unknown", params={"wait": 5})).status_code == 404


async def test_the_same_decision_again_is_the_same_answer_and_another_one_a_conflict(world: World):
    """Exactly once, and the loser is told who was first."""
    asked = await world.ask()
    async with await world.person() as ann, await world.person("bob") as bob:
        path = f"/approvals/{asked.id}/decision"
        first = await ann.post(path, json=allow(asked))
        again = await ann.post(path, json=allow(asked))
        late = await bob.post(path, json=allow(asked, option=0))
    assert first.json()["decided_at"] == again.json()["decided_at"]
    assert late.status_code == 409
    assert late.json()["approval"]["decided_by"] == "ann"
    assert late.json()["error"]["code"] == "conflict"


async def test_several_approvals_are_refused_at_once_and_each_is_told_apart(world: World):
    """Batch refusal."""
    one, two, gone = [await world.ask() for _ in range(3)]
    await world.store.approvals.withdraw(gone.id)
    only_yes = await world.ask(options=(one.request.options[1],))
    given = [{"id": it.id, "nonce": it.nonce} for it in (one, two, gone, only_yes)]
    given.append({"id": "unknown", "nonce": "n"})
    body = {"approvals": given, "key": "batch", "comment": "not today"}
    async with await world.person() as person:
        results = (await person.post("/approvals/refusals", json=body)).json()["results"]
        again = (await person.post("/approvals/refusals", json=body)).json()["results"]
        too_many = {"key": "k", "approvals": given[:1] * 501}
        refused = await person.post("/approvals/refusals", json=too_many)
    assert [it["status"] for it in results] == ["denied", "denied", "cancelled", "", ""]
    codes = [it["error"] and it["error"]["code"] for it in results]
    assert codes == [None, None, "conflict", "bad_request", "not_found"]
    assert again[:2] == results[:2]
    assert refused.status_code == 422
    assert (await world.store.approvals.get(one.id)).comment == "not today"


async def test_a_decision_may_edit_the_input_and_become_a_rule(world: World):
    """Edit of the input where the hook permits it; standing decisions."""
    asked = await world.ask(editable=True)
    kept = await world.ask()
    standing = {"scope": "exact", "seconds": 3600, "uses": 5}
    async with await world.person() as person:
        edited = await person.post(
            f"/approvals/{asked.id}/decision", json=allow(asked, edited_input={"command": "ls -l"})
        )
        ruled = await person.post(
            f"/approvals/{kept.id}/decision", json=allow(kept, standing=standing)
        )
        rules = (await person.get("/rules")).json()["rules"]
    assert edited.json()["edited_input"] == {"command": "ls -l"}
    assert [one["id"] for one in rules] == [ruled.json()["rule_id"]]
    assert (rules[0]["author"], rules[0]["uses_left"]) == ("ann", 5)
