"""The guard of the page and its API."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.http_guard import Head, Refusal
from amplifier_hooks.server import guard as guard_module
from amplifier_hooks.server.guard import (
    MAX_ANONYMOUS_BODY,
    Guard,
    RateLimit,
    RequestLog,
    check_json,
)
from tests.hooks.server.world import World, allow


def find_guard(world: World) -> Guard:
    """The guard of an app that has answered once."""
    layer: Any = world.app.middleware_stack
    while not isinstance(layer, Guard):
        layer = layer.guard if isinstance(layer, RequestLog) else layer.app
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
        for wrong in ({"x-amplifier-csrf": "no"}, {"origin": "https://evil.test"}):
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
            raise StoreUnavailable("The store at db.example.com does not answer")

        identify_login = identify_token

    async with await world.person() as person:
        assert (await person.get("/me")).status_code == 200
        find_guard(world).access = Gone()
        answer = await person.get("/me")
    assert answer.status_code == 503
    assert "does not answer" in answer.json()["error"]["message"]
    assert "db.example.com" not in answer.text
    assert answer.headers["retry-after"] == "2"


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


@pytest.mark.parametrize("text", [b"", b"{}", b'{"a": [1, 2.5, null, "\\ud83d\\ude00"]}', b"1e300"])
def test_json_passes(text: bytes):
    """And nothing at all, where nothing is wanted."""
    check_json(text)


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"{'a': 1}",
        b"NaN",
        b"[-Infinity]",
        b"1e999",
        b"[" * 100_000,
        b"\xff",
        b"9" * 5000,
        b'{"option": 0, "option": 1}',
        b'[{"a": {"b": 1, "\\u0062": 2}}]',
    ],
)
def test_what_only_python_takes_for_json_is_refused(text: bytes):
    """What one part accepts, every other part must be able to keep."""
    with pytest.raises(Refusal) as refused:
        check_json(text)
    assert (refused.value.status, refused.value.code) == (400, "json")


async def test_links_of_other_pages_lead_to_files_only(world: World):
    """Somebody may click on one; the API answers no other site, and nothing is framed."""
    async with world.client() as client:
        root = world.address
        for headers, statuses in (
            ({"Sec-Fetch-Site": "cross-site"}, (200, 403)),
            ({"Sec-Purpose": "prefetch"}, (200, 403)),
            ({"Sec-Fetch-Dest": "iframe"}, (403, 403)),
        ):
            page = await client.get(f"{root}/", headers=headers)
            health = await client.get("/health", headers=headers)
            assert (page.status_code, health.status_code) == statuses, headers


def make_guard(**settings: Any) -> Guard:
    """A guard of nothing."""
    nothing: Any = None
    return Guard(nothing, nothing, nothing, **settings)


def make_scope(*forwarded: str, client: tuple[str, int] | None = ("10.0.0.9", 5)) -> dict[str, Any]:
    """A request with this header."""
    headers = [(b"X-Forwarded-For", value.encode()) for value in forwarded]
    return {"type": "http", "method": "GET", "path": "/", "client": client, "headers": headers}


def test_the_peer_is_who_is_connected_or_what_the_proxy_added_last():
    """Anybody can write X-Forwarded-For; what stands before the last entry came from outside."""
    direct, behind = make_guard(), make_guard(behind_proxy=True)
    assert direct.read_head(make_scope("1.2.3.4")).peer == "10.0.0.9"
    assert behind.read_head(make_scope("6.6.6.6, 1.2.3.4")).peer == "1.2.3.4"
    assert behind.read_head(make_scope()).peer == "10.0.0.9"
    assert direct.read_head(make_scope(client=None)).peer == ""


def test_every_answer_says_what_a_browser_must_not_do():
    """No framing, strict content policy, no sniffing, no referrer; the API is kept in no cache."""
    page = dict(make_guard().list_headers(Head("GET", "/", ())))
    policy = page[b"content-security-policy"].decode()
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page[b"x-content-type-options"] == b"nosniff"
    assert page[b"referrer-policy"] == b"no-referrer"
    assert page[b"cross-origin-opener-policy"] == b"same-origin"
    assert b"cache-control" not in page
    api = dict(make_guard(uses_tls=True).list_headers(Head("GET", "/api/v1/me", ())))
    assert api[b"cache-control"] == b"no-store"
    assert b"strict-transport-security" in api


def test_so_many_at_once_then_so_many_a_second():
    """Beyond that one is told when to come again."""
    now = [0.0]
    limit = RateLimit(10, 10 / 60, clock=lambda: now[0])
    assert [limit.count("a") for _ in range(10)] == [0] * 10
    assert limit.count("a") == 6
    now[0] += 5.9
    assert limit.count("a") == 1
    now[0] += 0.2
    assert limit.count("a") == 0
    assert limit.count("a") > 0


def test_peers_are_counted_by_themselves(monkeypatch: pytest.MonkeyPatch):
    """The longest silent one is forgotten first: addresses must not fill the memory."""
    monkeypatch.setattr(guard_module, "_MOST_PEERS", 2)
    limit = RateLimit(1, 0.001, clock=lambda: 0.0)
    assert [limit.count(peer) for peer in ("a", "b", "c")] == [0, 0, 0]
    assert len(limit._left) == 2
    assert limit.count("b") > 0
    assert limit.count("a") == 0
