"""The file that makes a session one of a check."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.self_test.ticket import Ticket, find_ticket, make_ticket


def find(folder: Path, ticket: Ticket) -> Ticket | None:
    """The ticket of the session that the check would have."""
    return find_ticket(folder, f"claude-{ticket.session_id}")


def list_files(folder: Path) -> list[Path]:
    """The files of all tickets."""
    return [one for one in folder.rglob("*") if one.is_file()]


def test_the_hook_s_side_and_the_other_side_see_the_same(tmp_path: Path) -> None:
    """What the hook notes, the check reads."""
    ticket = make_ticket(tmp_path, 2.5)
    found = find(tmp_path, ticket)
    assert found is not None
    assert found.read_seconds() == 2.5
    found.report("deny", pid=7)
    assert ticket.list_reports("deny") == [{"case": "deny", "pid": 7}]
    assert ticket.list_reports("other") == []
    assert ticket.wait_for_report("deny", 0)
    assert not ticket.wait_for_report("other", 0.05)


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    """Nor write it."""
    make_ticket(tmp_path, 1)
    (path,) = list_files(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_without_the_file_the_id_means_nothing(tmp_path: Path) -> None:
    """After the check, or for an agent that calls its session so."""
    ticket = make_ticket(tmp_path, 1)
    ticket.remove()
    assert find(tmp_path, ticket) is None
    assert list(tmp_path.iterdir()) == []
    ticket.report("late")
    assert list(tmp_path.iterdir()) == []
    assert ticket.list_reports("late") == []


@pytest.mark.parametrize(
    "session", ["claude-123", "claude-amplifier-check-../../x", "claude-amplifier-check-"]
)
def test_other_sessions_are_not_of_a_check(tmp_path: Path, session: str) -> None:
    """Also those with an id that would lead elsewhere."""
    make_ticket(tmp_path, 1)
    assert find_ticket(tmp_path, session) is None


def test_a_file_that_others_can_write_is_no_ticket(tmp_path: Path) -> None:
    """Nor a link to one."""
    ticket = make_ticket(tmp_path, 1)
    (path,) = list_files(tmp_path)
    path.chmod(0o644)
    assert find(tmp_path, ticket) is None
    path.chmod(0o600)
    other = path.rename(tmp_path / "elsewhere")
    path.symlink_to(other)
    assert find(tmp_path, ticket) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_somebody_else_is_no_ticket(tmp_path: Path) -> None:
    """Whoever wrote it could make a session of another user one of a check."""
    ticket = make_ticket(tmp_path, 1)
    (path,) = list_files(tmp_path)
    os.chown(path, 65534, -1)
    assert find(tmp_path, ticket) is None


def test_where_no_file_can_be_written_the_ticket_is_not_valid(tmp_path: Path) -> None:
    """The check goes on, and finds out what is wrong."""
    ticket = make_ticket(tmp_path / "missing", 1)
    assert not ticket.is_valid
    assert ticket.read_seconds() == 0
