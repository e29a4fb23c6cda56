"""Hostile requests and handshakes over a real server: all refused, and nothing changed."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from amplifier_hooks.approvals.models import SessionEntry
from tests.hooks.server import hostile_requests as hostile
from tests.hooks.server.hostile_requests import Attack, Target, list_attacks
from tests.hooks.server.world import World, make_request

SECONDS = 30


async def prepare(world: World) -> Target:
    """Everything an attacker could want, and credentials that are not enough."""
    access = world.store.access
    secrets = {
        "person": await world.token("ann", "read", "decide", "admin"),
        "viewer": await world.token("vera", "read"),
        "agent": await world.token("bot", "agent"),
        "narrow": await world.token("nina", "decide:hook=another-hook"),
    }
    text, token = await access.add_token("rita", ["read", "decide"])
    await access.revoke_token(token.id)
    secrets["revoked"] = text
    secrets["expired"], _ = await access.add_token("eve", ["read", "decide"], 0.001)
    asked, decided = await world.ask(), await world.ask()
    await world.store.approvals.withdraw(decided.id)
    await world.store.sessions.save(SessionEntry(id="session-of-another", user="other"))
    foreign = await world.store.approvals.request(
        make_request(
            key="f", requester="other", session_id="session-of-another", tool_call_id="call"
        )
    )
    browser = await world.browser()
    csrf, cookie = browser.headers["X-Amplifier-CSRF"], browser.cookies["amplifier_login"]
    await browser.aclose()
    for one in ("person", "viewer", "agent", "narrow"):
        await access.identify_token(secrets[one])  # its use is noted once a minute
    return Target(
        world.settings.port, asked.id, asked.nonce, decided.id, foreign.id, csrf, cookie, secrets
    )


async def dump(world: World) -> dict[str, list[dict[str, object]]]:
    """Every row of every table but the clock's, which goes on by itself."""

    def read(transaction):
        tables = transaction.run(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        )
        return {
            table["name"]: [dict(row) for row in transaction.run(f"SELECT * FROM {table['name']}")]
            for table in tables
            if table["name"] != "boot_clock"
        }

    return await world.store.engine.read(read)


async def send(port: int, attack: Attack) -> int:
    """The status of the answer; 0 if the connection was closed without one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(SECONDS):
            writer.write(attack.content)
            line = await reader.readline()
    except (ConnectionError, OSError):
        line = b""
    finally:
        writer.transport.abort()
    return int(line.split()[1]) if line else 0


async def test_every_hostile_request_is_refused_and_changes_nothing(served: World):
    """At least 60 hostile handshakes and requests, all refused."""
    target = await prepare(served)
    before = await dump(served)
    attacks = list(list_attacks(target))
    answers = {attack.name: await send(target.port, attack) for attack in attacks}
    passed = {name: status for name, status in answers.items() if not 400 <= status < 500}
    assert len(answers) == len(attacks) > 60
    # A request that is no HTTP at all may end the connection instead.
    assert {name for name, status in passed.items() if status} == set(), passed
    assert len(passed) <= 3
    assert await dump(served) == before


async def test_the_same_requests_pass_when_nothing_is_wrong_with_them(served: World):
    """The refusals above are due to what is hostile in them, not to the rest."""
    target = await prepare(served)
    head = [("Host", target.host), ("Content-Type", "application/json")]
    as_person = [*head, ("Authorization", f"Bearer {target.secrets['person']}")]
    decision = hostile._decide(target, as_person)
    assert await send(target.port, Attack("decide", decision)) == 200
    again = replace(target, approval=target.foreign)
    refused = hostile._decide(again, as_person)
    assert await send(target.port, Attack("another's nonce", refused)) in (403, 409)
    browser = [
        *hostile._browser(target),
        ("Origin", target.origin),
        ("X-Amplifier-CSRF", target.csrf),
    ]
    same, other = hostile._decide(target, browser), hostile._decide(target, browser, key="k2")
    assert await send(target.port, Attack("the same again", same)) == 200
    assert await send(target.port, Attack("another one", other)) == 409
