"""Marks in a real database."""

from __future__ import annotations

from threading import Thread

import pytest

from amplifier_hooks.approvals.stores import postgres as mark_module
from amplifier_hooks.approvals.stores.postgres import Mark, make_room_for_marks
from amplifier_hooks.approvals.stores.postgres_connection import (
    Connection,
    PostgresTransaction,
    begin_writing,
    commit,
    open_connection,
    roll_back,
)


@pytest.fixture
def connection(postgres_url: str):
    with open_connection(postgres_url) as opened:
        make_room_for_marks(PostgresTransaction(opened))
        yield opened


@pytest.fixture
def other(connection: Connection, postgres_url: str):
    with open_connection(postgres_url) as opened:
        yield opened


def test_a_mark_tells_a_transaction_that_was_committed_from_one_that_was_not(
    connection: Connection, other: Connection
) -> None:
    """Whichever came before it, and from any connection."""
    mark = Mark()
    for ends in (roll_back, commit, roll_back, commit):
        begin_writing(connection, mark.leave_next())
        if ends is commit:
            commit(connection, [])
        else:
            roll_back(connection)
        assert mark.was_left(other) is (ends is commit)


@pytest.mark.parametrize("earlier", [0, 1])
@pytest.mark.parametrize("ends", [commit, roll_back])
def test_a_transaction_that_is_still_under_way_is_waited_for(
    connection: Connection, other: Connection, earlier: int, ends
) -> None:
    """A server may go on with a COMMIT though its client is gone; also with a thread's first."""
    mark = Mark()
    for _ in range(earlier):
        begin_writing(connection, mark.leave_next())
        commit(connection, [])
    begin_writing(connection, mark.leave_next())
    answers: list[bool] = []
    asking = Thread(target=lambda: answers.append(mark.was_left(other)))
    asking.start()
    asking.join(0.1)
    assert answers == []
    commit(connection, []) if ends is commit else roll_back(connection)
    asking.join(60)
    assert answers == [ends is commit]


def test_threads_have_marks_of_their_own(connection: Connection) -> None:
    """So that they never wait for each other."""
    marks = [Mark(), Mark()]
    for mark in marks:
        begin_writing(connection, mark.leave_next())
        commit(connection, [])
    roll_back(connection)
    assert all(mark.was_left(connection) for mark in marks)
    assert marks[0].id != marks[1].id


def test_rows_of_threads_that_are_long_gone_are_dropped(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a store is opened; younger ones stay."""

    def count() -> int:
        found = connection.execute("SELECT count(*) AS n FROM store_writers").fetchone()
        return int(found["n"])

    connection.execute(Mark().leave_next())
    make_room_for_marks(PostgresTransaction(connection))
    assert count() == 1
    monkeypatch.setattr(mark_module, "KEPT_SECONDS", -1)
    make_room_for_marks(PostgresTransaction(connection))
    assert count() == 0
