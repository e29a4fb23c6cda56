"""What an agent reports: claims on allowed calls, records, its session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ApprovalError, AuditUnavailable
from amplifier_core.events import (
    APPROVAL_GRANTED,
    APPROVAL_REQUIRED,
    EXECUTION_COMPLETE,
    EXECUTION_START,
    SESSION_END,
    SESSION_START,
)
from amplifier_core.records import ToolStarted
from amplifier_core.testing import MemoryAudit
from amplifier_core.trail import AuditSink, NullSink, Trail
from amplifier_hooks.approvals import session_index
from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.models import SessionEntry
from amplifier_hooks.approvals.remote import RemoteApproval
from amplifier_hooks.approvals.reporting import (
    LONGEST_BODY,
    Claims,
    Publisher,
    ReportingSink,
    write_record,
)
from amplifier_hooks.approvals.session_index import SessionIndex
from amplifier_hooks.approvals.stores.store import Store
from tests.hooks.approvals.questions import ask
from tests.support.links import CutLink, answer, list_states, make_asker
from tests.support.waiting import wait_until

QUESTION = replace(ask(command="ls"), session_id="s", tool_call_id="c")
DIGEST = QUESTION.digest


async def allow(store: Store, folder: Path, link: CutLink) -> RemoteApproval:
    """A place where a person has allowed the call."""
    remote = RemoteApproval(link, make_asker(folder))
    asking = asyncio.create_task(remote.decide(QUESTION))
    await answer(store)
    await asking
    return remote


async def test_a_call_is_claimed_and_its_end_recorded(store: Store, tmp_path: Path) -> None:
    """First executing, then executed."""
    claims = Claims([await allow(store, tmp_path, CutLink(store))])
    await claims.claim("s", "c", DIGEST)
    assert await list_states(store) == ["executing"]
    claims.finish("s", "c", "executed")
    await claims.close()
    assert await list_states(store) == ["executed"]


async def test_what_nobody_was_asked_about_needs_no_claim(store: Store, tmp_path: Path) -> None:
    """What a person remembered, or a rule allowed."""
    link = CutLink(store)
    claims = Claims([RemoteApproval(link, make_asker(tmp_path))])
    await claims.claim("s", "c", DIGEST)
    claims.finish("s", "c", "executed")
    await claims.close()
    assert link.calls == []


async def test_another_input_than_the_one_that_was_allowed_is_no_claim(
    store: Store, tmp_path: Path
) -> None:
    """Whatever the kernel compared before."""
    claims = Claims([await allow(store, tmp_path, CutLink(store))])
    with pytest.raises(ApprovalError, match="The call cannot run"):
        await claims.claim("s", "c", "another")
    assert await list_states(store) == ["approved"]


async def test_what_another_process_has_claimed_is_no_claim(store: Store, tmp_path: Path) -> None:
    """Two agents that both found the answer."""
    link = CutLink(store)
    claims = Claims([await allow(store, tmp_path, link)])
    await store.claims.claim("s", f"c@{DIGEST[:12]}", DIGEST, 60)
    with pytest.raises(ApprovalError, match="claimed before"):
        await claims.claim("s", "c", DIGEST)


async def test_without_the_store_nothing_runs(store: Store, tmp_path: Path) -> None:
    """A claim fails closed."""
    link = CutLink(store)
    claims = Claims([await allow(store, tmp_path, link)])
    link.is_cut = True
    with pytest.raises(ApprovalError, match="could not be claimed: The store at this test"):
        await claims.claim("s", "c", DIGEST)


async def test_a_claim_in_one_place_is_given_back_when_another_refuses(
    store: Store, tmp_path: Path
) -> None:
    """The call does not run, and nobody takes it for lost."""
    first, second = CutLink(store), CutLink(store)
    places = [await allow(store, tmp_path, first)]
    other = RemoteApproval(second, make_asker(tmp_path))
    other.names.name("s", "c", DIGEST)
    second.is_cut = True
    claims = Claims([*places, other])
    with pytest.raises(ApprovalError):
        await claims.claim("s", "c", DIGEST)
    await claims.close()
    assert await list_states(store) == ["failed"]


async def test_a_claim_is_renewed_while_the_call_runs(store: Store, tmp_path: Path) -> None:
    """A store that is away for a moment does not end it."""
    link = CutLink(store)
    claims = Claims([await allow(store, tmp_path, link)], lease=0.3)
    await claims.claim("s", "c", DIGEST)
    link.cut.add("renew")
    await wait_until(lambda: "renew" in link.calls)
    link.cut.clear()
    await wait_until(lambda: link.calls.count("renew") > 3)
    claims.finish("s", "c", "executed")
    await claims.close()


async def test_a_claim_that_was_given_up_stays_so(store: Store, tmp_path: Path) -> None:
    """Nobody knows how the call ended, whatever comes later."""
    link = CutLink(store)
    claims = Claims([await allow(store, tmp_path, link)], lease=0.01)
    link.cut.add("renew")
    await claims.claim("s", "c", DIGEST)
    await asyncio.sleep(0.05)
    await store.approvals.mark_lost()
    claims.finish("s", "c", "executed")
    await claims.close()
    assert await list_states(store) == ["unknown"]


async def test_a_repeated_id_is_claimed_for_its_own_question(store: Store, tmp_path: Path) -> None:
    """Small models give every call the same id."""
    link = CutLink(store)
    remote = await allow(store, tmp_path, link)
    claims = Claims([remote])
    for digest in ("d2", "d3"):
        await claims.claim("s", "c", DIGEST if digest == "d2" else "d2")
        claims.finish("s", "c", "executed")
        again = replace(QUESTION, digest=digest)
        asking = asyncio.create_task(remote.decide(again))
        await answer(store)
        await asking
    await claims.claim("s", "c", "d3")
    claims.finish("s", "c", "failed")
    await claims.close()
    assert await list_states(store) == ["executed", "executed", "failed"]


async def test_an_id_that_comes_again_after_a_restart_is_not_held_up_by_what_ran_before(
    store: Store, tmp_path: Path
) -> None:
    """Another process knows nothing of the calls before it."""
    first = Claims([await allow(store, tmp_path, CutLink(store))])
    await first.claim("s", "c", DIGEST)
    first.finish("s", "c", "executed")
    await first.close()
    remote = RemoteApproval(CutLink(store), make_asker(tmp_path))
    for digest in ("d2", DIGEST):
        asking = asyncio.create_task(remote.decide(replace(QUESTION, digest=digest)))
        await answer(store)
        await asking
        second = Claims([remote])
        await second.claim("s", "c", digest)
        second.finish("s", "c", "executed")
        await second.close()
    assert await list_states(store) == ["executed"] * 3


def add(publisher: Publisher, *numbers: int, session: str = "s") -> None:
    for number in numbers:
        publisher.add(session, write_record(number, "x", {"n": number}))


async def read(store: Store, session: str = "s") -> list[Any]:
    return [(one.number, one.type) for one in await store.records.read(session)]


async def test_what_was_added_is_there_when_the_publisher_is_closed(store: Store) -> None:
    """In order, for each session."""
    publisher = Publisher(store.as_link())
    add(publisher, 1, 2)
    add(publisher, 1, session="t")
    add(publisher, 3)
    await publisher.close()
    assert await read(store) == [(1, "x"), (2, "x"), (3, "x")]
    assert await read(store, "t") == [(1, "x")]


async def test_what_comes_while_records_are_sent_is_gathered_too(store: Store) -> None:
    """A session at work would have a transaction of the store for each of its records."""
    sent = asyncio.Event()
    batches: list[int] = []

    class Busy(CutLink):
        async def publish(self, session_id: str, records: Any) -> None:
            await self._link.publish(session_id, records)
            batches.append(len(records))
            if not sent.is_set():
                add(publisher, 2)
                sent.set()

    publisher = Publisher(Busy(store))
    add(publisher, 1)
    await sent.wait()
    add(publisher, 3)
    await publisher.close()
    assert batches == [1, 2]
    assert await read(store) == [(1, "x"), (2, "x"), (3, "x")]


async def test_while_nobody_answers_records_wait(store: Store) -> None:
    """They arrive once the store is back, each once."""
    link = CutLink(store)
    link.is_cut = True
    publisher = Publisher(link, pause=0.01)
    add(publisher, 1, 2)
    await wait_until(lambda: link.calls.count("publish") > 1)
    link.is_cut = False
    await publisher.close()
    assert await read(store) == [(1, "x"), (2, "x")]


async def test_a_queue_that_is_full_drops_the_oldest_and_says_how_many(store: Store) -> None:
    """Its place in the order is where they are missing."""
    link = CutLink(store)
    publisher = Publisher(link, limit=3, pause=0.01)
    add(publisher, *range(1, 9))
    await publisher.close()
    found = await store.records.read("s")
    assert [(one.number, one.type) for one in found] == [
        (5, "records_dropped"),
        (6, "x"),
        (7, "x"),
        (8, "x"),
    ]
    assert found[0].body == {"count": 5}


async def test_what_is_refused_is_not_sent_for_ever(store: Store) -> None:
    """The next ones are."""

    class Picky(CutLink):
        async def publish(self, session_id: str, records: Any) -> None:
            if session_id == "bad":
                raise BadRequest("no")
            await self._link.publish(session_id, records)

    publisher = Publisher(Picky(store))
    add(publisher, 1, session="bad")
    add(publisher, 1)
    await publisher.close()
    assert await read(store) == [(1, "x")]


async def test_closing_does_not_wait_for_a_store_that_stays_away(store: Store) -> None:
    """And leaves no task."""
    link = CutLink(store)
    link.is_cut = True
    before = asyncio.all_tasks()
    publisher = Publisher(link)
    add(publisher, 1)
    await publisher.close(grace=0.05)
    assert asyncio.all_tasks() == before
    await Publisher(link).close()


START = ToolStarted(tool="Bash", id="c", digest=QUESTION.digest, gated=True)


class FullDisk(NullSink):
    """A trail that takes nothing."""

    def __init__(self, on_failure: Any, *, at: str) -> None:
        self.on_failure = on_failure
        self._at = at

    def append(self, type: str, body: Mapping[str, Any], **source: Any) -> int:
        if self._at == "append":
            raise AuditUnavailable("the disk is full")
        return 7

    async def commit(self, sequence: int | None = None) -> None:
        raise AuditUnavailable("the disk is full")


async def make_sink(
    store: Store, folder: Path, behind: AuditSink | None, link: CutLink | None = None
) -> ReportingSink:
    """A sink of a session in which a person elsewhere has allowed the call."""
    link = link or CutLink(store)
    remote = RemoteApproval(link, make_asker(folder))
    asking = asyncio.create_task(remote.decide(QUESTION))
    await answer(store)
    await asking
    return ReportingSink(behind, Claims([remote]), [Publisher(link)])


async def test_a_gated_call_is_claimed_before_its_start_counts(
    store: Store, tmp_path: Path
) -> None:
    """And is over when its end is recorded."""
    sink = await make_sink(store, tmp_path, MemoryAudit())
    assert isinstance(sink, AuditSink)
    sequence = sink.append("tool_started", START.to_dict(), session="s")
    assert await list_states(store) == ["approved"]
    await sink.commit(sequence)
    assert await list_states(store) == ["executing"]
    sink.append("tool_finished", {"id": "c", "success": True}, session="s")
    await sink.close()
    assert await list_states(store) == ["executed"]


async def test_without_an_audit_trail_calls_are_claimed_as_well(
    store: Store, tmp_path: Path
) -> None:
    """What people allowed runs once, whether or not a trail is kept."""
    sink = await make_sink(store, tmp_path, None)
    await sink.commit(sink.append("tool_started", START.to_dict(), session="s"))
    sink.append("tool_finished", {"id": "c", "success": False}, session="s")
    await sink.close()
    assert await list_states(store) == ["failed"]
    assert (sink.level, sink.on_failure) == ("normal", "deny")


async def test_a_call_that_cannot_be_claimed_is_refused_and_not_left_open_in_the_trail(
    store: Store, tmp_path: Path
) -> None:
    """Through the kernel's own pen: a refusal, no failed trail, and no outcome that is unknown."""
    link, audit = CutLink(store), MemoryAudit()
    sink = await make_sink(store, tmp_path, audit, link)
    sink.on_failure = "warn"
    link.cut.add("claim")
    trail = Trail(sink, "s")
    refused = await trail.write_ahead(START)
    assert refused == "the call could not be claimed: The store at this test does not answer"
    assert not trail.failed
    assert [one["type"] for one in audit.records] == ["tool_started", "tool_finished"]
    assert audit.records[1]["body"]["outcome"] == "not claimed"
    await sink.close()


