"""amplifier audit show and tail."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from amplifier_audit import AuditLog
from tests.apps.cli.program import PROGRAM, Outcome, invoke
from tests.audit.support import FAST


def show(*arguments: object) -> Outcome:
    return invoke("audit", "show", *arguments)


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ((), 15),
        (("--session", "s2"), 2),
        (("--hook", "guard"), 11),
        (("--hook", "linter"), 10),
        (("--event", "tool:pre"), 10),
        (("--action", "deny"), 2),
        (("--action", "ask_user"), 10),
        (("--type", "checkpoint"), 2),
        (("--after", "2999"), 0),
        (("--before", "2999"), 15),
        (("--session", "s1", "--limit", "3"), 3),
    ],
)
def test_records_are_selected(log: Path, options: tuple[str, ...], count: int) -> None:
    """By session, hook, event, action, type and time; as JSON, or below a head."""
    lines = show(log, "--json", *options).stdout.splitlines()
    assert len(lines) == count
    assert len(show(log, *options).stdout.splitlines()) == count + 1


def test_the_columns_of_the_table_stand_below_one_another(log: Path) -> None:
    """From the first record on, without having read the last."""
    head, *rows = show(log).stdout.splitlines()
    assert head.split() == ["seq", "time", "type", "session", "event", "hook", "what"]
    start = head.index("type")
    assert [row[start:].split()[0] for row in rows[:3]] == ["log_opened", "checkpoint", "dispatch"]


def test_a_denial_names_the_hook_and_the_reason(log: Path) -> None:
    """Who decided what, and why, before anything else."""
    (_, line, _) = show(log, "--action", "deny").stdout.splitlines()
    assert "action=deny reason=why\\u001b[2J guard:deny linter:inject_context" in line


async def test_a_long_body_is_cut_to_a_line(tmp_path: Path) -> None:
    """All of it is in the JSON."""
    trail = await AuditLog.open(tmp_path / "log", FAST)
    await trail.commit(trail.append("mine", {"text": "x" * 500}))
    await trail.close()
    (_, line) = show(tmp_path / "log", "--type", "mine").stdout.splitlines()
    assert line.endswith("xxx...")
    assert line.count("x") < 160
    (record,) = show(tmp_path / "log", "--type", "mine", "--json").stdout.splitlines()
    assert json.loads(record)["body"]["text"] == "x" * 500


@pytest.mark.parametrize("as_json", [False, True])
async def test_tail_follows_a_log_that_is_being_written(tmp_path: Path, as_json: bool) -> None:
    """Each record as it comes, on a line of its own."""
    trail = await AuditLog.open(tmp_path / "log", FAST)
    command = [*PROGRAM, "audit", "tail", str(tmp_path / "log"), "--type", "mine"]
    follower = subprocess.Popen(
        [*command, *["--json"] * as_json], text=True, stdout=subprocess.PIPE
    )
    assert follower.stdout is not None
    reading = asyncio.create_task(asyncio.to_thread(follower.stdout.readline))
    while not reading.done():
        await trail.commit(trail.append("mine", {"action": "deny", "reason": "because"}))
        await asyncio.wait([reading], timeout=0.05)
    follower.kill()
    follower.wait()
    follower.stdout.close()
    await trail.close()
    line = await reading
    if as_json:
        assert json.loads(line)["body"] == {"action": "deny", "reason": "because"}
    else:
        assert line.endswith("mine  action=deny reason=because\n")
