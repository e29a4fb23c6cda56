"""The line that a record is worth by itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from typing import Any

import pytest

from amplifier_core.records import HANDED_OVER_TO
from amplifier_hooks.cli.commands.audit.story_lines import (
    KEPT_APART,
    describe_alone,
    describe_denial,
    format_milliseconds,
    read_line,
    read_result,
    read_text,
    read_time,
    summarize_record,
)
from amplifier_hooks.cli.text.fragments import join_text


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


@pytest.mark.parametrize(
    ("type", "body", "line"),
    [
        ("approval_requested", {"prompt": "Write it?"}, "? mine asks: Write it?"),
        (
            "approval_decided",
            {"allowed": True, "how": "person", "by": "ann", "decision": "Allow once"},
            "✓ allowed by ann · Allow once",
        ),
        (
            "approval_decided",
            {"allowed": False, "by": "ann", "decision": "Deny", "comment": "not now"},
            "✗ refused by ann · Deny · “not now”",
        ),
        (
            "approval_decided",
            {"allowed": True, "how": "person", "by": "rule:edits", "edited": True},
            "✓ allowed by the rule edits · with another input",
        ),
        (
            "approval_decided",
            {"allowed": True, "how": "rule", "by": f"{HANDED_OVER_TO}claude"},
            "→ handed over to claude, which asks its person",
        ),
        (
            "approval_handed_over",
            {"to": "claude"},
            "→ handed over to claude, which asks its person",
        ),
        (
            "approval_outcome",
            {"state": "allowed", "tool": "Bash", "to": "claude", "settles": "not_known"},
            "✓ Bash was allowed where claude asked: it ran",
        ),
        (
            "approval_outcome",
            {"state": "allowed", "tool": "Bash", "to": "claude", "settles": "not_run"},
            "✓ Bash was allowed where claude asked: it ran · not as recorded before",
        ),
        (
            "approval_outcome",
            {"state": "not_run", "tool": "Bash", "to": "claude", "evidence": "next prompt"},
            "✗ Bash did not run after claude was to ask · no result by the next prompt",
        ),
        (
            "approval_outcome",
            {"state": "not_run", "tool": "Bash", "to": "X", "evidence": "it said no"},
            "✗ Bash did not run after X was to ask (it said no)",
        ),
        (
            "denial_contradicted",
            {"tool": "Bash", "input": {"command": "ls"}, "agent": "claude", "shown": "result"},
            "✗ ran although denied by mine · Bash ls · claude shows a result",
        ),
        ("approval_expired", {"how": "timeout"}, "✗ refused · nobody decided in time"),
        ("approval_cancelled", {}, "✗ the question was withdrawn"),
        (
            "approval_cache_hit",
            {"decision": "Allow always"},
            "· mine did not ask again: Allow always was said before",
        ),
        ("user_message", {"text": "look", "level": "warning"}, "! mine: look"),
        ("output_shown", {"text": "printed\n"}, "· mine: printed"),
        ("injection_accepted", {"text": "be careful"}, "+ mine tells the agent: be careful"),
        ("injection_dropped", {"why": "too long"}, "! mine could not tell the agent: too long"),
        (
            "injection_unused",
            {"why": "no request", "fault": True},
            "! the agent was not told what mine said: no request",
        ),
        (
            "injection_unused",
            {"why": "no request", "fault": False},
            "· the agent was not told what mine said: no request",
        ),
        (
            "configuration_changed",
            {"what": "bundle", "mounted": ["a", "b"], "unmounted": ["c"]},
            "· the bundle was reloaded  now used: a, b; removed: c",
        ),
        (
            "configuration_changed",
            {"what": "bundle", "refused": "not trusted"},
            "! a change of the bundle was refused: not trusted",
        ),
        ("error", {"what": "turn", "error": "boom"}, "✗ error (turn): boom"),
        (
            "session_ended",
            {"reason": "error", "stats": {"tool_invocations": 1, "total_tokens": 1200}},
            "· session ended (error) · 1 tool call · 1,200 tokens",
        ),
        (
            "session_suspended",
            {},
            "· session suspended: another process can go on with it",
        ),
        ("digest_mismatch", {}, "✗ what would have run is not what was approved"),
        (
            "guard_alarm",
            {"kind": "changed", "found": ["a: our entry is gone", "b"]},
            "✗ the guard (changed): a: our entry is gone; b",
        ),
        ("redacted", {"by": "ann", "reason": "a key"}, "· ann redacted a value: a key"),
        ("recovered", {}, "! the trail was recovered after a crash"),
        ("of_a_module", {"text": "x"}, '· of_a_module  {"text": "x"}'),
    ],
)
def test_each_type_has_its_words(type: str, body: dict[str, Any], line: str) -> None:
    """As a person would say it."""
    described = describe_alone({"type": type, "hook": "mine", "event": "tool:pre", "body": body})
    assert described is not None
    assert join_text(described) == line


@pytest.mark.parametrize(
    "type", ["checkpoint", "hook_registered", "approval_shown", "interception_recorded"]
)
def test_what_only_an_auditor_wants_is_left_out(type: str) -> None:
    """`--all` has it."""
    assert describe_alone({"type": type, "hook": None, "event": None, "body": {}}) is None


def test_a_denial_of_something_else_than_a_call_says_of_what() -> None:
    """In words where there are any."""
    assert (
        join_text(describe_denial("g", "prompt:submit", "no")) == "✗ denied by g (the prompt): no"
    )
    assert join_text(describe_denial("g", "my:event", "no")) == "✗ denied by g (my:event): no"


def test_a_duration_that_is_none_is_left_out() -> None:
    """Records of others may hold anything."""
    assert format_milliseconds(1500) == "1.5 s"
    assert [format_milliseconds(one) for one in ("x", None, True, -1)] == [""] * 4
