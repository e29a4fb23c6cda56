"""Connections to a real server."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from amplifier_hooks.approvals.stores import postgres_connection as connection_module
from amplifier_hooks.approvals.stores.postgres_connection import open_connection


def read_setting(connection, name: str) -> str:
    return str(connection.execute(f"SELECT current_setting('{name}') AS it").fetchone()["it"])


def test_a_connection_has_limits_and_a_name(postgres_url: str) -> None:
    """So that nothing waits for ever, and an administrator sees whose it is."""
    with open_connection(postgres_url) as connection:
        assert read_setting(connection, "application_name") == "amplifier"
        for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            assert read_setting(connection, name) not in ("", "0")


def test_what_the_address_says_goes_before_the_defaults(postgres_url: str) -> None:
    """Such as the name of the application."""
    with open_connection(f"{postgres_url}&application_name=mine") as connection:
        assert read_setting(connection, "application_name") == "mine"


def test_no_answer_is_waited_for_for_ever(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that hangs says nothing, not even that it takes too long."""
    with open_connection(postgres_url) as connection:
        monkeypatch.setattr(connection_module, "ANSWER_SECONDS", 0.2)
        with pytest.raises(psycopg.OperationalError, match=r"no answer within 0\.2 seconds"):
            connection.execute("SELECT pg_sleep(60)")
        assert connection.info.transaction_status is TransactionStatus.ACTIVE
        connection.close()


@pytest.mark.parametrize(("configured", "used"), [("off", "on"), ("local", "local")])
def test_commits_are_durable_whatever_the_server_is_set_to(
    postgres_url: str, configured: str, used: str
) -> None:
    """A commit that does not wait for the disk can be lost; any other setting is left as it is."""
    with psycopg.connect(postgres_url) as connection:
        database = connection.info.dbname
        connection.execute(f"ALTER DATABASE {database} SET synchronous_commit = {configured}")
    with open_connection(postgres_url) as connection:
        assert read_setting(connection, "synchronous_commit") == used


@pytest.mark.parametrize(
    ("expression", "number"),
    [("sum(n::bigint)", 3), ("avg(n)", 1.5), ("sum(n) / 7.0 * 14", 6), ("'NaN'::numeric", None)],
)
def test_sums_are_plain_numbers(postgres_url: str, expression: str, number: float | None) -> None:
    """As they are in SQLite."""
    query = f"SELECT {expression} AS it FROM (VALUES (1), (2)) AS given(n)"
    with open_connection(postgres_url) as connection:
        found = connection.execute(query).fetchone()["it"]
    assert type(found) in (int, float)
    assert found == number or number is None
