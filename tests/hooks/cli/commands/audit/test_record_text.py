"""What stands in a record, as text that may be shown."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest

from amplifier_hooks.cli.commands.audit.story_lines import (
    KEPT_APART,
    read_line,
    read_result,
    read_text,
    read_time,
    summarize_record,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        (7, "7"),
        ({"a": 1}, '{"a": 1}'),
        ({"$commitment": "x", "length": 3}, KEPT_APART),
        ({"$commitment": "x", "redacted": True}, "(redacted)"),
        ({"$cut": "text", "length": 9000, "head": "abc"}, "abc…"),
    ],
)
def test_a_value_is_read_whatever_stands_for_it(value: Any, text: str) -> None:
    """Texts that were cut, kept apart or redacted say so."""
    assert read_text(value) == text


def test_a_text_of_several_lines_says_how_many_follow() -> None:
    """The first one is shown; nothing in it steers a terminal."""
    assert read_line("one\x1b[2J\ntwo\nthree\n") == "one\\u{1B}[2J … 2 more lines"
    assert read_line("one\ntwo") == "one … 1 more line"


def test_a_time_is_on_the_readers_clock() -> None:
    """And one that is no time is none."""
    read = read_time({"time": "2026-11-17T03:25:13.018173623Z"})
    assert read is not None
    assert read.astimezone(UTC).isoformat() == "2026-11-17T03:25:13.018173+00:00"
    assert read_time({"time": "yesterday"}) is None


def test_a_record_is_summed_up_by_its_decision() -> None:
    """Else by its body."""
    hooks = [{"hook": "a", "action": "deny"}, {"hook": "b", "action": "continue"}]
    body = {"action": "deny", "reason": "no", "hooks": hooks}
    assert summarize_record({"type": "dispatch", "hook": None, "body": body}) == (
        "action=deny reason=no a:deny"
    )
    assert summarize_record({"type": "mine", "hook": None, "body": {"x": 1}}) == '{"x": 1}'


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain", "plain"),
        ({"stdout": "out", "stderr": "", "interrupted": False}, "out"),
        ({"stdout": "out", "stderr": "err"}, "out\nerr"),
        ({"stdout": {"$cut": 9, "head": "begin"}, "stderr": ""}, "begin…"),
        ({"type": "text", "file": {"filePath": "a", "content": "lines"}}, "lines"),
        ({"filePath": "a.py", "oldString": "x"}, "a.py"),
        (
            {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            "one\ntwo",
        ),
        ([{"type": "text", "text": "one"}], "one"),
        ({"resultType": "success", "textResultForLlm": "said"}, "said"),
        ({"other": 1}, '{"other": 1}'),
        ([1, 2], "[1, 2]"),
        (None, ""),
    ],
)
def test_a_result_is_what_the_tool_said(output: Any, text: str) -> None:
    """Whatever form the agent gave to it; a form that is not known is shown as it is."""
    assert read_result(output) == text
