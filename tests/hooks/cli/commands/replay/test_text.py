"""A replay as text."""

from __future__ import annotations

import json

import pytest

from amplifier_hooks.cli.commands.replay import print_json, print_replay
from amplifier_hooks.insight.changes import Change
from amplifier_hooks.insight.replay import Difference, Replay
from amplifier_hooks.insight.replay.comparison import Totals

FOUND = Replay(
    "abc",
    (
        Difference(
            "changed",
            "tool:pre of Bash",
            "abc",
            7,
            turn=2,
            changes=(
                Change("decision", "continue", "deny"),
                Change("left x", {"a": "\x1b[2K"}, None),
            ),
            doubts=("tool_input.command is masked",),
            about={"command": "rm -rf build"},
        ),
        Difference("only now", "session:end", "abc", None, expected="the end of the recording"),
        Difference("only then", "a call of Bash", "abc", 9),
    ),
    Totals(events=3, calls=1, questions=2, doubts={5: "tool:post: x is masked"}),
    broken_off=True,
    not_run={"hooks-notify": "it sends messages to others"},
    walled=False,
)


@pytest.mark.parametrize("columns", ["40", "100"])
def test_both_ways_are_shown_at_any_width(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what it is about, what cannot be told, and what was left out."""
    monkeypatch.setenv("COLUMNS", columns)
    print_replay(FOUND)
    shown = capsys.readouterr().out
    text = " ".join(shown.split())
    for words in (
        "differs after 3 events, 1 call, 2 questions",
        "tool:pre of Bash (record 7, turn 2)",
        "rm -rf build",
        "cannot be told for certain: tool_input.command is masked",
        "What came then was: the end of the recording.",
        "This happened then and does not happen now.",
        "The recording breaks off",
        "record 5, tool:post: x is masked",
        "hooks-notify did not run, because it sends messages to others",
        "This machine has no sandbox",
        "What follows the first difference may differ because of it.",
    ):
        assert words in text
    assert ("then now" in text) is (columns == "100")
    assert "\x1b" not in shown


def test_a_session_that_is_the_same_takes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """With what was compared."""
    print_replay(Replay("abc", (), Totals(events=1)))
    assert capsys.readouterr().out == "✓ identical: 1 event, 0 calls, 0 questions\n"


def test_only_some_of_many_doubts_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """And how many more there are."""
    print_replay(Replay("abc", (), Totals(doubts=dict.fromkeys(range(8), "x"))))
    shown = capsys.readouterr().out
    assert shown.count("not compared fully") == 5
    assert "and 3 more records; --json" in shown


def test_programs_get_everything(capsys: pytest.CaptureFixture[str]) -> None:
    """In a form with a version."""
    print_json(FOUND)
    found = json.loads(capsys.readouterr().out)
    assert (found["version"], found["session"], found["status"]) == (1, "abc", "differs")
    assert found["differences"][0]["changes"][0] == {
        "field": "decision",
        "then": "continue",
        "now": "deny",
    }
    assert found["sandboxed"] is False
