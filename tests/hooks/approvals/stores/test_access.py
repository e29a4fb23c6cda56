"""Credentials."""

from __future__ import annotations

from amplifier_hooks.approvals.stores.access import USE_NOTED, derive_cookie
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import ManualClock


async def test_secrets_are_long_and_never_the_same(store: Store) -> None:
    """Tokens and cookies cannot be guessed; a code can be typed."""
    tokens = {(await store.access.add_token("a", ["read"]))[0] for _ in range(10)}
    assert len(tokens) == 10
    assert all(token.startswith("amp_") and len(token) >= 47 for token in tokens)
    codes = {await store.access.add_code("a", ["read"]) for _ in range(10)}
    assert len(codes) == 10
    assert all(len(code) == 14 and not set(code) & set("01IOLU") for code in codes)
    cookie, login = await store.access.exchange_code(codes.pop())
    other, second = await store.access.exchange_code(codes.pop())
    assert len({cookie, other, login.csrf, second.csrf}) == 4


async def test_a_cookie_does_not_lead_to_the_other_half_of_a_login(store: Store) -> None:
    """Whoever is sent the cookie, such as another program on the host, learns nothing more."""
    cookie, login = await store.access.exchange_code(await store.access.add_code("a", ["read"]))
    found = await store.access.identify_login(cookie)
    assert found is not None
    assert (found.identity, found.csrf) == (login.identity, "")
    assert derive_cookie(login.csrf) == cookie
    assert len(login.csrf) >= 43


async def test_the_use_of_a_token_is_noted_once_a_minute(store: Store, clock: ManualClock) -> None:
    """Not with every request: each note is a write to the disk."""
    text, token = await store.access.add_token("a", ["read"])
    noted = []
    for seconds in (0, 1, USE_NOTED, 1):
        clock.advance(seconds)
        await store.access.identify_token(text)
        noted.append((await store.access.list_tokens())[0].last_used)
    begin = token.created
    assert noted == [begin, begin, begin + 61, begin + 61]


async def test_a_code_that_was_used_or_is_over_is_gone_from_the_database(
    store: Store, clock: ManualClock
) -> None:
    """Nothing piles up."""
    for _ in range(3):
        await store.access.add_code("a", ["read"], 10.0)
    clock.advance(11)
    await store.access.exchange_code(await store.access.add_code("a", ["read"]))
    rows = await store.engine.read(lambda t: t.run("SELECT count(*) AS n FROM codes"))
    assert rows == [{"n": 0}]
