"""How many records of a client a log has."""

from __future__ import annotations

from typing import Any

from amplifier_audit.server import count_records, digest_client


def make_record(type: str, **body: Any) -> dict[str, Any]:
    return {"type": type, "body": body}


def test_records_behind_a_connection_are_its_clients() -> None:
    """Those of the log itself and of other clients are not."""
    records = [
        make_record("tool_started"),
        make_record("writer_connected", client="a", have=0),
        make_record("tool_started"),
        make_record("checkpoint"),
        make_record("dispatch"),
        make_record("writer_connected", client="b", have=0),
        make_record("dispatch"),
        make_record("x_writer_connected", client="a", have=99),
    ]
    assert [count_records(records, client) for client in "abc"] == [2, 2, 0]


def test_a_connection_counts_those_that_retention_removed() -> None:
    """Its record says how many there were before it."""
    records = [make_record("writer_connected", client="a", have=40), make_record("dispatch")]
    assert count_records(records, "a") == 41
    assert count_records([make_record("writer_connected", client="a", have="x")], "a") == 0


def test_the_log_does_not_hold_what_a_client_proves_itself_with() -> None:
    """Whoever reads it cannot go on in the client's name."""
    assert digest_client("secret") != digest_client("other")
    assert "secret" not in digest_client("secret")
