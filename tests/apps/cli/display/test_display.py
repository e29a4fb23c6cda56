"""What is seen of a run: live, in plain lines, and as JSON."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_apps.cli.display.display import make_display, mode_for
from amplifier_apps.cli.display.json_display import JsonDisplay
from amplifier_apps.cli.display.line_display import LineDisplay
from amplifier_apps.cli.display.narration import message_lines, narrate, readable
from amplifier_apps.cli.display.run_state import RunState, duration
from amplifier_apps.cli.text.fragments import plain
from amplifier_core import events
from amplifier_core.display import DisplaySystem
from tests.apps.cli.pty_program import ROOT, in_pty
from tests.apps.cli.text.test_escape import harmless, hostile


def lines_of(event: str, **data: Any) -> list[str]:
    return [plain(line) for line in narrate(event, data)]


@pytest.mark.parametrize(
    ("columns", "key", "outcome"), [(80, "a", "✓ allowed by"), (200, "d", "✗ refused by")]
)
def test_a_question_beside_the_live_display(columns: int, key: str, outcome: str) -> None:
    """It stops the live display and restarts it; no torn lines."""
    with in_pty("tests.apps.cli.display.telling", columns=columns, rows=40) as program:
        program.wait_for_question("Deploy now?")
        assert "thinking ·" not in program.text()
        program.press(key)
        assert program.wait_end() == 0
        lines = [line for line in program.lines() if line]
    assert lines[0] == "First I look around."
    assert lines[1] == "Then I work on it,"
    assert lines[2] == "! command-guard: looked at git status\\u{1B}[2K"
    assert lines[3] == "● Bash  git status  2 lines · 1.2 s"
    assert lines[4] == "✗ Bash  rm -rf /"
    assert lines[5] == "  denied by command-guard: this would delete everything below /"
    assert lines[6].startswith(outcome)
    assert lines[-2] == "All done: the tests are green\\u{202E} and nothing else changed."
    assert lines[-1].endswith("2,468 tokens · $0.0246")


def test_no_color_means_no_colour() -> None:
    """Honours NO_COLOR, in the display and in the question; bold and reverse remain."""
    with in_pty("tests.apps.cli.display.telling", rows=40, env={"NO_COLOR": "1"}) as program:
        program.wait_for_question("Deploy now?")
        program.press("d")
        program.wait_end()
    codes = set(b";".join(re.findall(rb"\x1b\[([0-9;]*)m", program.raw)).split(b";"))
    assert codes <= {b"", b"0", b"1", b"3", b"7"}


def test_a_pipe_gets_the_answer_alone_and_the_rest_on_standard_error() -> None:
    """Plain line mode for pipes."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.apps.cli.display.telling"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        start_new_session=True,
        check=True,
    )
    answer = [line.strip() for line in done.stdout.splitlines()]
    assert answer == [
        "First I look around.",
        "Then I work on it,",
        "All done: the tests are green\\u{202E} and nothing else changed.",
    ]
    assert "✗ refused · the question could not be asked" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_json_mode_is_one_object_a_line() -> None:
    """JSON lines mode: every event, every message, and the result last."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.apps.cli.display.telling", "json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        start_new_session=True,
        check=True,
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert said[-1]["type"] == "result"
    assert said[-1]["tokens"] == 2468
    assert {one["event"] for one in said if one["type"] == "event"} >= {"tool:pre", "tool:post"}
    assert done.stdout.isascii()


@given(hostile, hostile)
def test_messages_and_calls_are_harmless(text: str, name: str) -> None:
    """T17: what a hook, a tool or a model says moves nothing."""
    shown = [
        *message_lines(text, "warning", name),
        *narrate(
            events.TOOL_POST,
            {
                "tool_name": name,
                "tool_input": {"command": text},
                "tool_result": {"output": text},
                "success": True,
            },
            verbose=True,
        ),
        *narrate(events.TOOL_ERROR, {"tool_name": name, "error": {"message": text}}),
        *narrate(events.POLICY_VIOLATION, {"event": text, "hook": name, "reason": text}),
        *narrate(events.APPROVAL_DENIED, {"hook": name, "prompt": text, "by": text, "how": text}),
        *narrate(events.AGENT_SPAWN, {"agent_name": name, "task": text}),
    ]
    assert all(harmless(plain(line)) for line in shown)
    assert harmless(readable(text), lines=True)


@given(st.sampled_from(events.ALL_EVENTS), st.dictionaries(st.text(max_size=8), st.none()))
def test_an_event_without_its_fields_is_told_without_failing(event: str, data: dict) -> None:
    """A display never fails on what a module emits."""
    out = io.StringIO()
    LineDisplay(out, out).event(event, data)
    JsonDisplay(out).event(event, data)


def test_calls_are_folded_into_one_line() -> None:
    """Tool calls and results folded."""
    (line,) = lines_of(
        events.TOOL_POST,
        tool_name="Read",
        tool_input={"file_path": "a.py"},
        tool_result={"output": "x\n" * 300},
        success=True,
        duration_ms=20,
    )
    assert line == "● Read  a.py  300 lines · 0.0 s"


def test_nothing_is_said_twice_or_left_as_a_gap() -> None:
    """A call that is about nothing in particular; an error that names its provider itself."""
    (line,) = lines_of(events.TOOL_POST, tool_name="Todo", tool_input={"todos": []}, success=True)
    assert line == "● Todo  0.0 s"
    (line,) = lines_of(events.PROVIDER_ERROR, provider="mine", error={"message": "mine (m): down"})
    assert line == "✗ mine (m): down"
    (line,) = lines_of(events.PROVIDER_ERROR, provider="mine", error={"message": "down"})
    assert line == "✗ mine: down"


def test_a_failed_call_says_why() -> None:
    """The first line of the error."""
    lines = lines_of(
        events.TOOL_POST,
        tool_name="Read",
        tool_input={"file_path": "a.py"},
        tool_result={"error": "No such file: a.py\nmore"},
        success=False,
    )
    assert lines == ["✗ Read  a.py  0.0 s", "  No such file: a.py"]


def test_messages_stand_out_by_severity() -> None:
    """Hook messages by severity."""
    signs = [
        plain(message_lines("m", level, "hook:h")[0]) for level in ("info", "warning", "error")
    ]
    assert signs == ["· h: m", "! h: m", "✗ h: m"]


def test_words_of_sub_agents_are_not_mixed_into_the_answer() -> None:
    """A child's text stays with the child; its calls are told."""
    out, notes = io.StringIO(), io.StringIO()
    display = LineDisplay(out, notes)
    display.event(events.SESSION_START, {"session_id": "parent"})
    display.event(events.CONTENT_BLOCK_DELTA, {"session_id": "child", "delta": "inner"})
    display.event(events.TOOL_POST, {"session_id": "child", "tool_name": "Read", "success": True})
    display.event(events.CONTENT_BLOCK_DELTA, {"session_id": "parent", "delta": "outer"})
    display.stop()
    assert out.getvalue() == "outer\n"
    assert "● Read" in notes.getvalue()


