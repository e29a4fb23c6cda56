"""Logs that earlier versions wrote are read, verified and continued.

`old_logs/first` was written by the first version of the trail, `old_logs/rotated` by the last one
before the trail became a package of its own: with committed values, several segments of which the
first was removed, a crash, and a redaction. Both are signed with the key of these tests.
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from amplifier_audit.anchor_files import read_anchors
from amplifier_audit.errors import AuditError
from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import open_log
from amplifier_audit.reader import find_newest_checkpoint, prove_inclusion, read_records
from amplifier_audit.value_store import reveal
from amplifier_audit.verification import verify
from tests.audit.support import FAST, SIGNER, VERIFIER, read_types, write_log

STORED = Path(__file__).parent / "old_logs"


@pytest.fixture(params=["first", "rotated"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy: opening a log may touch it."""
    return Path(shutil.copytree(STORED / request.param, tmp_path / "old"))


@pytest.fixture
def rotated(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED / "rotated", tmp_path / "rotated"))


def test_they_are_proven_by_their_anchors(folder: Path) -> None:
    """With every signature that was made then."""
    notes = read_anchors([folder / "anchors"], open_log(folder / "log"))
    report = verify(folder / "log", anchors=notes, key=VERIFIER)
    assert (report.verdict, report.finding) == ("proven", None)
    assert report.proven_to == max(note.checkpoint.size for note in notes)
    assert report.signed == report.checkpoints > 0
    # They were written before logs had names.
    assert report.name is None
    assert "the log does not say whose it is" in report.notes[-1]


def test_whose_they_are_their_first_session_says(folder: Path) -> None:
    """Somebody else's are not proven."""
    notes = read_anchors([folder / "anchors"], open_log(folder / "log"))
    session = next(r["session"] for r in read_records(open_log(folder / "log")) if r["session"])
    for told, verdict in ((session, "proven"), ("somebody-else", "consistent")):
        report = verify(folder / "log", anchors=notes, key=VERIFIER, session=told)
        assert report.verdict == verdict


def test_their_verdicts_without_anchors_are_the_same_as_then() -> None:
    """One is consistent; the other says that a crash left its mark."""
    assert verify(STORED / "first" / "log").verdict == "consistent"
    report = verify(STORED / "rotated" / "log", key=VERIFIER)
    assert (report.verdict, report.recoveries, report.first) == ("recovered", (16,), 6)


def test_types_that_are_no_longer_written_are_read() -> None:
    """They are records like all others."""
    types = read_types(STORED / "first" / "log")
    assert {"approval_late", "hook_timed_out", "x_checkpoint"} <= set(types)


def test_every_byte_that_is_changed_is_found(tmp_path: Path) -> None:
    """As in a log of today."""
    log = Path(shutil.copytree(STORED / "first" / "log", tmp_path / "log"))
    content = (log / "00000000.jsonl").read_bytes()
    for place in range(0, len(content), 211):
        damaged = bytearray(content)
        damaged[place] ^= 1
        (log / "00000000.jsonl").write_bytes(damaged)
        assert verify(log).verdict == "tampered"


def test_their_values_are_revealed_and_the_redacted_one_is_not(rotated: Path) -> None:
    """The side store has kept its form."""
    records = list(reveal(read_records(open_log(rotated / "log")), rotated / "log" / "values.db"))
    inputs = [r["body"]["input"] for r in records if r["type"] == "tool_started"]
    assert {"command": "echo 1-5"} in inputs
    texts = [r["body"]["text"] for r in records if r["type"] == "user_message"]
    assert texts[0] == "secret 0"
    assert texts[1]["redacted"] is True


def test_their_records_can_be_proven(folder: Path) -> None:
    """Each that is there, against the newest checkpoint."""
    log = open_log(folder / "log")
    note = find_newest_checkpoint(log)
    assert note is not None
    for record in read_records(log):
        if record["seq"] < note.checkpoint.size:
            prove_inclusion(log, record["seq"], note)


async def test_they_are_continued(folder: Path) -> None:
    """By the same key, without an alarm; what was proven stays proven."""
    before = verify(folder / "log")
    alarms: list[str] = []
    await write_log(folder / "log", 5, FAST, signer=SIGNER, alarm=alarms.append)
    assert alarms == []
    notes = read_anchors([folder / "anchors"], open_log(folder / "log"))
    report = verify(folder / "log", anchors=notes, key=VERIFIER)
    assert (report.verdict, report.log) == ("proven", before.log)
    assert report.size > before.size


async def test_their_values_can_be_redacted(rotated: Path) -> None:
    """A person may ask for it years later."""
    (commitment,) = {
        record["body"]["text"]["$commitment"]
        for record in read_records(open_log(rotated / "log"))
        if record["type"] == "user_message" and record["seq"] < 20
    }
    log = await asyncio.to_thread(lambda: AuditLog(rotated / "log", FAST, signer=SIGNER))
    await log.redact(commitment, by="ann", reason="asked")
    with pytest.raises(AuditError, match="Nothing is kept"):
        await log.redact(commitment, by="ann", reason="again")
    await log.close()
    assert verify(rotated / "log", key=VERIFIER).verdict == "recovered"
