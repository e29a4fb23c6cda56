"""amplifier replay: a recorded session runs again."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.cli.commands.replay import print_json, print_replay
from amplifier_hooks.insight.changes import Change
from amplifier_hooks.insight.replay import Difference, Job, Replay
from amplifier_hooks.insight.replay.comparison import Totals
from amplifier_hooks.insight.replay.job import do_job
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke
from tests.support.trust import trust_project

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


HOOK = """from amplifier_core.models import HookResult

async def on_tool_pre(event, data):
    if data["tool_name"] == "{tool}":
        return HookResult(action="deny", reason="not this one")
"""
READS = {
    "text": "I look",
    "tool_calls": [{"name": "Read", "input": {"file_path": "amplifier.yaml"}}],
}


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Replay in this process: starting another one takes a second, and is tested elsewhere."""

    async def launch(job: Job) -> Replay:
        told = await asyncio.to_thread(do_job, replace(job, scratch=str(tmp_path)))
        return Replay.from_dict(json.loads(json.dumps(told["found"])))

    monkeypatch.setattr("amplifier_hooks.insight.replay.launch_replay", launch)


@pytest.fixture
def recorded(project: Project, home: Path) -> Path:
    """A session of this folder; returns the file of its hook."""
    hook = home / "own.py"
    hook.write_text(HOOK.format(tool="Write"))
    project(READS, {"text": "done"}, hooks=[{"module": "./own.py"}])
    assert invoke("run", "look").code == 0
    return hook


def test_the_latest_session_of_a_folder_is_replayed_to_its_end_or_its_difference(
    recorded: Path, home: Path
) -> None:
    """Exit code 0 and one line, or 1 and both ways; the same for programs."""
    same = invoke("replay")
    assert same.code == 0
    assert "identical: " in same.stdout
    assert "1 call, 0 questions" in same.stdout
    recorded.write_text(HOOK.format(tool="Read"))
    trust_project(home)
    other = invoke("replay")
    assert other.code == 1
    assert "tool:pre of Read (record " in other.stdout
    words = other.stdout.split()
    assert [words[words.index("decision") + step] for step in (1, 2)] == ["continue", "deny"]
    as_json = invoke("replay", "--json", "--all")
    found = json.loads(as_json.stdout)
    assert (found["version"], found["status"]) == (1, "differs")
    assert found["differences"][0]["what"] == "tool:pre of Read"
    assert as_json.code == 1


@pytest.mark.parametrize("options", [(), ("--json", "--all")])
def test_two_replays_print_the_same(recorded: Path, home: Path, options: tuple[str, ...]) -> None:
    """To the byte, as the page says, also where something differs."""
    recorded.write_text(HOOK.format(tool="Read"))
    trust_project(home)
    first = invoke("replay", *options)
    assert first.code == 1
    assert invoke("replay", *options) == first


def test_hooks_that_nobody_trusts_are_not_run(recorded: Path) -> None:
    """A changed file needs a person's yes first."""
    recorded.write_text("raise SystemExit('was run')\n")
    refused = invoke("replay")
    assert refused.code == 3
    assert "amplifier trust" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "No session was recorded in this folder"),
        (("nope",), "No trail 'nope'"),
        (("--bundle", "nope.yaml"), "nope.yaml"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence(
    home: Path, arguments: tuple[str, ...], why: str
) -> None:
    """With exit code 2."""
    refused = invoke("replay", *arguments)
    assert refused.code == 2
    assert why in refused.stderr


def test_a_trail_without_events_says_what_it_lacks(project: Project, home: Path) -> None:
    """With exit code 2: nothing was compared."""
    project({"text": "hi"}, audit={"level": "decisions"})
    assert invoke("run", "hello").code == 0
    refused = invoke("replay")
    assert refused.code == 2
    assert "audit.level: normal" in refused.stderr


def test_a_trail_that_cannot_be_read_is_told_from_a_finding(tmp_path: Path) -> None:
    """Exit code 1 would mean that something was found."""
    folder = tmp_path / "trail"
    folder.mkdir()
    (folder / "00000000.jsonl").touch()
    ran = invoke("replay", str(folder))
    assert ran.code == 2
    assert "there are no records" in ran.stderr
