"""Tokens and one-time codes, for administrators."""

from __future__ import annotations

from tests.hooks.server.world import World


async def test_a_token_is_shown_once_works_and_can_be_revoked(world: World):
    """Bearer tokens with separate scopes, stored as digests."""
    async with await world.person() as admin:
        made = await admin.post("/tokens", json={"name": "eve", "scopes": ["read"], "seconds": 60})
        text, token = made.json()["text"], made.json()["token"]
        assert made.status_code == 201
        listed = await admin.get("/tokens")
        assert text not in listed.text
        assert token["id"] in [one["id"] for one in listed.json()["tokens"]]
        async with world.client(Authorization=f"Bearer {text}") as eve:
            assert (await eve.get("/me")).json()["name"] == "eve"
            await admin.post(f"/tokens/{token['id']}/revocation")
            assert (await eve.get("/me")).status_code == 401
        assert (await admin.post("/tokens/unknown/revocation")).status_code == 404


async def test_what_makes_no_sense_is_refused(world: World):
    """No scopes, unknown forms, and a token that asks and decides."""
    async with await world.person() as admin:
        for scopes, status in (([], 422), (["Read"], 400), (["agent", "decide"], 400)):
            body = {"name": "x", "scopes": scopes}
            assert (await admin.post("/tokens", json=body)).status_code == status
        assert len((await admin.get("/tokens")).json()["tokens"]) == 1


async def test_only_administrators_make_tokens_and_codes(world: World):
    """Deciding is not administering."""
    async with await world.person("dan", "read", "decide") as person:
        assert (await person.get("/tokens")).status_code == 403
        body = {"name": "x", "scopes": ["read"]}
        assert (await person.post("/tokens", json=body)).status_code == 403
        assert (await person.post("/codes", json=body)).status_code == 403


async def test_a_code_logs_somebody_else_in(world: World):
    """For another person's phone."""
    async with await world.person() as admin:
        made = await admin.post("/codes", json={"name": "bob", "seconds": 60})
    async with world.client() as client:
        answer = await client.post("/login", json={"code": made.json()["code"]})
    assert (answer.json()["name"], answer.json()["scopes"]) == ("bob", ["decide", "read"])
