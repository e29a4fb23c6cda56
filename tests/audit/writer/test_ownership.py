"""A log has one key and one name for its whole life."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit.errors import AuditError, AuditUnavailable
from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import AuditDirectory
from amplifier_audit.record import name_log
from amplifier_audit.recovery import refuse_foreign_log
from tests.audit.support import (
    FAST,
    OTHER,
    SIGNER,
    first_segment,
    make_lines,
    read_bodies,
    write_lines,
    write_log,
)


async def test_the_log_of_another_session_is_not_continued(tmp_path: Path) -> None:
    """Somebody put it there; its own session may go on with it."""
    await write_log(tmp_path / "log", 3, name="bob")
    with pytest.raises(AuditUnavailable, match="is the trail of 'bob', not of 'ann'"):
        await AuditLog.open(tmp_path / "log", FAST, name="ann")
    await write_log(tmp_path / "log", 3, name="bob")
    assert [body["name"] for body in read_bodies(tmp_path / "log", "log_opened")] == ["bob"] * 2


@pytest.mark.usefixtures("nameless")
async def test_a_log_without_a_name_is_known_by_its_first_session(tmp_path: Path) -> None:
    """As those of earlier versions are."""
    await write_log(tmp_path / "log", 3)
    with pytest.raises(AuditUnavailable, match="trail of 's1', not of 'ann'"):
        await AuditLog.open(tmp_path / "log", FAST, name="ann")
    await write_log(tmp_path / "log", 3, name="s1")


@pytest.mark.parametrize(("folder", "name"), [("log", "log"), ("my log", name_log("my log"))])
async def test_a_new_log_has_the_name_of_its_folder(tmp_path: Path, folder: str, name: str) -> None:
    """One that is there keeps what it has, wherever it lies."""
    await write_log(tmp_path / folder, 3)
    (tmp_path / folder).rename(tmp_path / "elsewhere")
    await write_log(tmp_path / "elsewhere", 3)
    bodies = read_bodies(tmp_path / "elsewhere", "log_opened")
    assert [body["name"] for body in bodies] == [name] * 2


@pytest.mark.usefixtures("nameless")
async def test_a_log_that_has_no_name_gets_none_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its signatures and anchors would not agree with one another."""
    await write_log(tmp_path / "log", 3)
    monkeypatch.undo()
    await write_log(tmp_path / "log", 3)
    assert [body["name"] for body in read_bodies(tmp_path / "log", "log_opened")] == [None] * 2


async def test_another_key_is_refused(tmp_path: Path) -> None:
    """Also none, where there was one."""
    await write_log(tmp_path, 3, signer=SIGNER)
    for signer in (OTHER, None):
        with pytest.raises(AuditUnavailable, match="another key needs another directory"):
            refuse_foreign_log(AuditDirectory(tmp_path), signer, None)
    refuse_foreign_log(AuditDirectory(tmp_path), SIGNER, None)


def test_where_nothing_is_known_nothing_is_refused(tmp_path: Path) -> None:
    """What is wrong with such a log, recovery finds."""
    refuse_foreign_log(AuditDirectory(tmp_path), SIGNER, "ann")
    write_lines(tmp_path, make_lines(3)[1:])
    refuse_foreign_log(AuditDirectory(tmp_path), SIGNER, "ann")
    first_segment(tmp_path).write_bytes(b"damaged\n")
    refuse_foreign_log(AuditDirectory(tmp_path), SIGNER, "ann")


async def test_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    """Before anything is written."""
    with pytest.raises(AuditError, match="A log's name"):
        await AuditLog.open(tmp_path / "log", FAST, name="a\nb")
    assert not (tmp_path / "log").exists()
