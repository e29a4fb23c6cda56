"""Whether the server answers."""

from __future__ import annotations

from tests.hooks.server.world import World


async def test_it_says_that_it_is_there_and_nothing_else(world: World):
    """No credential, no version, no count."""
    async with world.client() as client:
        assert (await client.get("/health")).json() == {"status": "ok"}