@pytest.mark.parametrize("at", ["append", "commit"])
@pytest.mark.parametrize(("on_failure", "state"), [("deny", "failed"), ("warn", "executing")])
async def test_a_trail_that_takes_no_start_gives_the_claim_back_unless_the_call_runs_anyway(
    store: Store, tmp_path: Path, at: str, on_failure: str, state: str
) -> None:
    """It is claimed in both cases: with `warn` it runs, and may run only once."""
    sink = await make_sink(store, tmp_path, FullDisk(on_failure, at=at))
    failure = await Trail(sink, "s").write_ahead(START)
    assert (failure is None) == (on_failure == "warn")
    for _ in range(200):
        if await list_states(store) == [state]:
            break
        await asyncio.sleep(0.01)
    assert await list_states(store) == [state]
    await sink.close()


async def test_calls_that_nobody_was_asked_about_claim_nothing(
    store: Store, tmp_path: Path
) -> None:
    """Only what is gated waits for anything."""
    link = CutLink(store)
    sink = await make_sink(store, tmp_path, None, link)
    sink.append("tool_started", {**START.to_dict(), "gated": False}, session="s")
    await sink.commit()
    assert "claim" not in link.calls
    await sink.close()


async def test_every_record_is_published_with_a_number_of_its_session(
    store: Store, tmp_path: Path
) -> None:
    """Records that belong to no session stay in the trail."""
    sink = ReportingSink(None, Claims([]), [Publisher(store.as_link())], numbered_from=11)
    sink.append("x", {"a": 1}, session="s", turn=2, event="tool:pre", hook="h", registration=4)
    sink.append("y", {}, session="t")
    sink.append("z", {}, session="s")
    sink.append("nobody", {})
    assert sink.last_number == 12
    await sink.close()
    first, second = await store.records.read("s")
    assert (first.number, first.type, first.body, first.turn) == (11, "x", {"a": 1}, 2)
    assert (first.event, first.hook, second.number) == ("tool:pre", "h", 12)
    assert [one.number for one in await store.records.read("t")] == [11]


