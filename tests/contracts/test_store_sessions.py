"""What every database promises of sessions, their records, figures, heads and credentials."""

from __future__ import annotations

import asyncio
import base64
import math
from dataclasses import replace
from typing import Any

import pytest

from amplifier_audit.checkpoint import make_note
from amplifier_audit.merkle import RangeRoots, Tree, hash_leaf, list_consistency_ranges
from amplifier_hooks.approvals.errors import BadRequest, Conflict, NotAllowed, NotFound
from amplifier_hooks.approvals.models import (
    Overruling,
    SessionEntry,
    SessionRecord,
    TrailHead,
)
from amplifier_hooks.approvals.stores import sessions as kept_records
from amplifier_hooks.approvals.stores import sessions as kept_sessions
from amplifier_hooks.approvals.stores.statistics import HookFigures
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import DENY, ManualClock, approve, ask, decide

DISPATCH = {
    "action": "deny",
    "hooks": [
        {"hook": "guard", "action": "deny", "ms": 3.0},
        {"hook": "logger", "action": "continue", "ms": 1.0},
        {"hook": 7},
        "odd",
    ],
}


def record(number: int, type: str = "dispatch", **more: Any) -> SessionRecord:
    return SessionRecord(
        number=number,
        time=7200.5,
        type=type,
        event="tool:pre",
        body=more.pop("body", DISPATCH),
        **more,
    )


async def test_a_session_is_saved_and_renewed(store: Store, clock: ManualClock) -> None:
    """The store's clock says when it was heard of; a transcript stays until a newer one comes."""
    entry = SessionEntry(
        id="s",
        machine="laptop",
        user="ann",
        name="Fix\0 it",
        bundle="b",
        working_dir="/w",
        turns=1,
        hosted=True,
    )
    await store.sessions.save(entry, [{"role": "user", "content": "\ud800"}])
    begun = clock.now
    clock.advance(5)
    await store.sessions.save(
        SessionEntry(id="s", machine="laptop", user="ann", status="ended", reply="done")
    )
    found = await store.sessions.get("s")
    assert (found.status, found.reply, found.created, found.updated) == (
        "ended",
        "done",
        begun,
        clock.now,
    )
    assert await store.sessions.transcript("s") == [{"role": "user", "content": "\ud800"}]
    for work in (store.sessions.get("none"), store.sessions.transcript("none")):
        with pytest.raises(NotFound):
            await work
    with pytest.raises(BadRequest):
        await store.sessions.save(SessionEntry(id=""))


