"""What a person does at a server from a shell."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_hooks.approvals.client import PeopleClient
from amplifier_hooks.approvals.errors import Conflict, NotAllowed
from amplifier_hooks.approvals.models import ApprovalFilter, Choice, StandingWish
from tests.hooks.server.world import World


async def connect(world: World, *scopes: str) -> PeopleClient:
    return PeopleClient(world.address, await world.token("ann", *(scopes or ("read", "decide"))))


async def test_a_person_looks_decides_and_is_told_who_was_first(served: World):
    """From any shell, as on the page."""
    asked, other = await served.ask(), await served.ask(machine="m2")
    client = await connect(served)
    found, following = await client.list(ApprovalFilter(limit=1))
    rest, _ = await client.list(ApprovalFilter(limit=1, after=following, newest_first=False))
    assert [one.id for one in found + rest] == [asked.id, other.id]
    (only,), _ = await client.list(ApprovalFilter(status=("pending",), machine="m2"))
    assert (only.id, (await client.get(other.id)).nonce) == (other.id, other.nonce)
    waiting = asyncio.create_task(client.wait(asked.id, 60))
    standing = StandingWish(scope="exact", seconds=60.0)
    decided = await client.decide(
        asked.id, Choice(option=1, nonce=asked.nonce, key="k", standing=standing)
    )
    assert (decided.decided_by, decided.decided_via) == ("ann", "api")
    assert (await waiting).status == "approved"
    with pytest.raises(Conflict) as late:
        await client.decide(asked.id, Choice(option=0, nonce=asked.nonce, key="other"))
    assert late.value.approval.decided_by == "ann"
    (rule,) = await client.list_rules()
    assert (await client.revoke_rule(rule.id)).revoked_by == "ann"
    assert await client.list_rules() == []
    assert len(await client.list_rules(include_ended=True)) == 1
    await client.close()


async def test_a_viewer_is_refused(served: World):
    """By the server, not by the client."""
    asked = await served.ask()
    client = await connect(served, "read")
    with pytest.raises(NotAllowed):
        await client.decide(asked.id, Choice(option=1, nonce=asked.nonce, key="k"))
    await client.close()


async def test_watching_shows_what_is_pending_and_what_becomes_of_it(served: World):
    """As it happens."""
    asked = await served.ask()
    client = await connect(served)
    seen = []
    async with asyncio.timeout(60):
        async for approval in client.watch():
            seen.append((approval.id, approval.status))
            if len(seen) == 1:
                await served.store.approvals.withdraw(asked.id)
            else:
                break
    assert seen == [(asked.id, "pending"), (asked.id, "cancelled")]
    await client.close()
