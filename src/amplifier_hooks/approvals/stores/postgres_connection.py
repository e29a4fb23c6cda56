"""Connections to PostgreSQL, their statements and failures, and a store for those who only look."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import cached_property, lru_cache
from threading import Lock
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urlsplit

import psycopg
from psycopg import conninfo, errors
from psycopg.abc import RV, Buffer, PQGen
from psycopg.adapt import Loader
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL, Composable, Composed, Literal

from amplifier_hooks.approvals.errors import (
    BadRequest,
    StoreError,
    StoreOutage,
    StoreUnavailable,
)
from amplifier_hooks.approvals.stores.engine import ANY, Change, Row, Transaction
from amplifier_hooks.approvals.stores.migrations import check_version


def check_address(url: str) -> None:
    """Raises BadRequest for an address that cannot be one; its password is not repeated."""
    try:
        conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        raise BadRequest(
            "The address of the PostgreSQL store cannot be read; it looks like"
            " postgresql://USER@HOST:5432/DATABASE, with special characters as %XX"
        ) from None


def describe_address(url: str) -> str:
    """Which database it is, for messages: without the password and other options."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


APPLICATION = "amplifier"
CONNECT_SECONDS = 10
STATEMENT_SECONDS = 30
ANSWER_SECONDS = 35.0
"""After that time a server is taken for one that does not answer: it would have said so itself."""
LOCK_SECONDS = 10
LOOK_SECONDS = 0.1
PAUSED_SECONDS = 10
"""How long a process that was stopped in the middle of a transaction can hold its locks."""

# A host that is gone without a word is noticed after about a quarter of a minute.
DEFAULTS: dict[str, Any] = {
    "application_name": APPLICATION,
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 15_000,
}
# Not as options of the connection, which poolers refuse.
_PREPARE = f"""
SET statement_timeout = '{STATEMENT_SECONDS}s';
SET lock_timeout = '{LOCK_SECONDS}s';
SET idle_in_transaction_session_timeout = '{PAUSED_SECONDS}s';
SET client_min_messages = 'warning';
SELECT set_config('synchronous_commit', 'on', false)
 WHERE current_setting('synchronous_commit') = 'off'
"""


class Connection(psycopg.Connection[DictRow]):
    """Waits for no answer for ever: a server that hangs keeps its connections alive."""

    @cached_property
    def statements(self) -> psycopg.Cursor[DictRow]:
        """The one cursor that all statements share: making one takes as long as a statement."""
        return self.cursor()

    def wait(
        self, gen: PQGen[RV], interval: float = LOOK_SECONDS, timeout: float | None = None
    ) -> RV:
        """Drive what is under way to its end."""
        return super().wait(limit_wait(gen, ANSWER_SECONDS), interval, timeout)


def limit_wait(gen: PQGen[RV], seconds: float) -> PQGen[RV]:
    """The same, but an error if nothing happens at the end of that time."""
    end = monotonic() + seconds
    try:
        state = next(gen)
        while True:
            ready = yield state
            if not ready and monotonic() > end:
                raise psycopg.OperationalError(f"no answer within {seconds:g} seconds")
            state = gen.send(ready)
    except StopIteration as ended:
        result: RV = ended.value
        return result


class NumberLoader(Loader):
    """Sums of whole numbers are `numeric` here; SQLite has int and float, and so have we."""

    def load(self, data: Buffer) -> int | float:
        number = Decimal(bytes(data).decode())
        return int(number) if number.is_finite() and number == int(number) else float(number)


def open_connection(url: str, *, reads_only: bool = False) -> Connection:
    """Connect; raises psycopg.OperationalError when the server does not answer in time.

    Each statement is its own transaction, unless BEGIN is said.
    """
    given = conninfo.conninfo_to_dict(url)
    settings: dict[str, Any] = {**DEFAULTS, **given}
    connection = Connection.connect(autocommit=True, row_factory=dict_row, **settings)
    try:
        connection.adapters.register_loader("numeric", NumberLoader)
        connection.execute(_PREPARE)
        if reads_only:
            connection.execute("SET default_transaction_read_only = on")
    except BaseException:
        connection.close()
        raise
    return connection