async def test_a_long_transcript_keeps_its_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says how many messages it left out."""
    monkeypatch.setattr(kept_sessions, "TRANSCRIPT", 100)
    messages = [{"n": number, "x": "y" * 30} for number in range(10)]
    await store.sessions.save(SessionEntry(id="s"), messages)
    assert await store.sessions.transcript("s") == [{"left_out": 8}, *messages[8:]]


async def test_sessions_are_listed_in_pages_and_by_status_and_machine(
    store: Store, clock: ManualClock
) -> None:
    """The newest first."""
    for number in range(5):
        clock.advance(number % 2)
        machine = "a" if number % 2 else "b"
        status: Any = "idle" if number % 2 else "ended"
        await store.sessions.save(SessionEntry(id=f"s{number}", machine=machine, status=status))
    seen, after = [], ""
    while True:
        page, after = await store.sessions.list(limit=2, after=after)
        seen += page
        if not after:
            break
    assert sorted(one.id for one in seen) == [f"s{number}" for number in range(5)]
    assert [one.created for one in seen] == sorted((one.created for one in seen), reverse=True)
    assert {one.id for one in (await store.sessions.list(["idle"], "a"))[0]} == {"s1", "s3"}
    assert (await store.sessions.list(["ended"], "a"))[0] == []


async def test_silent_sessions_are_lost_and_old_ones_removed(
    store: Store, clock: ManualClock
) -> None:
    """What has ended is not lost; what is removed takes its records with it."""
    await store.sessions.save(SessionEntry(id="silent"))
    await store.sessions.save(SessionEntry(id="ended", status="ended"), [{"role": "user"}])
    await store.records.publish("ended", [record(1)])
    clock.advance(10)
    await store.sessions.save(SessionEntry(id="alive"))
    assert [one.id for one in await store.sessions.mark_lost(10.0)] == ["silent"]
    assert (await store.sessions.get("silent")).status == "lost"
    assert await store.sessions.remove_older(10.0) == 2
    assert [one.id for one in (await store.sessions.list())[0]] == ["alive"]
    assert await store.records.read("ended") == []


async def test_records_are_published_once_and_counted_once(store: Store) -> None:
    """A batch that is sent again, even at the same time, adds nothing."""
    batch = [record(1), record(2, "action_resolved", body={"hook": "guard", "action": "deny"})]
    await asyncio.gather(*(store.records.publish("s", batch) for _ in range(4)))
    await store.records.publish("s", [*batch, record(3, "user_message", body={"text": "\0"})])
    read = await store.records.read("s", after=1)
    assert [one.number for one in read] == [2, 3]
    assert read[1].body == {"text": "\0"}
    quick = {"within_5": 1, "within_25": 1, "within_100": 1, "within_500": 1, "within_2500": 1}
    assert await store.statistics.read(0) == [
        HookFigures(7200.0, "guard", "tool:pre", "deny", 2, 3.0, 3.0, timed=1, **quick),
        HookFigures(
            7200.0, "logger", "tool:pre", "continue", 1, 1.0, 1.0, timed=1, within_1=1, **quick
        ),
    ]
    assert len(await store.statistics.read(0, hook="logger")) == 1
    assert await store.statistics.read(7200.1) == []


async def test_figures_of_all_time_are_told_apart_up_to_a_number(store: Store) -> None:
    """The first names; what others add is one sum, so that no figure becomes less."""
    for number in range(4):
        hooks = [{"hook": f"h{number}", "action": "deny", "ms": 7.0}] * (number + 1)
        told = record(number + 1, body={"hooks": hooks})
        await store.records.publish("s", [told])
    found, rest = await store.statistics.sum_up(most=2)
    assert [(one.hook, one.count) for one in found] == [("h0", 1), ("h1", 2)]
    assert (rest.count, rest.milliseconds, rest.within_5, rest.within_25) == (7, 49.0, 0, 7)
    found, rest = await store.statistics.sum_up()
    assert (len(found), rest.count) == (4, 0)


async def test_states_of_approvals_and_sessions_are_counted(store: Store) -> None:
    """Those that wait, too."""
    await ask(store)
    await store.sessions.save(SessionEntry(id="a"))
    await store.sessions.save(SessionEntry(id="b", status="ended"))
    assert await store.statistics.count_states() == {
        "approvals": {"pending": 1},
        "sessions": {"ended": 1, "running": 1},
    }


async def test_only_the_newest_records_are_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old ones that are sent again neither come back nor count again."""
    monkeypatch.setattr(kept_records, "KEPT", 3)
    batch = [record(number) for number in range(1, 6)]
    await store.records.publish("s", batch)
    await store.records.publish("s", batch)
    assert [one.number for one in await store.records.read("s")] == [3, 4, 5]
    assert (await store.statistics.read(0))[0].count == 5


async def test_records_that_make_no_sense_are_refused(store: Store) -> None:
    """A large body is left out, with its size."""
    for wrong in (record(0), record(2**60), SessionRecord(number=1, time=math.nan, type="x")):
        with pytest.raises(BadRequest):
            await store.records.publish("s", [wrong])
    with pytest.raises(BadRequest, match="1001 records"):
        await store.records.publish("s", [record(1)] * 1001)
    await store.records.publish("s", [record(1, "x", body={"text": "y" * 300_000})])
    assert (await store.records.read("s"))[0].body == {"left_out": "300011 bytes"}


async def test_people_s_answers_are_counted_for_each_hook(store: Store, clock: ManualClock) -> None:
    """Allowed, refused and not answered, in the browser and at the terminal."""
    await approve(store)
    await decide(store, await ask(store), DENY)
    await store.approvals.withdraw((await ask(store)).id, by="ann", option="Deny")
    await ask(store)
    clock.advance(60)
    await store.approvals.expire_overdue()
    assert await store.statistics.overrulings(0) == [Overruling("production-guard", 4, 1, 2, 1)]
    assert await store.statistics.overrulings(clock.now) == []


