"""The witness."""

from __future__ import annotations

from base64 import b64encode

from tests.apps.web.world import World


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
