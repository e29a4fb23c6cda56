"""Questions: put once, listed, found as rows, claimed before their call runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.errors import BadRequest, Conflict, TooMany
from amplifier_hooks.approvals.models import ApprovalFilter
from amplifier_hooks.approvals.stores import approvals as kept_approvals
from amplifier_hooks.approvals.stores import decisions
from amplifier_hooks.approvals.stores.approval_rows import (
    CHUNK,
    list_approvals,
    load_approvals,
    name_values,
    split_ids,
)
from amplifier_hooks.approvals.stores.approvals import PENDING, Room, encode_request
from amplifier_hooks.approvals.stores.claims import LONGEST_LEASE
from amplifier_hooks.approvals.stores.engine import Row
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import (
    DENY,
    ManualClock,
    approve,
    ask,
    decide,
    make_request,
    read_call,
    require,
)


async def test_a_whole_life(store: Store) -> None:
    """Asked, listed, waited for, decided, and found again."""
    approval = await ask(store)
    assert (await store.approvals.list()) == ([approval], "")
    waiting = asyncio.create_task(store.approvals.wait(approval.id, 600))
    await asyncio.sleep(0)
    decided = await decide(store, approval, DENY)
    assert await waiting == decided == await store.approvals.get(approval.id)


async def test_a_withdrawal_wakes_who_waits(store: Store) -> None:
    """Whoever waited elsewhere learns that somebody answered at the terminal."""
    approval = await ask(store)
    waiting = asyncio.create_task(store.approvals.wait(approval.id, 600))
    await asyncio.sleep(0)
    await store.approvals.withdraw(approval.id, by="ann", option="Allow once")
    assert (await waiting).decided_by == "ann"


async def test_a_conflict_that_time_caused_is_kept(store: Store, clock: ManualClock) -> None:
    """The decision is refused, and that it expired stays written."""
    approval = await ask(store)
    clock.advance(60)
    with pytest.raises(Conflict) as refusal:
        await decide(store, approval)
    assert refusal.value.approval == await store.approvals.get(approval.id)


async def test_more_than_one_portion_is_swept(
    store: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that is overdue, however much it is."""
    monkeypatch.setattr(decisions, "PORTION", 3)
    asked = {(await ask(store)).id for _ in range(7)}
    clock.advance(60)
    assert {one.id for one in await store.approvals.expire_overdue()} == asked


class Counted:
    """A database in which so many wait."""

    def __init__(self, waiting: int) -> None:
        self.waiting = waiting
        self.counts = 0

    def run(self, statement: str, **values: Any) -> list[Row]:
        self.counts += 1
        return [{"pending": min(self.waiting, values["most"])}]

    def announce(self, topic: str, subject: str) -> None: ...


def test_all_are_counted_rarely_while_there_is_room_and_always_at_the_limit() -> None:
    """A thousand questions are not counted a thousand times; the last one is exact."""
    room, database = Room(), Counted(0)
    for _ in range(1000):
        database.waiting += 1
        room.refuse_full(database)
    assert database.counts == 1
    room, database = Room(), Counted(PENDING - 1)
    database.waiting += 1
    room.refuse_full(database)
    database.waiting += 1
    with pytest.raises(TooMany):
        room.refuse_full(database)


def fill(room: Room, database: Counted) -> None:
    for _ in range(PENDING + 1):
        database.waiting += 1
        room.refuse_full(database)


def test_one_process_alone_never_goes_past_the_limit() -> None:
    """From wherever it starts."""
    for start in (0, 50_000, 99_000, 99_990):
        database = Counted(start)
        with pytest.raises(TooMany):
            fill(Room(), database)
        assert database.waiting == PENDING + 1


