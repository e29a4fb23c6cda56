"""Standing rules."""

from __future__ import annotations

from tests.hooks.server.world import World, allow


async def test_a_rule_is_listed_until_a_person_takes_it_back(world: World):
    """Listed and revoked in page and command line."""
    asked = await world.ask()
    async with await world.person() as person, await world.person("vera", "read") as viewer:
        decision = allow(asked, standing={"scope": "exact"})
        await person.post(f"/approvals/{asked.id}/decision", json=decision)
        (rule,) = (await viewer.get("/rules")).json()["rules"]
        assert rule["description"]
        path = f"/rules/{rule['id']}/revocation"
        assert (await viewer.post(path)).status_code == 403
        assert (await person.post("/rules/unknown/revocation")).status_code == 404
        assert (await person.post(path)).json()["revoked_by"] == "ann"
        assert (await viewer.get("/rules")).json()["rules"] == []
        ended = (await viewer.get("/rules", params={"ended": "true"})).json()["rules"]
    assert [one["id"] for one in ended] == [rule["id"]]
