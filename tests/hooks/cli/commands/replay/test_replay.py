"""amplifier replay: a recorded session runs again."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.insight.replay import Job, Replay
from amplifier_hooks.insight.replay.job import do_job
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke
from tests.support.trust import trust_project

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