async def test_a_question_too_many_is_not_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was inserted, counted, and taken back."""
    monkeypatch.setattr(kept_approvals, "PENDING_OF_SESSION", 1)
    await ask(store, session_id="s")
    with pytest.raises(TooMany, match="Session 's'"):
        await ask(store, session_id="s")
    assert len((await store.approvals.list())[0]) == 1


def test_the_limit_of_an_input_is_the_input_s_own() -> None:
    """A long preview beside it is no reason to refuse it."""
    large = {"content": "x" * 1_000_000}
    encoded = encode_request(make_request(tool_input=large, preview="y" * 1_000_000))
    assert len(encoded) > 2_000_000
    with pytest.raises(BadRequest, match="tool_input"):
        encode_request(make_request(tool_input={"content": "x" * 1_100_000}))


async def test_each_approval_has_an_id_and_a_nonce_that_nobody_can_guess(store: Store) -> None:
    """At least 128 bits each."""
    asked = [await ask(store) for _ in range(20)]
    assert len({one.id for one in asked} | {one.nonce for one in asked}) == 40
    assert all(len(bytes.fromhex(one.id)) == 16 and len(one.nonce) >= 22 for one in asked)


@given(st.lists(st.text(), max_size=1200))
def test_portions_hold_every_id_once(ids: list[str]) -> None:
    """None is larger than one statement takes."""
    portions = split_ids(ids)
    assert [one for portion in portions for one in portion] == ids
    assert all(1 <= len(portion) <= CHUNK for portion in portions)


def test_values_are_named_and_kept_apart_from_the_text() -> None:
    """The text holds names only."""
    assert name_values(["a'b", "c"]) == (":v0, :v1", {"v0": "a'b", "v1": "c"})


async def test_many_are_loaded_with_their_votes_and_missing_ones_left_out(store: Store) -> None:
    """As each would be by itself."""
    alone, shared = await ask(store), await ask(store, requirement=require(persons=2))
    await decide(store, shared)
    wanted = [shared.id, "missing", alone.id]
    found = await store.engine.read(lambda transaction: load_approvals(transaction, wanted))
    assert {one.id: len(one.votes) for one in found} == {shared.id: 1, alone.id: 0}
    for one in found:
        assert one == await store.approvals.get(one.id)


async def test_a_page_that_is_just_full_is_the_last(store: Store, clock: ManualClock) -> None:
    """There is no empty page after it."""
    for _ in range(4):
        clock.advance(1)
        await ask(store)
    page, after = await store.approvals.list(ApprovalFilter(limit=4))
    assert (len(page), after) == (4, "")
    page, after = await store.approvals.list(ApprovalFilter(limit=3))
    rest, end = await store.approvals.list(ApprovalFilter(limit=3, after=after))
    assert (len(page), len(rest), end) == (3, 1, "")


async def test_values_are_never_part_of_a_statement(store: Store) -> None:
    """Whatever a filter holds, it is a value."""
    hostile = "x'; DROP TABLE approvals; --"
    await ask(store, hook=hostile)
    seen: list[str] = []

    def work(transaction: Any) -> Any:
        class Recording:
            def run(self, statement: str, **values: Any) -> Any:
                seen.append(statement)
                return transaction.run(statement, **values)

        return list_approvals(Recording(), ApprovalFilter(hook=hostile))  # type: ignore[arg-type]

    page, _ = await store.engine.read(work)
    assert [one.request.hook for one in page] == [hostile]
    assert not any("DROP" in statement for statement in seen)


async def test_a_refused_claim_uses_no_fence_and_changes_no_row(store: Store) -> None:
    """All that it did is undone."""
    approval = await approve(store)
    before = await store.approvals.get(approval.id)
    with pytest.raises(Conflict) as refusal:
        await store.claims.claim(**{**read_call(approval), "digest": "x"}, lease=30.0)
    assert refusal.value.approval is not None
    assert await store.approvals.get(approval.id) == before
    held = await store.claims.claim(**read_call(approval), lease=30.0)
    assert held is not None
    assert held.fence == 1


async def test_a_lease_has_a_longest_length(store: Store) -> None:
    """A worker that is still there renews it."""
    approval = await approve(store)
    with pytest.raises(BadRequest, match="lease"):
        await store.claims.claim(**read_call(approval), lease=LONGEST_LEASE + 1)
    held = await store.claims.claim(**read_call(approval), lease=LONGEST_LEASE)
    assert held is not None


async def test_a_worker_that_was_late_but_not_given_up_may_end_its_call(
    store: Store, clock: ManualClock
) -> None:
    """It knows the outcome, and nobody else can have run it."""
    approval = await approve(store)
    held = await store.claims.claim(**read_call(approval), lease=1.0)
    assert held is not None
    clock.advance(5)
    await store.claims.finish(held, "executed")
    assert await store.approvals.mark_lost() == []
    assert (await store.approvals.get(approval.id)).status == "executed"


async def test_an_overdue_question_that_nobody_swept_keeps_the_call_from_running(
    store: Store, clock: ManualClock
) -> None:
    """It counts as not answered."""
    approval = await ask(store)
    clock.advance(61)
    with pytest.raises(Conflict, match="has not been answered"):
        await store.claims.claim(**read_call(approval), lease=30.0)
