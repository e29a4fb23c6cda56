"""The witness."""

from __future__ import annotations

from base64 import b64encode

from amplifier_audit.checkpoint import make_note
from amplifier_audit.merkle import hash_leaf
from tests.hooks.server.world import World


async def test_what_is_no_checkpoint_is_refused(world: World):
    """Servers accept checkpoints, and nothing else."""
    async with await world.agent() as agent:
        proof = [b64encode(b"x" * 32).decode()]
        wrong = await agent.post("/witness", json={"note": "not a note", "proof": proof})
        assert wrong.status_code == 400
        wrong = await agent.post("/witness", json={"note": "x", "proof": ["%%"]})
        assert "base64" in wrong.json()["error"]["message"]


async def test_a_trail_that_nobody_has_witnessed_is_not_found(world: World):
    """Read to get, agent to put."""
    async with await world.person() as person:
        assert (await person.get("/witness/unknown")).status_code == 404
        assert (await person.post("/witness", json={"note": "x"})).status_code == 403


async def test_an_agent_sees_and_continues_only_its_own_trails(world: World):
    """Of another's it learns neither name nor size."""
    note = make_note("log-1", 1, hash_leaf(b"a"), name="session-1").text
    async with (
        await world.agent("build-7") as owner,
        await world.agent("other") as other,
        await world.person() as person,
    ):
        assert (await owner.post("/witness", json={"note": note})).status_code == 200
        assert (await other.post("/witness", json={"note": note})).status_code == 403
        assert (await other.get("/witness/log-1")).status_code == 404
        assert (await other.get("/witness")).json() == {"heads": []}
        for client in (owner, person):
            assert (await client.get("/witness/log-1")).json()["head"]["machine"] == "build-7"
            assert len((await client.get("/witness")).json()["heads"]) == 1
