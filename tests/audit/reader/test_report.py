"""What a verification found."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from amplifier_audit.report import (
    EXIT_CODES,
    Finding,
    Kind,
    Mismatch,
    Report,
    Verdict,
    find_exit_code,
)

PAGE = Path(__file__).parents[3] / "docs" / "audit.md"


def test_each_verdict_has_an_exit_code_of_its_own() -> None:
    """Only what is proven ends with 0, and 1 and 2 mean something else."""
    assert set(EXIT_CODES) == set(get_args(Verdict))
    assert EXIT_CODES["proven"] == 0
    assert len(set(EXIT_CODES.values()) | {1, 2}) == len(EXIT_CODES) + 2


def test_the_page_gives_the_exit_code_of_each_verdict() -> None:
    """Whoever writes a script finds them in docs/audit.md."""
    rows = re.findall(r"^\| (\w+)[^|]*\| (\d) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert {verdict: int(code) for verdict, code in rows} == EXIT_CODES


def test_the_page_lists_exactly_the_kinds_of_findings() -> None:
    """Each word that a report may use is explained or named in docs/audit.md."""
    page = PAGE.read_text("utf-8")
    listed = page[page.index("Kinds: ") :]
    assert set(re.findall(r"`([a-z ]+)`", listed[: listed.index(".")])) == set(get_args(Kind))


def test_a_mismatch_carries_its_finding_and_reads_as_its_message() -> None:
    """The place in the file is added by whoever knows it."""
    mismatch = Mismatch("gap", 7, "record 7 is missing")
    assert str(mismatch) == "record 7 is missing"
    assert mismatch.finding == Finding("gap", 7, "record 7 is missing", None, None)


def test_a_report_cannot_be_changed() -> None:
    """A verdict is final."""
    report = Report("consistent", "ab", 0, 5)
    with pytest.raises(AttributeError):
        report.verdict = "proven"  # type: ignore[misc]
    assert (report.proven_to, report.finding, report.notes) == (None, None, ())


def test_records_that_are_not_proven_spoil_the_exit_code_only_if_that_is_asked() -> None:
    """A person reads the verdict; an unattended check has the code alone."""
    proven = Report("proven", "ab", 0, 5, proven_to=3, unproven=2)
    assert (find_exit_code(proven), find_exit_code(proven, complete=True)) == (0, 3)
    assert find_exit_code(replace(proven, unproven=0), complete=True) == 0
    assert find_exit_code(replace(proven, verdict="tampered"), complete=True) == 5