class Trail:
    """A trail as its machine has it."""

    def __init__(self, *leaves: str) -> None:
        self.leaves = [hash_leaf(one.encode()) for one in leaves]

    def note(self, size: int, log: str = "log-1") -> str:
        tree = Tree()
        for leaf in self.leaves[:size]:
            tree.push(leaf)
        return make_note(log, size, tree.compute_root(), name="session-1").text

    def prove(self, old: int, new: int) -> list[bytes]:
        roots = RangeRoots(list_consistency_ranges(old, new))
        for leaf in self.leaves[:new]:
            roots.push(leaf)
        return roots.compute_roots()


async def test_a_witness_keeps_heads_that_continue_one_another(
    store: Store, clock: ManualClock
) -> None:
    """A proof is needed to go on; a head that is known gets the newest one back."""
    trail = Trail("a", "b", "c", "d", "e")
    first = await store.heads.put(trail.note(0), [], "laptop")
    assert first == TrailHead("log-1", "session-1", 0, trail.note(0), clock.now, "laptop")
    await store.heads.put(trail.note(3), [], "laptop")
    newest = await store.heads.put(trail.note(5), trail.prove(3, 5), "laptop")
    assert await store.heads.put(trail.note(3), [], "laptop") == newest
    assert await store.heads.get("log-1") == newest
    assert await store.heads.list() == [newest]
    assert await store.heads.history("log-1") == [trail.note(size) for size in (0, 3, 5)]
    with pytest.raises(NotFound):
        await store.heads.get("none")


async def test_a_witness_refuses_a_second_history(store: Store) -> None:
    """Another root at a known size, a rewritten past, an unknown earlier size, no proof."""
    trail, other = Trail("a", "b", "c", "d", "e"), Trail("a", "x", "c", "d", "e")
    await store.heads.put(trail.note(4), [], "laptop")
    with pytest.raises(Conflict, match="two histories"):
        await store.heads.put(other.note(4), [], "laptop")
    for note, proof in (
        (other.note(5), other.prove(4, 5)),
        (trail.note(5), []),
        (trail.note(3), trail.prove(3, 4)),
    ):
        with pytest.raises(Conflict):
            await store.heads.put(note, proof, "laptop")
    for note, proof in (("nonsense\n", []), (trail.note(5), [b"short"])):
        with pytest.raises(BadRequest):
            await store.heads.put(note, proof, "laptop")
    assert (await store.heads.get("log-1")).size == 4


async def test_a_trail_is_continued_by_its_own_machine_only(store: Store) -> None:
    """Nobody else blocks it with records of their own, nor shows another trail in its place."""
    trail, forged = Trail("a", "b", "c"), Trail("a", "b", "x")
    await store.heads.put(trail.note(2), [], "laptop")
    for note in (forged.note(3), forged.note(3, "log-2")):
        with pytest.raises(NotAllowed, match="reported by 'laptop'"):
            await store.heads.put(note, forged.prove(2, 3), "thief")
    assert (await store.heads.put(trail.note(3), trail.prove(2, 3), "laptop")).size == 3
    assert (await store.heads.put(forged.note(3, "log-2"), [], "laptop")).log == "log-2"


async def test_a_trail_may_begin_to_be_signed_but_not_change_its_key(store: Store) -> None:
    """Nor stop being signed."""
    trail = Trail("a", "b", "c")

    def sign(size: int, key: bytes) -> str:
        blob = base64.b64encode(key + b"s" * 64).decode()
        return f"{trail.note(size)}\n— amplifier-audit {blob}\n"

    await store.heads.put(trail.note(1), [], "laptop")
    await store.heads.put(sign(2, b"key1"), trail.prove(1, 2), "laptop")
    for note in (sign(3, b"key2"), trail.note(3), sign(2, b"key2")):
        with pytest.raises(Conflict, match="is signed by"):
            await store.heads.put(note, trail.prove(2, 3), "laptop")
    assert (await store.heads.put(sign(3, b"key1"), trail.prove(2, 3), "laptop")).size == 3