class Connections:
    """As many as there are borrowers at once; one that is not as it was lent is closed."""

    def __init__(self, url: str, *, reads_only: bool = False) -> None:
        self._url = url
        self._reads_only = reads_only
        self._lock = Lock()
        self._idle: list[Connection] = []
        self._closed = False

    @contextmanager
    def lend(self) -> Iterator[Connection]:
        """A connection; after an error within, it is lent again only if it is not to blame."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = open_connection(self._url, reads_only=self._reads_only)
        try:
            yield connection
        finally:
            self._take_back(connection)

    def _take_back(self, connection: Connection) -> None:
        sound = connection.info.transaction_status is TransactionStatus.IDLE
        with self._lock:
            if sound and not connection.closed and not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def drop_idle(self) -> None:
        """Close those that nobody has: the server was restarted, and they are all broken."""
        with self._lock:
            idle = self._idle
            self._idle = []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Close everything, what is lent when it comes back."""
        self._closed = True
        self.drop_idle()


_COLLISIONS = (errors.SerializationFailure, errors.DeadlockDetected, errors.LockNotAvailable)
# Besides everything that psycopg itself calls operational, such as a lost connection.
_OUTAGES = (
    errors.ReadOnlySqlTransaction,  # a standby, or a primary that became one
    errors.IdleInTransactionSessionTimeout,
    errors.InvalidSqlStatementName,  # a pooler has put another server connection under this one
)


def is_collision(error: psycopg.Error) -> bool:
    """Whether the same work may succeed at once: it met another's."""
    return isinstance(error, _COLLISIONS)


def is_outage(error: psycopg.Error) -> bool:
    """Whether the connection is of no use, or was none; another one may be."""
    if isinstance(error, errors.QueryCanceled):
        return False  # it took too long once, and would again
    return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, *_OUTAGES))


def translate(error: Exception, address: str) -> StoreError:
    """The error that callers know, with the database's words."""
    words = " ".join(str(error).split())
    if isinstance(error, (psycopg.DataError, UnicodeError)):
        return BadRequest(f"PostgreSQL cannot keep a value of this: {words}")
    if isinstance(error, psycopg.Error) and (is_outage(error) or is_collision(error)):
        return StoreOutage(f"The store at {address} does not answer: {words}")
    if isinstance(error, errors.QueryCanceled):
        return StoreUnavailable(f"The store at {address} took too long: {words}")
    return StoreError(f"The store at {address} cannot do this: {words}")


NOW = "store_now"
"""The value that stands for `unix_now()` where a test brings its own clock."""

_PARTS = re.compile(
    r"""
      '(?:[^']|'')*'                  # text
    | "(?:[^"]|"")*"                  # a name in quotes
    | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ # the body of a function
    | --[^\n]*
    | /\*.*?\*/
    | ::
    | :(?P<name>[A-Za-z_]\w*)
    | (?P<now>\bunix_now\(\))
    | %
    """,
    re.VERBOSE | re.DOTALL,
)


@lru_cache(maxsize=1024)
def convert_statement(statement: str, *, own_clock: bool = False) -> str:
    """`:name` becomes `%(name)s`, and other percent signs are doubled.

    With a clock of its own, `unix_now()` becomes a value as well.
    """

    def convert(part: re.Match[str]) -> str:
        if part["name"]:
            return f"%({part['name']})s"
        if part["now"] and own_clock:
            return f"%({NOW})s::double precision"
        return part[0].replace("%", "%%")

    return _PARTS.sub(convert, statement)


CHANNEL = "amplifier_changes"
LONGEST_NOTICE = 7000
"""In bytes; PostgreSQL takes less than 8,000."""
MOST_NOTICES = 100
"""Beyond that many, one that tells of everything costs everybody less."""

Clock = Callable[[], float]


