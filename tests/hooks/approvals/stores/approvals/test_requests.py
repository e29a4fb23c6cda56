"""Requests: within limits that are counted where it is cheap."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.approvals.errors import BadRequest, TooMany
from amplifier_hooks.approvals.stores import approvals as kept_approvals
from amplifier_hooks.approvals.stores.approvals import PENDING, Room, encode_request
from amplifier_hooks.approvals.stores.engine import Row
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import ask, make_request


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
