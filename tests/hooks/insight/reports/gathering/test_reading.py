"""Reading trails from disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amplifier_hooks.insight.reports.figures.period import Period
from amplifier_hooks.insight.reports.gathering.reading import (
    Wanted,
    find_owner,
    measure_trail,
    read_report,
    read_session,
)
from tests.hooks.insight.reports.stories import write_trail


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def test_a_trail_is_read_and_verified(tmp_path: Path) -> None:
    """In one report, with what it proves."""
    path = write_trail(tmp_path, folder="/home/ann", denials=2)
    done: list[int] = []
    report = read_report(Wanted([path]), progress=done.append)
    (session,) = report.chapters
    assert (session.denied, session.ending, session.proof.verdict) == (2, "complete", "consistent")
    assert session.header.folder == "/home/ann"
    assert all(0 <= one <= measure_trail(path) for one in done)


def test_a_trail_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The others are told all the same."""
    good, bad = write_trail(tmp_path), tmp_path / "bad"
    bad.write_text("this is no log\n")
    report = read_report(Wanted([bad, good, tmp_path / "none"]))
    assert report.totals.sessions == 1
    assert [Path(path).name for path, _ in report.unreadable] == ["bad", "none"]


def test_sessions_outside_of_the_period_are_left_out(tmp_path: Path) -> None:
    """Old trails are not even read: their files say when they were written."""
    path = write_trail(tmp_path)
    later = read_report(Wanted([path], Period(since="9999")))
    earlier = read_report(Wanted([path], Period(until="1999")))
    assert (
        (later.empty, later.totals.sessions) == (earlier.empty, earlier.totals.sessions) == (1, 0)
    )
    os.utime(path / "state", (0, 0))
    assert read_report(Wanted([path], Period(since="2000"))).empty == 1


def test_only_what_was_verified_is_told(tmp_path: Path) -> None:
    """Lines that somebody appended behind the end are no part of the story."""
    path = write_trail(tmp_path, denials=2)
    segment = path / "00000000.jsonl"
    lines = segment.read_bytes().splitlines(keepends=True)
    denial = next(line for line in lines if b"rm 1" in line)
    segment.write_bytes(b"".join([*lines, denial.replace(b"rm 1", b"rm 9")]))
    session = read_session(path, Wanted([path]))
    assert session.proof.verdict == "recovered"
    assert (session.denied, session.gaps.unverified) == (2, 1)


def test_everything_of_a_changed_trail_is_told(tmp_path: Path) -> None:
    """Its readers are warned, and want to see what there is."""
    path = write_trail(tmp_path, denials=2)
    segment = path / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b"rm 0", b"rm 5"))
    session = read_session(path, Wanted([path]))
    assert (session.proof.verdict, session.denied) == ("tampered", 2)


def test_a_folder_of_trails_says_whose_each_must_be(tmp_path: Path) -> None:
    """Elsewhere, nobody knows."""
    path = write_trail(tmp_path)
    assert find_owner(path, [tmp_path.resolve()]) == path.name
    assert find_owner(path, []) is None
    assert read_session(path, Wanted([path]), "another").proof.verdict == "tampered"
