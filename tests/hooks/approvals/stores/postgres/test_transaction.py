"""Transactions of a real server."""

from __future__ import annotations

import psycopg
import pytest

from amplifier_hooks.approvals.stores.engine import ANY, Change
from amplifier_hooks.approvals.stores.postgres_connection import (
    CHANNEL,
    MOST_NOTICES,
    Connection,
    PostgresTransaction,
    announce,
    begin_reading,
    begin_writing,
    commit,
    open_connection,
    read_notice,
    roll_back,
    write_notice,
)


@pytest.fixture
def connection(postgres_url: str):
    with open_connection(postgres_url) as opened:
        opened.execute("CREATE TABLE words (word TEXT PRIMARY KEY)")
        yield opened


@pytest.fixture
def hearing(connection: Connection, postgres_url: str):
    with open_connection(postgres_url) as opened:
        opened.execute(f"LISTEN {CHANNEL}")
        yield opened


def hear(connection: Connection, count: int) -> list[Change]:
    found = connection.notifies(timeout=30, stop_after=count)
    return [read_notice(notice.payload) for notice in found]


def test_a_statement_takes_its_values_and_returns_its_rows(connection: Connection) -> None:
    """One that has no rows to return returns none."""
    transaction = PostgresTransaction(connection)
    assert transaction.run("INSERT INTO words VALUES (:word)", word="100 % :word") == []
    assert transaction.run("SELECT word FROM words WHERE word LIKE '100 %'") == [
        {"word": "100 % :word"}
    ]
    assert transaction.run("DELETE FROM words RETURNING word") == [{"word": "100 % :word"}]


def test_a_clock_that_was_given_is_the_clock_of_all_statements(connection: Connection) -> None:
    """Read anew by each of them."""
    times = iter([1.5, 2.5])
    transaction = PostgresTransaction(connection, lambda: next(times))
    assert transaction.run("SELECT unix_now() AS now") == [{"now": 1.5}]
    assert transaction.run("SELECT :n + unix_now() AS now", n=1) == [{"now": 3.5}]


def test_changes_are_told_with_the_commit_each_once(
    connection: Connection, hearing: Connection
) -> None:
    """And are visible to who hears of them."""
    begin_writing(connection)
    transaction = PostgresTransaction(connection)
    transaction.run("INSERT INTO words VALUES ('new')")
    for subject in ("a", "it's \\ ü b", "a"):
        transaction.announce("approval", subject)
    commit(connection, list(transaction.changes))
    assert hear(hearing, 2) == [Change("approval", "a"), Change("approval", "it's \\ ü b")]
    assert hearing.execute("SELECT word FROM words").fetchall() == [{"word": "new"}]


@pytest.mark.parametrize(
    "subjects", [["x" * 9000], [str(number) for number in range(MOST_NOTICES + 1)]]
)
def test_what_is_too_much_to_tell_is_told_as_everything(
    connection: Connection, hearing: Connection, subjects: list[str]
) -> None:
    """PostgreSQL takes notices of less than 8,000 bytes, and many of them cost everybody."""
    announce(connection, [Change("records", subject) for subject in subjects])
    announce(connection, [Change("the", "end")])
    assert hear(hearing, 2) == [Change(ANY, ANY), Change("the", "end")]


def test_nothing_is_told_of_a_transaction_that_was_given_up(
    connection: Connection, hearing: Connection
) -> None:
    """And nothing is kept of it."""
    begin_writing(connection)
    transaction = PostgresTransaction(connection)
    transaction.run("INSERT INTO words VALUES ('no')")
    transaction.announce("approval", "no")
    roll_back(connection)
    announce(connection, [])
    announce(connection, [Change("the", "end")])
    assert hear(hearing, 1) == [Change("the", "end")]
    assert hearing.execute("SELECT word FROM words").fetchall() == []


def test_who_reads_sees_one_state_and_cannot_write(
    connection: Connection, hearing: Connection
) -> None:
    """Even if something is committed between two statements."""
    begin_reading(hearing)
    assert hearing.execute("SELECT count(*) AS n FROM words").fetchone() == {"n": 0}
    connection.execute("INSERT INTO words VALUES ('new')")
    assert hearing.execute("SELECT count(*) AS n FROM words").fetchone() == {"n": 0}
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        hearing.execute("DELETE FROM words")
    roll_back(hearing)
    assert hearing.execute("SELECT count(*) AS n FROM words").fetchone() == {"n": 1}


def test_giving_up_on_a_lost_connection_is_no_error(connection: Connection) -> None:
    """The server has given it up already."""
    begin_writing(connection)
    connection.close()
    roll_back(connection)
    assert connection.closed


def test_a_notice_is_read_as_it_was_written() -> None:
    """Subjects may hold spaces, topics do not."""
    for change in (Change("approval", "a b  c"), Change(ANY, ANY), Change("rule", "")):
        assert read_notice(write_notice(change)) == change
