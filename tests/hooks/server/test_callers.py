"""Who a request comes from, and deciding as that person."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.errors import NotAllowed
from amplifier_hooks.approvals.models import Identity
from amplifier_hooks.approvals.stores.access import derive_cookie
from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.http_guard import Head, read_bearer
from amplifier_hooks.server.bodies import DecisionBody
from amplifier_hooks.server.callers import (
    Caller,
    decide,
    identify_again,
    identify_caller,
    read_cookie,
)
from tests.hooks.server.world import World, allow


def make(*scopes: str) -> Caller:
    return Caller(Identity("ann", frozenset(scopes)), "web", derive_cookie("secret"))


def make_head(authorization: list[str], cookies: list[str] | None = None) -> Head:
    """A request with these headers."""
    headers = [("authorization", value) for value in authorization]
    headers += [("cookie", value) for value in cookies or []]
    return Head("GET", "/", tuple(headers))


def test_the_right_to_decide_may_be_narrow_and_is_never_an_agents():
    """The agent's credentials can never decide."""
    assert make("decide").may("decide")
    assert make("decide:hook=x").may("decide")
    assert not make("read", "admin").may("decide")
    assert not make("agent", "decide").may("decide")
    assert not make("agent", "admin").may("admin")
    assert not make("decider").may("decide")


def test_only_who_has_the_token_of_the_page_proves_anything():
    """A cookie is sent by the browser whoever asks."""
    assert make().proves("secret")
    assert not make().proves(None)
    assert not make().proves("secre")
    assert not make().proves(make().secret)
    assert Caller(Identity("bot"), "api").proves(None)


def test_a_caller_shows_no_secret():
    """A caller that gets into a log or an error is harmless."""
    caller = Caller(Identity("ann"), "web", secret="s-secret")
    assert "secret" not in repr(caller)


@pytest.mark.parametrize(
    ("given", "token"),
    [
        (["Bearer abc"], "abc"),
        (["bearer  abc "], "abc"),
        (["Basic abc"], ""),
        (["Bearer"], ""),
        (["Bearer abc", "Bearer abc"], ""),
        (["Bearer ä"], ""),
        (["Bearer " + "x" * 4097], ""),
    ],
)
def test_a_token_is_read_from_exactly_one_header(given: list[str], token: str):
    """Two headers are nobody's."""
    assert read_bearer(make_head(given)) == token


@pytest.mark.parametrize(
    ("given", "cookie"),
    [
        (["amplifier_login=a"], "a"),
        (["x=1; amplifier_login=a; y=2"], "a"),
        (["amplifier_login=a; amplifier_login=b"], ""),
        (["amplifier_login=a", "amplifier_login=a"], ""),
        (["xamplifier_login=a"], ""),
        ([], ""),
    ],
)
def test_a_cookie_is_read_if_there_is_exactly_one(given: list[str], cookie: str):
    """A second one may have been put there by another site."""
    assert read_cookie(given) == cookie


async def test_a_token_counts_before_a_cookie_and_a_wrong_one_is_not_forgiven(store: Store):
    """Whoever sends a token means the token."""
    text, token = await store.access.add_token("bot", ["agent"])
    cookie, _ = await store.access.exchange_code(await store.access.add_code("ann", ["read"]))
    cookies = [f"amplifier_login={cookie}"]

    async def identify(*authorization: str, cookies: list[str] = cookies) -> Caller | None:
        return await identify_caller(store.access, make_head([*authorization], cookies))

    assert (await identify(f"Bearer {text}")).name == "bot"
    assert (await identify()).name == "ann"
    assert await identify("Bearer wrong") is None
    assert await identify(cookies=[]) is None
    caller = await identify(f"Bearer {text}", cookies=[])
    assert await identify_again(store.access, caller) == caller
    await store.access.revoke_token(token.id)
    assert await identify_again(store.access, caller) is None


async def test_who_decides_is_what_the_credential_says(world: World):
    """Identity from the authenticated channel only."""
    asked = await world.ask()
    caller = Caller(Identity("ann", frozenset({"decide"})), "web")
    body = DecisionBody(**allow(asked, comment="go"))
    decided = await decide(world.store, caller, asked.id, body)
    assert (decided.decided_by, decided.decided_via, decided.comment) == ("ann", "web", "go")


async def test_without_the_scope_nothing_is_decided(world: World):
    """Nor with an agent's credential, whatever else it has."""
    asked = await world.ask()
    for scopes in ({"read"}, {"agent", "decide"}, set()):
        caller = Caller(Identity("bot", frozenset(scopes)), "api")
        with pytest.raises(NotAllowed):
            await decide(world.store, caller, asked.id, DecisionBody(**allow(asked)))
    assert (await world.store.approvals.get(asked.id)).status == "pending"
