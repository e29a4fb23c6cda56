"""Places outside the log where its checkpoints go."""

from __future__ import annotations

import logging
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.anchor_files import read_checkpoints
from amplifier_audit.anchors import AnchorRelay, anchor_to_file, anchor_to_stderr
from amplifier_audit.checkpoint import Note, make_note, parse_notes
from amplifier_audit.log import AuditLog
from amplifier_audit.verification import verify
from tests.audit.support import FAST, SIGNER, VERIFIER

NOTES = [make_note("ab", size, bytes(32), SIGNER) for size in (1, 2, 3)]


async def test_anchors_get_every_checkpoint(tmp_path: Path, capsys: Any) -> None:
    """All of them, in order, also when one of the anchors fails each time."""
    seen: list[Note] = []

    def fail(note: Note) -> None:
        raise OSError("no network")

    log = await AuditLog.open(
        tmp_path / "log",
        FAST,
        signer=SIGNER,
        anchors=(anchor_to_file(tmp_path / "anchors"), anchor_to_stderr, fail, seen.append),
    )
    note = await log.checkpoint()
    assert log.newest_checkpoint == note
    await log.close()
    notes = parse_notes((tmp_path / "anchors").read_text())
    assert notes == seen
    assert note in notes
    assert f"\n{note.checkpoint.size}\n" in capsys.readouterr().err
    report = verify(tmp_path / "log", key=VERIFIER, anchors=notes)
    assert (report.verdict, report.proven_to) == ("proven", notes[-1].checkpoint.size)


def test_a_file_of_anchors_only_grows(tmp_path: Path) -> None:
    """For its owner only; several logs, and several runs, may share it."""
    path = tmp_path / "anchors"
    for note in NOTES:
        anchor_to_file(path)(note)
    assert parse_notes(path.read_text()) == NOTES
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written_raises_for_the_relay_to_count(tmp_path: Path) -> None:
    """An anchor does not hide that it failed."""
    with pytest.raises(OSError, match="No such file"):
        anchor_to_file(tmp_path / "no" / "anchors")(NOTES[0])


def test_standard_error_gets_notes_that_can_be_read_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A supervisor's journal is a file of anchors."""
    for note in NOTES:
        anchor_to_stderr(note)
    assert parse_notes(capsys.readouterr().err) == NOTES


def test_a_slow_anchor_holds_up_nobody_and_is_waited_for_at_the_end() -> None:
    """Submitting returns at once; closing waits until all were passed on."""
    release, seen = threading.Event(), list[Note]()

    def slow(note: Note) -> None:
        assert release.wait(20)
        seen.append(note)

    relay = AnchorRelay([slow])
    for note in NOTES:
        relay.submit(note)
    assert seen == []
    release.set()
    relay.close()
    assert seen == NOTES


def test_closing_does_not_wait_for_ever() -> None:
    """An anchor that hangs must not keep the program from ending."""
    release, ended = threading.Event(), threading.Event()

    def hang(note: Note) -> None:
        release.wait(20)
        ended.set()

    relay = AnchorRelay([hang])
    relay.submit(NOTES[0])
    relay.close(timeout=0.01)
    assert not ended.is_set()
    release.set()
    assert ended.wait(20)


def test_an_anchor_that_fails_is_logged_and_counted_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Whatever it raises."""
    seen: list[Note] = []

    def fail(note: Note) -> None:
        raise ValueError("no")

    relay = AnchorRelay([fail, seen.append])
    with caplog.at_level(logging.ERROR):
        for note in NOTES:
            relay.submit(note)
        relay.close()
    assert (relay.failures, seen) == (3, NOTES)
    assert "did not take the checkpoint at 3" in caplog.text


def test_without_anchors_there_is_no_thread() -> None:
    """Most logs have none."""
    before = set(threading.enumerate())
    relay = AnchorRelay([])
    relay.submit(NOTES[0])
    assert set(threading.enumerate()) <= before
    relay.close()


@pytest.mark.parametrize("signer", [SIGNER, None])
def test_a_checkpoint_that_a_crash_tore_hides_no_other(tmp_path: Path, signer: Any) -> None:
    """The next one begins on a line of its own; half of one is never taken for one."""
    path = tmp_path / "anchors"
    notes = [make_note("ab", size, bytes(32), signer, "ann-the-first") for size in (10, 20, 30)]
    torn = notes[1].text.encode()
    for kept in range(len(torn) + 1):
        path.unlink(missing_ok=True)
        anchor_to_file(path)(notes[0])
        with path.open("ab") as file:
            file.write(b"\n" + torn[:kept])
        found = read_checkpoints(path)
        anchor_to_file(path)(notes[2])
        # Without its name a checkpoint says less, and nothing false.
        plain = make_note("ab", 20, bytes(32))
        assert all(note in (*notes, plain) for note in found)
        found = read_checkpoints(path)
        assert (found[0], found[-1]) == (notes[0], notes[2])
        assert all(note in (*notes, plain) for note in found)