class PostgresTransaction:
    """Statements between BEGIN and COMMIT; what is announced is told with the COMMIT."""

    def __init__(self, connection: Connection, clock: Clock | None = None) -> None:
        self._cursor = connection.statements
        self._clock = clock
        self.changes: dict[Change, None] = {}

    def run(self, statement: str, **values: Any) -> list[Row]:
        if self._clock is not None:
            values[NOW] = self._clock()
        text = convert_statement(statement, own_clock=self._clock is not None)
        cursor = self._cursor.execute(text.encode(), values)
        # `description` would tell as well, and describe every column anew.
        has_rows = cursor.pgresult is not None and cursor.pgresult.nfields > 0
        return list(cursor.fetchall()) if has_rows else []

    def announce(self, topic: str, subject: str) -> None:
        self.changes[Change(topic, subject)] = None


def begin_writing(connection: Connection, first: Composable | None = None) -> None:
    """Begin a transaction, with a first statement such as a mark."""
    connection.statements.execute(SQL("BEGIN") if first is None else SQL("BEGIN; {}").format(first))


def begin_reading(connection: Connection) -> None:
    """Begin a transaction that sees one state of everything, and cannot change it."""
    connection.statements.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")


def commit(connection: Connection, changes: Sequence[Change]) -> None:
    """Commit, and tell those who listen.

    NOTIFY within the transaction would let PostgreSQL commit only one of them at a time, each
    with its own wait for the disk. So the notice has a transaction of its own, which does not
    wait for the disk; it is sent together with the COMMIT, so that nothing can come between.
    """
    connection.statements.execute(
        SQL("COMMIT; {}").format(_notify(changes)) if changes else SQL("COMMIT")
    )


def announce(connection: Connection, changes: Sequence[Change]) -> None:
    """Tell those who listen of what was committed some other way."""
    if changes:
        connection.statements.execute(_notify(changes))


def write_notice(change: Change) -> str:
    """A change as the payload of a notification."""
    return f"{change.topic} {change.subject}"


def read_notice(payload: str) -> Change:
    """The change that a notification tells of."""
    topic, _, subject = payload.partition(" ")
    return Change(topic, subject)


def _notify(changes: Sequence[Change]) -> Composed:
    notices = [write_notice(change) for change in changes]
    if len(notices) > MOST_NOTICES or any(len(one.encode()) > LONGEST_NOTICE for one in notices):
        notices = [write_notice(Change(ANY, ANY))]
    calls = (
        SQL("pg_notify({}, {})").format(Literal(CHANNEL), Literal(notice)) for notice in notices
    )
    return SQL("BEGIN; SET LOCAL synchronous_commit = off; SELECT {}; COMMIT").format(
        SQL(", ").join(calls)
    )


def roll_back(connection: Connection) -> None:
    """Give up a transaction; if the connection is lost, it is given up already."""
    with suppress(psycopg.Error):
        connection.statements.execute("ROLLBACK")


T = TypeVar("T")


class ReadOnlyPostgres:
    """Reads in transactions that cannot write, on connections that begin no others."""

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        check_address(url)
        self.address = describe_address(url)
        self._clock = clock
        self._connections = Connections(url, reads_only=True)

    async def read(self, work: Callable[[Transaction], T]) -> T | None:
        """Run `work` on what is durable."""
        return await asyncio.to_thread(self._read, work)

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.to_thread(self._connections.close)

    def _read(self, work: Callable[[Transaction], T]) -> T:
        try:
            return self._read_once(work)
        except psycopg.Error as error:
            if not is_outage(error):
                raise translate(error, self.address) from error
        # The server may have been restarted since the last read.
        self._connections.drop_idle()
        try:
            return self._read_once(work)
        except psycopg.Error as error:
            raise translate(error, self.address) from error

    def _read_once(self, work: Callable[[Transaction], T]) -> T:
        with self._connections.lend() as connection:
            begin_reading(connection)
            try:
                transaction = PostgresTransaction(connection, self._clock)
                check_version(transaction, self.address)
                return work(transaction)
            finally:
                roll_back(connection)
