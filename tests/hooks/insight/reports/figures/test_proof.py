"""What a trail proves."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.insight.reports import Evidence
from amplifier_hooks.insight.reports.figures.proof import check_trail
from tests.hooks.insight.reports.stories import write_trail


def test_a_whole_trail_is_consistent(tmp_path: Path) -> None:
    """Without a checkpoint kept elsewhere, its end is not proven."""
    proof = check_trail(write_trail(tmp_path), Evidence())
    assert proof.verdict == "consistent"
    assert proof.report is not None
    assert proof.report.head is not None


def test_a_changed_record_is_found_where_it_is(tmp_path: Path) -> None:
    """The verdict names the record."""
    path = write_trail(tmp_path)
    segment = path / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b"rm 0", b"rm 1"))
    proof = check_trail(path, Evidence())
    assert proof.verdict == "tampered"
    assert proof.report is not None
    assert proof.report.finding is not None
    assert proof.report.finding.segment == "00000000.jsonl"


def test_a_trail_of_another_session_is_no_proof(tmp_path: Path) -> None:
    """A folder that carries a session's name must hold its trail."""
    assert check_trail(write_trail(tmp_path), Evidence(), owner="another").verdict == "tampered"


def test_what_cannot_be_verified_says_why(tmp_path: Path) -> None:
    """A report is made all the same."""
    proof = check_trail(write_trail(tmp_path), Evidence(anchors=(str(tmp_path / "none"),)))
    assert proof.verdict == "unreadable"
    assert "none" in proof.problem
