"""The guard around everything."""

from __future__ import annotations

import asyncio
from typing import Any

from amplifier_apps.web.guard.body import MAX_ANONYMOUS_BODY
from amplifier_apps.web.guard.middleware import Guard
from amplifier_apps.web.guard.rates import RateLimit
from amplifier_foundation.stores.errors import StoreUnavailable
from tests.apps.web.world import World, allow


def find_guard(world: World) -> Guard:
    """The guard of an app that has answered once."""
    layer: Any = world.app.middleware_stack
    while not isinstance(layer, Guard):
        layer = layer.app
    return layer


async def test_nothing_in_the_api_is_for_everybody_but_three_paths(world: World):
    """Anonymous callers learn nothing, not even what there is."""
    async with world.client() as client:
        for path in ("/me", "/approvals", "/nothing", "/agent/approvals", ""):
            assert (await client.get(path)).status_code == 401, path
        assert (await client.get("/health")).json() == {"status": "ok"}
        assert (await client.get("/openapi.json")).status_code == 200


async def test_a_cookie_needs_our_page_behind_it(world: World):
    """Anti-forgery token and Origin with every POST."""
    async with await world.browser() as browser:
        assert (await browser.get("/me")).status_code == 200
        right = dict(browser.headers)
        for wrong in ({"X-Amplifier-CSRF": "no"}, {"Origin": "https://evil.test"}):
            browser.headers.update({**right, **wrong})
            assert (await browser.post("/logout")).status_code == 403
        browser.headers.update(right)
        del browser.headers["Origin"]
        assert (await browser.post("/logout")).json()["error"]["code"] == "origin"
        browser.headers.update(right)
        assert (await browser.post("/logout")).status_code == 200
        assert (await browser.get("/me")).status_code == 401


async def test_a_cookie_by_itself_is_worth_nothing(world: World):
    """Browsers send it to every port of the host: to whatever an agent serves there, too."""
    asked = await world.ask()
    async with await world.browser() as browser, world.client(Origin=world.address) as thief:
        thief.cookies.update(browser.cookies)
        for path in ("/me", "/approvals", f"/approvals/{asked.id}", "/sessions", "/tokens"):
            assert (await browser.get(path)).status_code == 200, path
            refused = await thief.get(path)
            assert refused.status_code == 401, path
            assert asked.nonce not in refused.text
        assert (await browser.get("/me")).json()["csrf"] == ""
        thief.headers["X-Amplifier-CSRF"] = browser.cookies["amplifier_login"]
        decided = await thief.post(f"/approvals/{asked.id}/decision", json=allow(asked))
        assert decided.status_code == 403
    assert (await world.store.approvals.get(asked.id)).status == "pending"


async def test_ten_logins_a_minute_then_one_must_wait(world: World):
    """Login 10 a minute for each peer, right codes included."""
    async with world.client() as client:
        tries = [await client.post("/login", json={"code": "A"}) for _ in range(11)]
        code = await world.store.access.add_code("ann", ["read"])
        late = await client.post("/login", json={"code": code})
    assert [one.status_code for one in tries] == [401] * 10 + [429]
    assert int(tries[-1].headers["retry-after"]) >= 1
    assert late.status_code == 429


async def test_requests_have_a_generous_limit(world: World):
    """A loop that has gone wild is slowed down."""
    async with world.client() as client:
        await client.get("/health")
        find_guard(world).requests = RateLimit(2, 0.001)
        statuses = [(await client.get("/health")).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]


async def test_who_is_not_known_sends_little(world: World):
    """A body is read for a login, and no further than a code needs."""
    async with world.client() as client:
        answer = await client.post("/login", json={"code": "A" * MAX_ANONYMOUS_BODY})
    assert answer.status_code == 413


async def test_a_store_that_does_not_answer_is_503(world: World):
    """It is not the caller's fault."""

    class Gone:
        async def identify_token(self, text: str):
            raise StoreUnavailable("The database does not answer")

        identify_login = identify_token

    async with await world.person() as person:
        assert (await person.get("/me")).status_code == 200
        find_guard(world).access = Gone()
        answer = await person.get("/me")
    assert answer.status_code == 503
    assert answer.json()["error"]["message"] == "The database does not answer"


async def test_a_body_that_never_ends_is_cut_off_where_the_limit_is(world: World):
    """Chunks state no length."""

    async def endless():
        while True:
            yield b"x" * 100_000
            await asyncio.sleep(0)

    async with await world.person() as person:
        headers = {"Content-Type": "application/json"}
        answer = await person.post("/tokens", content=endless(), headers=headers)
    assert answer.status_code == 413
