"""What an error of PostgreSQL means for the work that met it."""

from __future__ import annotations

import psycopg
from psycopg import errors

from amplifier_hooks.approvals.stores.errors import (
    BadRequest,
    StoreError,
    StoreOutage,
    StoreUnavailable,
)

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