async def test_a_token_is_known_until_it_is_revoked_or_expires(
    store: Store, clock: ManualClock
) -> None:
    """Only its digest is kept; nobody else's text is a token."""
    text, token = await store.access.add_token("ci", ["agent"], 100.0)
    lasting, _ = await store.access.add_token("ann", ["read", "decide:hook=prod*", "release"])
    identity = await store.access.identify_token(text)
    assert (identity.name, identity.scopes) == ("ci", frozenset({"agent"}))
    wrong: Any
    for wrong in ("", text[:-1], f"{text} ", token.id, "\ud800", None, 7):
        assert await store.access.identify_token(wrong) is None
    clock.advance(100)
    assert await store.access.identify_token(text) is None
    known = {one.name: one for one in await store.access.list_tokens()}
    assert known["ci"].last_used == clock.now - 100
    revoked = await store.access.revoke_token(known["ann"].id)
    assert revoked.revoked == clock.now
    assert await store.access.identify_token(lasting) is None
    with pytest.raises(NotFound):
        await store.access.revoke_token("none")


async def test_a_code_is_good_for_one_login(store: Store, clock: ManualClock) -> None:
    """Typed in any way, by ten at once; after its time for none."""
    code = await store.access.add_code("ann", ["read", "decide"])
    typed = f" {code.lower().replace('-', ' ')} "
    results = await asyncio.gather(*(store.access.exchange_code(typed) for _ in range(10)))
    (won,) = [one for one in results if one is not None]
    cookie, login = won
    assert (login.identity.name, login.expires) == ("ann", clock.now + 7 * 24 * 3600)
    assert await store.access.identify_login(cookie) == replace(login, csrf="")
    late = await store.access.add_code("ann", ["read"], 10.0)
    clock.advance(10)
    assert await store.access.exchange_code(late) is None
    await store.access.end_login(cookie)
    assert await store.access.identify_login(cookie) is None
    other, _ = await store.access.exchange_code(await store.access.add_code("bob", ["read"]))
    clock.advance(7 * 24 * 3600)
    assert await store.access.identify_login(other) is None
    odd: Any
    for odd in ("", "x" * 10**6, None, 7):
        assert await store.access.exchange_code(odd) is None


async def test_no_credential_both_asks_and_decides(store: Store) -> None:
    """And scopes, names and lifetimes that make no sense are refused."""
    wrong: Any
    for wrong in (
        ("a", ["agent", "decide"]),
        ("a", ["agent", "decide:hook=*"]),
        ("a", ["agent", "admin"]),
        ("a", []),
        ("a", ["Decide"]),
        ("a", ["decide:hook="]),
        ("", ["read"]),
        ("  ", ["read"]),
        ("a", ["read"], 0),
        ("a", ["read"], math.inf),
    ):
        with pytest.raises(BadRequest):
            await store.access.add_token(*wrong)
    with pytest.raises(BadRequest, match="Agents"):
        await store.access.add_code("a", ["agent"])
    assert await store.access.list_tokens() == []


async def test_whoever_leaves_is_logged_out_everywhere(store: Store) -> None:
    """All their logins and codes end; those of others do not."""
    cookie, _ = await store.access.exchange_code(await store.access.add_code("Ann", ["read"]))
    other, _ = await store.access.exchange_code(await store.access.add_code("bob", ["read"]))
    code = await store.access.add_code("ann", ["read"])
    assert await store.access.end_logins("ANN") == 2
    assert await store.access.identify_login(cookie) is None
    assert await store.access.exchange_code(code) is None
    assert await store.access.identify_login(other) is not None
    assert await store.access.end_logins("ann") == 0


async def test_no_secret_is_in_the_database(store: Store) -> None:
    """Who reads the tables can use nothing that is in them."""
    token, _ = await store.access.add_token("ci", ["agent"])
    code = await store.access.add_code("ann", ["read"])
    used = await store.access.add_code("bob", ["read"])
    cookie, login = await store.access.exchange_code(used)

    def read(transaction: Any) -> str:
        tables = ("tokens", "codes", "logins")
        return repr([transaction.run(f"SELECT * FROM {table}") for table in tables])

    content = await store.engine.read(read)
    assert "ci" in content
    for secret in (token, code, code.replace("-", ""), used.replace("-", ""), cookie, login.csrf):
        assert secret not in content
