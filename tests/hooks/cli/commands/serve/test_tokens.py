"""amplifier tokens."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from amplifier_hooks.approvals.stores.store import open_store
from tests.hooks.cli.program import invoke


def identify(token: str):
    """Whom the store takes a token for."""

    async def ask():
        async with await open_store() as store:
            return await store.access.identify_token(token)

    return asyncio.run(ask())


def test_a_token_is_printed_once_and_works_until_it_is_revoked(home: Path):
    """Only the token is on standard output, so that it can be piped."""
    made = invoke("tokens", "add", "build-7", "--scope", "agent", "--days", "1")
    token = made.stdout.strip()
    assert (made.code, len(made.stdout.splitlines())) == (0, 1)
    assert identify(token).name == "build-7"
    listed = invoke("tokens", "list")
    assert "build-7" in listed.stdout
    assert token not in listed.output
    (entry,) = map(json.loads, invoke("tokens", "list", "--json").stdout.splitlines())
    assert (entry["scopes"], entry["name"]) == (["agent"], "build-7")
    revoked = invoke("tokens", "revoke", entry["id"][:6])
    assert (revoked.code, identify(token)) == (0, None)
    assert "no tokens" in invoke("tokens", "list").stdout
    assert "revoked" in invoke("tokens", "list", "--all").stdout


def test_a_person_is_logged_out_of_every_browser(home: Path):
    """However the name is written; others stay logged in."""

    async def log_in() -> list[str]:
        async with await open_store() as store:
            codes = [await store.access.add_code(name, ["read"]) for name in ("ann", "Ann", "bob")]
            logins = [await store.access.exchange_code(code) for code in codes]
            return [cookie for cookie, _ in logins]

    async def find(cookies: list[str]) -> list[bool]:
        async with await open_store() as store:
            return [await store.access.identify_login(one) is not None for one in cookies]

    cookies = asyncio.run(log_in())
    asyncio.run(find(cookies))
    ended = invoke("tokens", "logout", "ann")
    assert (ended.code, ended.stdout) == (0, "Ended 2 logins and codes of ann.\n")
    assert asyncio.run(find(cookies)) == [False, False, True]
    again = invoke("tokens", "logout", "ann")
    assert (again.code, "logged in nowhere" in again.stderr) == (1, True)


def test_what_cannot_be_is_said_in_one_line(home: Path):
    """With what would do."""
    both = invoke("tokens", "add", "x", "--scope", "agent", "--scope", "decide")
    assert both.code == 1
    assert "two tokens" in both.stderr
    none = invoke("tokens", "revoke", "zz")
    assert "amplifier tokens list" in none.stderr
    assert invoke("tokens", "add", "x").code == 2
    invoke("tokens", "add", "x", "--scope", "read")
    assert invoke("tokens", "revoke", "").code == 1


def test_names_cannot_disguise_themselves(home: Path):
    """A name is shown with its control characters visible."""
    invoke("tokens", "add", "a\x1b[2Jb", "--scope", "read")
    assert "\x1b" not in invoke("tokens", "list").stdout
