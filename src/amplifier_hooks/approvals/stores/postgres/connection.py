"""A connection to PostgreSQL that neither hangs nor forgets."""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property
from time import monotonic
from typing import Any

import psycopg
from psycopg import conninfo
from psycopg.abc import RV, Buffer, PQGen
from psycopg.adapt import Loader
from psycopg.rows import DictRow, dict_row

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


def open_connection(url: str) -> Connection:
    """Connect; raises psycopg.OperationalError when the server does not answer in time.

    Each statement is its own transaction, unless BEGIN is said.
    """
    given = conninfo.conninfo_to_dict(url)
    settings: dict[str, Any] = {**DEFAULTS, **given}
    connection = Connection.connect(autocommit=True, row_factory=dict_row, **settings)
    try:
        connection.adapters.register_loader("numeric", NumberLoader)
        connection.execute(_PREPARE)
    except BaseException:
        connection.close()
        raise
    return connection