async def test_a_claim_that_is_refused_raises_what_the_kernel_takes_for_a_refusal(
    store: Store, tmp_path: Path
) -> None:
    """Whatever the trail's own setting is."""
    sink = await make_sink(store, tmp_path, MemoryAudit())
    sequence = sink.append("tool_started", {**START.to_dict(), "digest": "another"}, session="s")
    with pytest.raises(ApprovalError, match="The call cannot run"):
        await sink.commit(sequence)
    await sink.close()


def test_a_record_has_its_number_its_time_and_plain_values_of_its_own() -> None:
    """The session may change what it handed over."""
    body: dict[str, Any] = {"data": {"at": {1, 2}}, "list": [1]}
    before = time.time()
    found = write_record(3, "dispatch", body, turn=2, event="tool:pre", hook="h")
    body["list"].append(2)
    assert (found.number, found.type, found.turn, found.event) == (3, "dispatch", 2, "tool:pre")
    assert (found.hook, found.body["list"]) == ("h", [1])
    assert isinstance(found.body["data"]["at"], str)
    assert before <= found.time <= time.time()


def test_what_is_too_long_or_no_json_is_left_out_and_says_so() -> None:
    """The record itself is there."""
    assert write_record(1, "x", {"a": "b" * LONGEST_BODY}).body == {
        "left_out": f"{LONGEST_BODY + 9} bytes"
    }
    circle: dict[str, object] = {}
    circle["again"] = circle
    assert write_record(1, "x", circle).body == {"left_out": "it cannot be written as JSON"}
    assert write_record(1, "x", {"n": float("nan")}).body == {"n": "NaN"}