def test_a_reply_that_was_not_streamed_is_shown_once() -> None:
    """loop-basic sends no deltas; its replies are shown all the same."""
    out = io.StringIO()
    display = LineDisplay(out, io.StringIO())
    block = {"type": "text", "text": "whole reply"}
    for deltas in ([], ["streamed"]):
        display.event(events.PROVIDER_REQUEST, {})
        for delta in deltas:
            display.event(events.CONTENT_BLOCK_DELTA, {"delta": delta})
        display.event(events.PROVIDER_RESPONSE, {"response": {"content": [block]}})
        display.stop()
    assert out.getvalue() == "whole reply\nstreamed\n"


def test_the_state_counts_tokens_cost_and_time() -> None:
    """Live progress with elapsed time, tokens and cost."""
    times = iter([0.0, 75.0])
    state = RunState(clock=lambda: next(times))
    state.take(events.PROVIDER_RESPONSE, {"usage": {"input_tokens": 3, "output_tokens": 4}})
    state.take(events.PROVIDER_RESPONSE, {"usage": {"total_tokens": 1000, "cost": 1.5}})
    assert state.summary() == "1 min 15 s · 1,007 tokens · $1.50"
    assert duration(59.9) == "59 s"


def test_modes() -> None:
    """JSON when asked for, live only on a terminal."""
    assert mode_for(as_json=True) == "json"
    assert mode_for(as_json=False, stream=io.StringIO()) == "plain"
    assert isinstance(make_display("plain"), DisplaySystem)
