"""Tried cases for people."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.cli.commands.hooks import tried_text
from amplifier_hooks.cli.commands.hooks.tried_text import (
    TriedCase,
    capture_output,
    list_changes,
    tried_to_dict,
    try_cases,
)
from amplifier_hooks.insight.cases.case import Case, Step
from amplifier_hooks.insight.cases.files import make_samples
from amplifier_hooks.insight.cases.running import CaseRun, find_subject
from tests.hooks.insight.cases.hook_files import GUARD, send, write_hook


def test_everything_that_is_written_is_kept_from_the_terminal(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """By Python and by programs, on both streams, in its order; afterwards all is as before."""
    sys.stdout.write("before\n")
    with capture_output() as printed:
        sys.stdout.write("one\n")
        sys.stderr.write("two ü\n")
        subprocess.run(["echo", "three"], check=True)
    sys.stdout.write("after\n")
    assert printed.text == "one\ntwo ü\nthree\n"
    assert capfd.readouterr() == ("before\nafter\n", "")


def test_what_was_printed_before_a_failure_is_kept() -> None:
    """And the failure goes on."""
    seen = []

    def print_and_fail() -> None:
        with capture_output() as printed:
            seen.append(printed)
            sys.stdout.write("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        print_and_fail()
    assert [one.text for one in seen] == ["half"]


def test_a_tried_case_says_everything_to_machines(tmp_path: Path) -> None:
    """What was sent, answered, changed and printed, and what was not as expected."""
    text = GUARD.replace("    command =", "    print('looking')\n    command =")
    subject = find_subject(str(write_hook(tmp_path, text)), tmp_path)
    cases = [
        Case("changes", (send("ls", "deny"),), line=4),
        Case("fails", (send("fail"),)),
        Case("hangs", (send("rm x", "deny"),)),
    ]
    changed, failed, denied = try_cases(cases, subject, {}, 20.0)
    assert (changed.name, changed.passed, denied.passed) == ("changes", False, True)
    told = json.loads(json.dumps(tried_to_dict(changed)))
    (event,) = told.pop("events")
    assert told == {
        "name": "changes",
        "line": 4,
        "passed": False,
        "problem": None,
        "differences": [{"field": "action", "expected": "deny", "got": "modify"}],
        "printed": "looking\n",
    }
    assert event["sent"]["tool_input"] == {"command": "ls"}
    assert (event["action"], event["hook"], event["failures"]) == ("modify", "guard.guard", [])
    change = {"field": "tool_input.command", "before": '"ls"', "after": '"ls -l"'}
    assert event["changes"] == [change]
    assert [one.field for one in list_changes(changed.run.outcomes[0])] == ["tool_input.command"]
    (failure,) = tried_to_dict(failed)["events"][0]["failures"]
    assert failure == {
        "hook": "guard.guard",
        "error": "LookupError: what a pity",
        "place": "guard.py:17",
    }
    assert tried_to_dict(denied)["events"][0]["reason"] == "deleting is for people"


LONG = "x" * 90


def try_all(folder: Path, *cases: Case, text: str = GUARD) -> list[TriedCase]:
    """Cases about a hook file."""
    subject = find_subject(str(write_hook(folder, text)), folder)
    return list(try_cases(cases, subject, {}, 20.0))


def test_a_case_that_passes_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever its hooks print."""
    text = GUARD.replace("    command =", "    print('looking')\n    command =")
    (tried,) = try_all(tmp_path, Case("denies\x1b rm", (send("rm x", "deny"),)), text=text)
    tried_text.print_tried(tried)
    shown = capsys.readouterr().out
    assert shown.startswith("  ✓ denies\\u{1B} rm  ")
    assert shown.count("\n") == 1


def test_a_case_that_fails_says_what_was_expected_and_what_came(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its line and step, the long texts below one another, and what was printed."""
    text = GUARD.replace("    command =", "    print('a\\tb')\n    command =")
    steps = (send("rm x"), send("rm x", "continue", fields={"reason": LONG}))
    (tried,) = try_all(tmp_path, Case("it", steps, line=7), text=text)
    tried_text.print_tried(tried)
    assert capsys.readouterr().out == (
        "  ✗ it  line 7\n"
        "      in step 2, tool:pre\n"
        "      action: expected continue, got deny\n"
        "      reason:\n"
        f'        expected a text with "{LONG}"\n'
        '        got      "deleting is for people"\n'
        "      │ a    b\n"
        "      │ a    b\n"
    )


def test_a_problem_is_shown_in_place_of_an_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a list of cases and in a table; a flood of lines is cut."""
    run = CaseRun(Case("it", (Step("tool:pre"),)), problem="it hangs")
    tried_text.print_tried(TriedCase(run, "line\n" * 30))
    shown = capsys.readouterr().out
    assert shown.startswith("  ✗ it\n      it hangs\n      │ line\n")
    assert shown.endswith("      │ … 10 more lines were printed\n")
    tried_text.print_tried(TriedCase(run), "it hangs")
    assert capsys.readouterr().out == "  ✗ it\n      for the same reason\n"
    tried_text.print_samples([TriedCase(run)])
    assert "  tool:pre  no answer\n      it hangs\n" in capsys.readouterr().out


def test_answers_to_samples_are_a_table_by_event(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what hooks say and change; failures and advice stand below."""
    text = GUARD + "\nasync def on_session_end(event, data): data['x'] = 1\n"
    commands = ("rm x", "deploy", "ls", "fail", "pwd")
    cases = [Case(one, (Step("tool:pre", send(one).data),)) for one in commands]
    cases += make_samples(["session:end"])
    tried_text.print_samples(try_all(tmp_path, *cases, text=text), ["deploy:done"])
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:2] == ["", "tool:pre"]
    assert lines[2].startswith("rm x deny ")
    assert lines[3:5] == ["reason: deleting is for people", "says: no rm"]
    assert lines[6] == "asks: Run deploy?"
    assert lines[8] == 'tool_input.command: "ls" → "ls -l"'
    assert lines[10] == "guard.guard failed: LookupError: what a pity (guard.py:16)"
    assert lines[11].startswith("pwd continue ")
    assert lines[12:14] == ["", "one sample each"]
    assert lines[14].startswith("session:end continue ")
    assert lines[15].startswith("! guard.on_session_end ")
    assert lines[17].startswith("! No samples of deploy:done: only your code knows the fields.")


def test_a_reason_is_shown_although_another_hook_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only that of the failure itself would say the same twice."""
    text = GUARD + "\nasync def on_tool_pre(event, data): raise LookupError\n"
    text = text.replace('@hook("tool:pre", ', '@hook("tool:pre", priority=9, ')
    cases = [Case(one, (Step("tool:pre", send(one).data),)) for one in ("rm x", "fail")]
    tried_text.print_samples(try_all(tmp_path, *cases, text=text))
    shown = capsys.readouterr().out
    assert shown.count("guard.on_tool_pre failed: LookupError") == 2
    assert shown.count("reason: ") == 1


def test_the_hook_that_decides_is_named_among_several(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a bundle, nobody would know otherwise."""
    text = GUARD + "\nasync def on_tool_pre(event, data): ...\n"
    case = Case("it", (Step("tool:pre", send("rm x").data),))
    tried_text.print_samples(try_all(tmp_path, case, text=text))
    assert "\n      by: guard.guard\n      reason: deleting" in capsys.readouterr().out


def test_the_last_line_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """What there is of both kinds."""
    tried_text.print_sums(2, 0)
    tried_text.print_sums(1, 3, "2 files: ")
    assert capsys.readouterr().out == "\n2 passed\n\n2 files: 1 passed, 3 failed\n"