def test_what_hooks_answered_is_kept_without_the_data_that_it_was_about() -> None:
    """Figures of hooks are counted from it."""
    hooks = [{"hook": "guard", "action": "deny"}]
    body = {"action": "deny", "hooks": hooks, "data": {"text": "b" * LONGEST_BODY}}
    kept = write_record(1, "dispatch", body).body
    assert (kept["hooks"], kept["action"]) == (hooks, "deny")
    assert kept["left_out"].endswith(" bytes")
    body["hooks"] = [{"hook": "guard", "reason": "b" * LONGEST_BODY}]
    assert write_record(1, "dispatch", body).body.keys() == {"left_out"}


class Followed:
    """A session whose events a test emits."""

    def __init__(self, store: Store, link: Any = None) -> None:
        self.store = store
        self.messages: list[dict[str, Any]] = []
        self.host = SessionCoordinator(session_id="s")
        entry = SessionEntry(id="s", machine="laptop", user="me", created=1.0)
        self.index = SessionIndex([link or store.as_link()], entry, self._read)
        self.index.attach(self.host)

    async def _read(self) -> list[dict[str, Any]]:
        return list(self.messages)

    async def emit(self, event: str, session: str = "s", **data: Any) -> None:
        await self.host.hooks.emit(event, {"session_id": session, **data})

    async def reaches(self, status: str, session: str = "s") -> SessionEntry:
        async def is_so() -> bool:
            entries = (await self.store.sessions.list())[0]
            return any((one.id, one.status) == (session, status) for one in entries)

        await wait_until(is_so)
        return await self.store.sessions.get(session)


