"""A report in words and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.report import Finding, Report, describe_report, escape_text, report_to_dict
from tests.audit.support import make_anchor, make_lines, verify_lines

CONSISTENT = Report("consistent", "ab", 0, 5, checkpoints=2, last_checkpoint=4)
PROVEN = replace(CONSISTENT, verdict="proven", proven_to=5, name="ann")
FINDING = Finding("gap", 3, "record 3 is missing, the next one is 5", "00000000.jsonl", 1234)


@pytest.mark.parametrize(
    ("report", "line"),
    [
        (PROVEN, "PROVEN: the first 5 records are proven by an anchor"),
        (
            replace(PROVEN, name=None),
            "PROVEN, NOT WHOSE LOG IT IS: the first 5 records are proven by an anchor",
        ),
        (
            replace(PROVEN, proven_to=3, unproven=2),
            "PROVEN: the first 3 records are proven by an anchor; the last 2 are NOT PROVEN",
        ),
        (
            replace(PROVEN, proven_to=3, signed_to=4, unproven=1),
            "PROVEN: the first 3 records are proven by an anchor; the first 4 are signed; "
            "the last 1 are NOT PROVEN",
        ),
        (
            replace(PROVEN, first=2, proven_to=4),
            "PROVEN: records 2 to 3 are proven by an anchor",
        ),
        (
            replace(CONSISTENT, signed_to=3, unproven=2),
            "CONSISTENT, END NOT PROVEN: the records agree with one another; without an anchor, "
            "nothing shows whether some are missing at the end or all of them were replaced; "
            "the first 3 are signed; the last 2 are NOT PROVEN",
        ),
        (
            replace(CONSISTENT, finding=Finding("wrong log", 0, "that of bob")),
            "CONSISTENT, NOT PROVEN: the records agree with one another, but wrong log",
        ),
        (
            CONSISTENT,
            "CONSISTENT, END NOT PROVEN: the records agree with one another; without an anchor, "
            "nothing shows whether some are missing at the end or all of them were replaced",
        ),
        (
            replace(CONSISTENT, verdict="recovered"),
            "RECOVERED: there are traces of a crash, or somebody faked them; nothing is proven",
        ),
        (
            replace(PROVEN, verdict="recovered"),
            "RECOVERED: there are traces of a crash, or somebody faked them; the first 5 records "
            "are proven by an anchor",
        ),
        (
            replace(CONSISTENT, verdict="tampered", finding=FINDING),
            "TAMPERED: this is not what the writer wrote",
        ),
    ],
)
def test_the_first_line_says_exactly_what_is_proven(report: Report, line: str) -> None:
    """Never more than the anchors cover."""
    assert next(describe_report(report)) == line


def test_the_rest_says_what_was_found_and_what_was_read() -> None:
    """Kind, record, file and byte; the log and whose it is; checkpoints; failures; notes."""
    report = replace(
        CONSISTENT,
        verdict="tampered",
        finding=FINDING,
        recoveries=(2, 4),
        notes=("one", "two"),
        name="ann",
        failed="disk\x1b full",
    )
    assert list(describe_report(report))[1:] == [
        "  gap at record 3 (00000000.jsonl, byte 1234): record 3 is missing, the next one is 5",
        "  log ab of ann, records 0 to 4 read",
        "  2 checkpoints, 0 signatures checked, last checkpoint at 4",
        "  recoveries after a crash at records 2, 4",
        "  the writer gave up: disk\\u001b full; later events are not recorded",
        "  note: one",
        "  note: two",
    ]


def test_a_log_of_which_nothing_could_be_read_is_described_as_well() -> None:
    """Without a place, a log or a checkpoint."""
    finding = Finding("edit", 0, "the line is not a record")
    assert list(describe_report(Report("tampered", None, 0, 0, finding=finding)))[1:] == [
        "  edit at record 0: the line is not a record",
        "  log unknown, no records from 0 on read",
        "  0 checkpoints, 0 signatures checked",
    ]


def test_as_json_a_report_has_everything_but_the_head() -> None:
    """Programs get the same as people, and the exit code."""
    lines = make_lines(60)
    report = verify_lines(lines, anchors=[make_anchor(lines, 40)])
    assert json.loads(json.dumps(report_to_dict(report))) == {
        "verdict": "proven",
        "exit_code": 0,
        "log": report.log,
        "first": 0,
        "size": 60,
        "name": None,
        "proven_to": 40,
        "signed_to": None,
        "unproven": 20,
        "finding": None,
        "recoveries": [],
        "checkpoints": 2,
        "signatures_checked": 0,
        "signatures_not_checked": 0,
        "last_checkpoint": 51,
        "failed": None,
        "notes": [],
    }
    assert report_to_dict(report, complete=True)["exit_code"] == 3
    found = report_to_dict(replace(report, verdict="tampered", finding=FINDING))
    assert found["finding"] == {
        "kind": "gap",
        "sequence": 3,
        "segment": "00000000.jsonl",
        "byte": 1234,
        "message": FINDING.message,
    }


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain 'text' with \"quotes\"", "plain 'text' with \"quotes\""),
        ("\x1b[2J\r\n\x7f", "\\u001b[2J\\r\\n\\u007f"),
        ("\u202eé", "\\u202e\\u00e9"),
        ("\ud800", "\\ud800"),
        ({"a": ["\x1b"]}, '{"a": ["\\u001b"]}'),
        (None, "null"),
        (5, "5"),
    ],
)
def test_nothing_in_a_log_can_steer_a_terminal(value: Any, shown: str) -> None:
    """Control characters, directions of writing and half characters are spelled out."""
    assert escape_text(value) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_shown_in_printable_ascii(text: str) -> None:
    """Whatever a hook or a model wrote."""
    assert all(" " <= one <= "~" for one in escape_text(text))


@given(st.text(), st.text(), st.text())
def test_a_description_is_printable_ascii(log: str, message: str, note: str) -> None:
    """Also where a forged log has a say."""
    finding = Finding("edit", 0, message)
    report = Report("tampered", log, 0, 0, finding=finding, notes=(note,))
    assert all(" " <= one <= "~" for line in describe_report(report) for one in line)


def test_signatures_that_no_key_was_given_for_are_named_with_what_would_check_them() -> None:
    """Otherwise "0 signatures checked" reads as if there were none."""
    report = Report("consistent", "log", 0, 5, checkpoints=2, unchecked=2)
    words = "\n".join(describe_report(report))
    assert "2 checkpoints are signed, which was not checked: --key FILE names" in words
    assert "is signed" in "\n".join(describe_report(replace(report, unchecked=1)))
    assert "--key" not in "\n".join(describe_report(replace(report, unchecked=0)))


def test_a_trail_that_only_a_part_of_the_evidence_covers_is_not_called_proven() -> None:
    """What covers it is said all the same."""
    report = Report("consistent", "log", 0, 5, proven_to=4, unproven=1)
    first = next(iter(describe_report(report)))
    assert first.startswith("CONSISTENT, NOT PROVEN: the first 4 records are proven by an anchor")
