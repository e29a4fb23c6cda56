"""Logging in with a one-time code, and out."""

from __future__ import annotations

from amplifier_hooks.approvals.stores.store import Store
from tests.hooks.server.world import World, run_app


async def test_a_code_is_exchanged_once_for_a_cookie_that_no_script_sees(world: World):
    """One-time code to cookie plus anti-forgery token."""
    code = await world.store.access.add_code("ann", ["read", "decide"])
    async with world.client(Origin=world.address) as client:
        answer = await client.post("/login", json={"code": code})
        csrf = answer.json()["csrf"]
        me = await client.get("/me", headers={"X-Amplifier-CSRF": csrf})
    async with world.client() as other:
        again = await other.post("/login", json={"code": code})
    assert answer.json() == {**me.json(), "csrf": csrf}
    assert answer.json()["name"] == "ann"
    assert answer.json()["scopes"] == ["decide", "read"]
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/" in cookie
    assert "max-age=60" in cookie
    assert "secure" not in cookie
    assert again.status_code == 401
    assert "set-cookie" not in again.headers


async def test_over_tls_the_cookie_stays_there(store: Store):
    """Secure when TLS."""
    async with run_app(store, behind_proxy=True) as world:
        code = await store.access.add_code("ann", ["read"])
        async with world.client() as client:
            answer = await client.post("/login", json={"code": code})
    assert "Secure" in answer.headers["set-cookie"]


async def test_codes_are_found_however_they_are_typed_but_never_guessed(world: World):
    """Small letters and without dashes; a wrong one says nothing about others."""
    code = await world.store.access.add_code("ann", ["read"])
    async with world.client() as client:
        assert (await client.post("/login", json={"code": code[:-1]})).status_code == 401
        typed = code.lower().replace("-", " ")
        assert (await client.post("/login", json={"code": typed})).status_code == 200


async def test_logging_out_ends_the_login_for_good(world: World):
    """The cookie is worth nothing afterwards."""
    async with await world.browser() as browser:
        cookie = browser.cookies["amplifier_login"]
        assert (await browser.post("/logout")).status_code == 200
        browser.cookies.set("amplifier_login", cookie)
        assert (await browser.get("/me")).status_code == 401


async def test_a_token_has_no_login_to_end(world: World):
    """Tokens are revoked, not logged out."""
    async with await world.person() as person:
        assert (await person.post("/logout")).status_code == 200
        assert (await person.get("/me")).json() == {
            "name": "ann",
            "scopes": ["admin", "decide", "read"],
            "csrf": "",
        }
