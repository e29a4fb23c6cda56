"""Connections to PostgreSQL, their statements and failures."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import errors
from psycopg.pq import TransactionStatus

from amplifier_hooks.approvals.errors import (
    BadRequest,
    StoreError,
    StoreOutage,
    StoreUnavailable,
)
from amplifier_hooks.approvals.models import ApprovalFilter
from amplifier_hooks.approvals.stores import postgres_connection as connection_module
from amplifier_hooks.approvals.stores.approval_rows import list_approvals
from amplifier_hooks.approvals.stores.engine import ANY, Change, Transaction
from amplifier_hooks.approvals.stores.postgres_connection import (
    CHANNEL,
    MOST_NOTICES,
    Connection,
    Connections,
    PostgresTransaction,
    ReadOnlyPostgres,
    announce,
    begin_reading,
    begin_writing,
    check_address,
    commit,
    convert_statement,
    describe_address,
    is_collision,
    is_outage,
    open_connection,
    read_notice,
    roll_back,
    translate,
    write_notice,
)
from amplifier_hooks.approvals.stores.store import open_store
from tests.support.stores import ask


@pytest.mark.parametrize(
    "url",
    ["postgresql://ann:s3cret@[::1/x", "postgresql://ann:s3cret@h/x?no_such=1", "host s3cret"],
)
def test_an_address_that_cannot_be_one_is_refused_without_its_password(url: str) -> None:
    """The error says what one looks like."""
    with pytest.raises(BadRequest, match="postgresql://USER@HOST:5432/DATABASE") as caught:
        check_address(url)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://ann:s3@cret@db.example:5432/team?sslmode=require",
         "postgresql://db.example:5432/team"),
        ("postgresql:///team?host=/run/pg&password=x", "postgresql:///team"),
    ],
)  # fmt: skip
def test_messages_name_the_database_and_no_secret(url: str, words: str) -> None:
    """Neither person nor password nor options."""
    assert describe_address(url) == words


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


@pytest.mark.parametrize(
    ("error", "collision", "outage", "kind"),
    [
        (errors.SerializationFailure("x"), True, True, StoreOutage),
        (errors.DeadlockDetected("x"), True, True, StoreOutage),
        (errors.LockNotAvailable("x"), True, True, StoreOutage),
        (psycopg.OperationalError("gone"), False, True, StoreOutage),
        (psycopg.InterfaceError("closed"), False, True, StoreOutage),
        (errors.AdminShutdown("x"), False, True, StoreOutage),
        (errors.TooManyConnections("x"), False, True, StoreOutage),
        (errors.ReadOnlySqlTransaction("x"), False, True, StoreOutage),
        (errors.IdleInTransactionSessionTimeout("x"), False, True, StoreOutage),
        (errors.QueryCanceled("x"), False, False, StoreUnavailable),
        (errors.UniqueViolation("x"), False, False, StoreError),
        (errors.SyntaxError("x"), False, False, StoreError),
        (errors.NumericValueOutOfRange("x"), False, False, BadRequest),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_an_error_says_whether_trying_again_helps(
    error: psycopg.Error, collision: bool, outage: bool, kind: type
) -> None:
    """At once, with another connection, or not at all."""
    assert is_collision(error) is collision
    assert (is_outage(error) or collision) is outage
    assert type(translate(error, "postgresql://h/x")) is kind


def test_a_text_that_no_database_keeps_is_a_bad_request() -> None:
    """Half a surrogate pair has no bytes."""
    with pytest.raises(UnicodeEncodeError) as caught:
        "\ud800".encode()
    assert type(translate(caught.value, "postgresql://h/x")) is BadRequest


def test_a_message_is_one_line_with_the_address() -> None:
    """However many lines the database writes."""
    said = str(translate(psycopg.OperationalError("refused\n\tIs it running?"), "postgresql://h/x"))
    assert said == "The store at postgresql://h/x does not answer: refused Is it running?"


@pytest.mark.parametrize(
    ("statement", "converted"),
    [
        ("SELECT :id, :other_1", "SELECT %(id)s, %(other_1)s"),
        ("WHERE id=:id AND n<:n", "WHERE id=%(id)s AND n<%(n)s"),
        ("SELECT '1'::int, :n::text", "SELECT '1'::int, %(n)s::text"),
        ("WHERE a LIKE '50% :no' AND b = :b", "WHERE a LIKE '50%% :no' AND b = %(b)s"),
        ("SELECT 'it''s :no', :yes", "SELECT 'it''s :no', %(yes)s"),
        ('SELECT ":no%", 7 % 3', 'SELECT ":no%%", 7 %% 3'),
        ("SELECT 1 -- :no 5%\n, :yes", "SELECT 1 -- :no 5%%\n, %(yes)s"),
        ("SELECT /* :no\n'*/ :yes", "SELECT /* :no\n'*/ %(yes)s"),
        ("AS $f$ SELECT ':a' || $1 || :b $f$ :c", "AS $f$ SELECT ':a' || $1 || :b $f$ %(c)s"),
        ("AS $$ SELECT 5 % 3 $$", "AS $$ SELECT 5 %% 3 $$"),
        ("SELECT unix_now()", "SELECT unix_now()"),
    ],
)
def test_only_the_names_of_values_are_replaced(statement: str, converted: str) -> None:
    """What stands in quotes and comments stays, and so do casts; percent signs are doubled."""
    assert convert_statement(statement) == converted


def test_the_clock_becomes_a_value_where_a_test_brings_its_own() -> None:
    """But not within a text."""
    statement = "SELECT 'unix_now()' WHERE unix_now() < :deadline"
    converted = convert_statement(statement, own_clock=True)
    assert converted == ("SELECT 'unix_now()' WHERE %(store_now)s::double precision < %(deadline)s")


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


async def test_it_reads_and_the_server_refuses_it_every_change(postgres_url: str) -> None:
    """Also one that ends the transaction first."""
    async with await open_store(postgres_url) as store:
        await ask(store)
    reader = ReadOnlyPostgres(postgres_url)

    def write(transaction: Transaction) -> None:
        transaction.run("ROLLBACK")
        transaction.run("DELETE FROM approvals")

    with pytest.raises(StoreError, match="read-only transaction"):
        await reader.read(write)
    found, _ = await reader.read(lambda one: list_approvals(one, ApprovalFilter())) or ([], "")
    assert [one.status for one in found] == ["pending"]
    await reader.close()


async def test_a_server_that_is_not_there_is_told() -> None:
    """With its address, without its password."""
    reader = ReadOnlyPostgres("postgresql://ann:hunter22@127.0.0.1:9/none")
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9/none does not answer") as told:
        await reader.read(lambda transaction: None)
    assert "hunter22" not in str(told.value)
    await reader.close()
