"""Lending connections to threads."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from amplifier_hooks.approvals.stores.postgres_connection import Connections


@pytest.fixture
def connections(postgres_url: str) -> Iterator[Connections]:
    made = Connections(postgres_url)
    yield made
    made.close()


def test_a_connection_is_lent_to_one_at_a_time_and_then_again(connections: Connections) -> None:
    """Opening one takes longer than most statements."""
    with connections.lend() as first, connections.lend() as second:
        assert first is not second
    with connections.lend() as again:
        assert again in (first, second)


@pytest.mark.parametrize("statement", ["BEGIN", "SELECT pg_terminate_backend(pg_backend_pid())"])
def test_a_connection_that_is_not_as_it_was_is_not_lent_again(
    connections: Connections, statement: str
) -> None:
    """Whether a transaction is open or the server has closed it."""
    with connections.lend() as spoiled:
        try:
            spoiled.execute(statement)
        except psycopg.OperationalError:
            assert "terminate" in statement
    assert spoiled.closed
    with connections.lend() as connection:
        assert connection is not spoiled
        assert connection.execute("SELECT 1 AS one").fetchone() == {"one": 1}


def test_after_an_error_of_the_borrower_a_sound_connection_is_kept(
    connections: Connections,
) -> None:
    """A statement that failed by itself leaves nothing behind."""
    with pytest.raises(psycopg.errors.UndefinedTable), connections.lend() as lent:
        lent.execute("SELECT * FROM nowhere")
    with connections.lend() as again:
        assert again is lent


def test_dropping_and_closing_leave_none_open(connections: Connections) -> None:
    """What is lent meanwhile is closed when it comes back."""
    with connections.lend() as idle:
        pass
    connections.drop_idle()
    assert idle.closed
    with connections.lend() as lent:
        connections.close()
        assert not lent.closed
    assert lent.closed
