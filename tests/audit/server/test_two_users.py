"""Writer and session as two users, and as two processes that are killed."""

from __future__ import annotations

import os

import pytest

from tests.audit.support import run_program


def test_killing_writer_and_session_loses_nothing_and_makes_up_nothing() -> None:
    """At random moments; as two users where that is possible."""
    result = run_program("server.kills", "--rounds", "8", "--seed", "5", timeout=55)
    assert result["problems"] == []
    assert result["acknowledged"] > 0
    if os.geteuid() == 0:
        assert len(set(result["users"])) == 2


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_killing_writer_and_session_two_thousand_times() -> None:
    """Nothing lost, nothing made up, nothing twice."""
    result = run_program("server.kills", "--rounds", "2000", "--seed", "6", timeout=7000)
    assert result["problems"] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be two users")
def test_a_session_can_reach_nothing_but_the_socket() -> None:
    """It cannot read, change, move or replace a file of the writer, nor stand in for it."""
    result = run_program("server.reach", timeout=50)
    assert result == {
        "appended": "done",
        "list the trails": "PermissionError",
        "read the log": "PermissionError",
        "move the trails": "PermissionError",
        "replace the socket": "PermissionError",
        "kill the writer": "PermissionError",
        "name a session outside": "done",
        "trust a socket of its own": "AuditUnavailable",
        "folders": ["65534"],
        "verdict": "consistent",
    }
