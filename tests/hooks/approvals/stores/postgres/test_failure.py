"""What errors of the database mean."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors

from amplifier_hooks.approvals.errors import (
    BadRequest,
    StoreError,
    StoreOutage,
    StoreUnavailable,
)
from amplifier_hooks.approvals.stores.postgres_connection import is_collision, is_outage, translate


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