async def test_the_state_of_a_session_follows_its_events(store: Store) -> None:
    """Idle, running, waiting for a person, running, idle, ended."""
    followed = Followed(store)
    steps = [
        (SESSION_START, "idle", {}),
        (EXECUTION_START, "running", {}),
        (APPROVAL_REQUIRED, "waiting", {}),
        (APPROVAL_GRANTED, "running", {}),
        (EXECUTION_COMPLETE, "idle", {"response": "done", "status": "success"}),
    ]
    for event, status, data in steps:
        await followed.emit(event, **data)
        entry = await followed.reaches(status)
    assert (entry.turns, entry.reply, entry.machine, entry.user) == (1, "done", "laptop", "me")
    await followed.emit(SESSION_END, reason="complete")
    await followed.index.close()
    assert (await store.sessions.get("s")).status == "ended"


@pytest.mark.parametrize("reason", ["error", "timeout"])
async def test_a_session_that_fails_says_so(store: Store, reason: str) -> None:
    """With the reason."""
    followed = Followed(store)
    await followed.emit(SESSION_END, reason=reason)
    await followed.index.close()
    entry = await store.sessions.get("s")
    assert (entry.status, entry.error) == ("failed", reason)


async def test_the_conversation_is_there_when_a_question_is_asked_and_after_a_turn(
    store: Store,
) -> None:
    """Masked as everything else that leaves the session."""
    followed = Followed(store)
    followed.host.register_scrubber(lambda text: text.replace("hunter2", "***"))
    followed.messages = [{"role": "user", "content": "it is hunter2"}]
    await followed.emit(APPROVAL_REQUIRED)
    await followed.reaches("waiting")
    assert await store.sessions.transcript("s") == [{"role": "user", "content": "it is ***"}]
    followed.messages.append({"role": "assistant", "content": "fine"})
    await followed.emit(EXECUTION_COMPLETE, response="hunter2", status="success")
    await followed.index.close()
    assert len(await store.sessions.transcript("s")) == 2
    assert (await store.sessions.get("s")).reply == "***"


async def test_a_sub_agent_has_an_entry_of_its_own_below_the_session(store: Store) -> None:
    """Its name is not the parent's."""
    followed = Followed(store)
    followed.host.session_state["name"] = "fix the parser"
    await followed.emit(EXECUTION_START)
    await followed.emit(EXECUTION_START, session="child")
    child = await followed.reaches("running", "child")
    assert (child.parent_id, child.machine, child.name) == ("s", "laptop", "")
    assert (await store.sessions.get("s")).name == "fix the parser"
    await followed.index.close()


async def test_a_session_shows_that_it_lives(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without news as well, and once the store is back after it was away."""
    monkeypatch.setattr(session_index, "HEARTBEAT", 0.02)
    link = CutLink(store)
    link.is_cut = True
    followed = Followed(store, link)
    await followed.emit(EXECUTION_START)
    await wait_until(lambda: link.calls.count("save_session") > 1)
    link.is_cut = False
    await followed.reaches("running")
    before = len(link.calls)
    await wait_until(lambda: len(link.calls) > before + 1)
    await followed.index.close()


async def test_closing_what_never_began_is_nothing(store: Store, tmp_path: Path) -> None:
    """A session that does not start is not in the index."""
    followed = Followed(store)
    await followed.index.close()
    assert (await store.sessions.list())[0] == []


@pytest.mark.parametrize(("answered", "status"), [("1", "waiting"), ("12", "running")])
async def test_a_session_waits_until_the_last_of_its_questions_is_answered(
    store: Store, answered: str, status: str
) -> None:
    """Two calls may wait side by side, and an answer that was remembered ends no question."""
    followed = Followed(store)
    for digest in "12":
        await followed.emit(APPROVAL_REQUIRED, hook="h", digest=digest)
    for digest in f"{answered}3":
        await followed.emit(APPROVAL_GRANTED, hook="h", digest=digest)
    await followed.index.close()
    assert (await store.sessions.get("s")).status == status


async def test_a_session_waits_with_its_sub_agent(store: Store) -> None:
    """Whoever looks at the session must see that somebody is needed."""
    followed = Followed(store)
    await followed.emit(APPROVAL_REQUIRED, session="child", hook="h")
    await followed.reaches("waiting", "child")
    await followed.reaches("waiting")
    await followed.emit(APPROVAL_GRANTED, session="child", hook="h")
    await followed.reaches("running")
    await followed.index.close()
