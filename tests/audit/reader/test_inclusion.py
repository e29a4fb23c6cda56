"""Proofs that a record is in the log that a checkpoint speaks of."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit.errors import AuditError
from amplifier_audit.log_directory import open_log
from amplifier_audit.merkle import compute_inclusion_root, hash_leaf
from amplifier_audit.reader import find_newest_checkpoint, prove_inclusion, read_records
from amplifier_audit.settings import AuditSettings
from tests.audit.support import (
    extend_log,
    make_anchor,
    make_lines,
    write_lines,
    write_log,
)


async def test_a_record_is_proven_to_be_in_the_log(tmp_path: Path) -> None:
    """Each that is there, also after retention has removed the first segments."""
    settings = AuditSettings(segment_bytes=4000, retain_segments=2)
    await write_log(tmp_path / "log", 60, settings)
    log = open_log(tmp_path / "log")
    note = find_newest_checkpoint(log)
    assert note is not None
    records = [r["seq"] for r in read_records(log) if r["seq"] < note.checkpoint.size]
    assert records[0] > 0
    for sequence in records:
        line, proof = prove_inclusion(log, sequence, note)
        root = compute_inclusion_root(sequence, note.checkpoint.size, hash_leaf(line), proof)
        assert root == note.checkpoint.root
    with pytest.raises(AuditError, match="begins at"):
        prove_inclusion(log, 0, note)
    with pytest.raises(AuditError, match="covers records"):
        prove_inclusion(log, 10_000, note)


def test_an_older_checkpoint_proves_what_it_covers(tmp_path: Path) -> None:
    """Lines after it are not read into the proof."""
    lines = make_lines(20)
    log = open_log(write_lines(tmp_path, lines))
    note = make_anchor(lines, 11)
    line, proof = prove_inclusion(log, 7, note)
    assert line == lines[7][:-1]
    assert compute_inclusion_root(7, 11, hash_leaf(line), proof) == note.checkpoint.root


@pytest.mark.parametrize("sequence", [-1, 11, 12])
def test_a_record_that_the_checkpoint_does_not_cover_is_refused(
    tmp_path: Path, sequence: int
) -> None:
    """With the range that it does cover."""
    lines = make_lines(20)
    log = open_log(write_lines(tmp_path, lines))
    with pytest.raises(AuditError, match="covers records 0 to 10"):
        prove_inclusion(log, sequence, make_anchor(lines, 11))


def test_a_log_that_ends_before_the_checkpoint_proves_nothing(tmp_path: Path) -> None:
    """What is missing cannot be added up."""
    lines = make_lines(20)
    log = open_log(write_lines(tmp_path, lines[:9]))
    with pytest.raises(AuditError, match="ends before the 11 records"):
        prove_inclusion(log, 3, make_anchor(lines, 11))


def test_a_segment_that_does_not_say_what_came_before_is_one_sentence(tmp_path: Path) -> None:
    """The first lines of a log were cut off by hand."""
    lines = make_lines(20)
    log = open_log(write_lines(tmp_path, lines[4:]))
    with pytest.raises(AuditError, match="does not say what came before it"):
        prove_inclusion(log, 7, make_anchor(lines, 11))


async def test_the_newest_checkpoint_is_found_across_segments(tmp_path: Path) -> None:
    """Also when the last segment has none yet."""
    await write_log(tmp_path, 40, AuditSettings(segment_bytes=4000))
    log = open_log(tmp_path)
    note = find_newest_checkpoint(log)
    assert note is not None
    assert note.checkpoint.size == max(r["seq"] for r in read_records(log))
    lines = log.paths[-1].read_bytes().splitlines(keepends=True)
    log.paths[-1].write_bytes(lines[0])
    older = find_newest_checkpoint(log)
    assert older is not None
    assert older.checkpoint.size < note.checkpoint.size


def test_what_only_looks_like_a_checkpoint_is_passed_over(tmp_path: Path) -> None:
    """A text in a body, a note that is none, a line that is torn."""
    lines = make_lines(10)
    assert b'"type":"checkpoint"' in lines[1]
    forged = make_anchor(make_lines(9), 9).text
    lines = extend_log(lines, "dispatch", {"type": "checkpoint", "note": forged})
    odd = [lines[1].replace(b"amplifier.audit/", b"\\n"), lines[1][:-5]]
    log = open_log(write_lines(tmp_path, [*lines, *odd]))
    note = find_newest_checkpoint(log)
    assert note is not None
    assert note == make_anchor(lines, 1)


def test_a_log_without_a_checkpoint_has_no_newest_one(tmp_path: Path) -> None:
    """None is not an error: the caller says what it means."""
    assert find_newest_checkpoint(open_log(write_lines(tmp_path, make_lines(1)))) is None
