"""What stands in a record, as text that may be shown."""

from __future__ import annotations

from collections.abc import Callable
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
    ("read", "value", "text"),
    [
        # Texts that were cut, kept apart or redacted say so.
        (read_text, "plain", "plain"),
        (read_text, None, ""),
        (read_text, 7, "7"),
        (read_text, {"a": 1}, '{"a": 1}'),
        (read_text, {"$commitment": "x", "length": 3}, KEPT_APART),
        (read_text, {"$commitment": "x", "redacted": True}, "(redacted)"),
        (read_text, {"$cut": "text", "length": 9000, "head": "abc"}, "abc…"),
        # A result is what the tool said, whatever form the agent gave to it.
        (read_result, "plain", "plain"),
        (read_result, {"stdout": "out", "stderr": "", "interrupted": False}, "out"),
        (read_result, {"stdout": "out", "stderr": "err"}, "out\nerr"),
        (read_result, {"stdout": {"$cut": 9, "head": "begin"}, "stderr": ""}, "begin…"),
        (read_result, {"type": "text", "file": {"filePath": "a", "content": "lines"}}, "lines"),
        (read_result, {"filePath": "a.py", "oldString": "x"}, "a.py"),
        (
            read_result,
            {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            "one\ntwo",
        ),
        (read_result, [{"type": "text", "text": "one"}], "one"),
        (read_result, {"resultType": "success", "textResultForLlm": "said"}, "said"),
        (read_result, {"other": 1}, '{"other": 1}'),
        (read_result, [1, 2], "[1, 2]"),
        (read_result, None, ""),
        # Of several lines the first one is shown; nothing in it steers a terminal.
        (read_line, "one\x1b[2J\ntwo\nthree\n", "one\\u{1B}[2J … 2 more lines"),
        (read_line, "one\ntwo", "one … 1 more line"),
    ],
)
def test_a_value_is_read_whatever_stands_for_it(
    read: Callable[[Any], str], value: Any, text: str
) -> None:
    """A form that is not known is shown as it is."""
    assert read(value) == text


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
