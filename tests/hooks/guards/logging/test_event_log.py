"""hooks-logging: the events of a session, as lines."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.events import ALL_EVENTS
from amplifier_hooks.guards.logging.event_log import build_path
from amplifier_hooks.guards.logging.rotating_file import RotatingFile
from tests.support.harness import Harness
from tests.support.waiting import wait_until


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").split("\n")[:-1]]


async def test_every_event_is_one_json_line_in_the_sessions_file(
    harness: Harness, tmp_path: Path
) -> None:
    """JSON lines of all events, per-session file name pattern."""
    async with harness.mounted("logging"):
        for event in ALL_EVENTS:
            await harness.emit(event, number=1)
    lines = lines_of(tmp_path / ".amplifier" / "logs" / "test-session.jsonl")
    assert [line["event"] for line in lines] == ALL_EVENTS
    assert {line["session_id"] for line in lines} == {"test-session"}
    assert all(line["data"]["number"] == 1 and line["timestamp"] for line in lines)


async def test_lines_arrive_while_the_session_runs(harness: Harness, tmp_path: Path) -> None:
    """Buffered writes, but not until the end."""
    async with harness.mounted("logging", {"path": "log.jsonl", "flush_seconds": 0.01}):
        await harness.emit("tool:pre")
        await wait_until((tmp_path / "log.jsonl").exists)
        await harness.emit("tool:post")
        await wait_until(lambda: len(lines_of(tmp_path / "log.jsonl")) == 2)


async def test_levels_and_patterns_choose_what_is_written(harness: Harness, tmp_path: Path) -> None:
    """Levels and filters by event pattern."""
    config = {
        "path": "{session_id}-{date}-{pid}.jsonl",
        "events": ["tool:*", "content_block:*", "policy:violation", "error:tool"],
        "exclude": ["tool:post"],
        "level": "info",
        "levels": {"tool:pre": "warning"},
    }
    async with harness.mounted("logging", config):
        for event in ("tool:pre", "tool:post", "content_block:delta", "session:end", "tool:error"):
            await harness.emit(event)
    (path,) = tmp_path.glob(f"test-session-*-{os.getpid()}.jsonl")
    assert [(line["event"], line["level"]) for line in lines_of(path)] == [
        ("tool:pre", "warning"),
        ("tool:error", "error"),
    ]


async def test_files_rotate_by_size_and_the_oldest_goes(harness: Harness, tmp_path: Path) -> None:
    """Size-rotated."""
    config = {"path": "log.jsonl", "max_bytes": 2000, "backups": 2, "flush_seconds": 0.01}
    async with harness.mounted("logging", config):
        for number in range(100):
            await harness.emit("tool:pre", number=number)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["log.jsonl", "log.jsonl.1", "log.jsonl.2"]
    assert all((tmp_path / name).stat().st_size <= 2000 for name in names)
    order = [*lines_of(tmp_path / names[2]), *lines_of(tmp_path / names[1])]
    numbers = [line["data"]["number"] for line in [*order, *lines_of(tmp_path / names[0])]]
    assert numbers == list(range(100 - len(numbers), 100))


async def test_the_file_is_for_its_owner_only(harness: Harness, tmp_path: Path) -> None:
    """Events hold prompts and file contents."""
    async with harness.mounted("logging", {"path": "log.jsonl"}):
        await harness.emit("tool:pre")
    assert stat.S_IMODE((tmp_path / "log.jsonl").stat().st_mode) == 0o600


def has_more(things: list[bytes], than: int) -> bool:
    return len(things) > than


async def test_a_disk_that_refuses_harms_nobody_and_is_mentioned_once(
    harness: Harness,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Observers never crash the agent; what was lost is counted when writing works again."""
    tried: list[bytes] = []
    append = RotatingFile.append

    def try_to_append(self: RotatingFile, lines: list[bytes]) -> None:
        try:
            append(self, lines)
        finally:
            tried.extend(lines)

    monkeypatch.setattr(RotatingFile, "append", try_to_append)
    (tmp_path / "taken").write_text("a file where a directory should be")
    config = {"path": "taken/log.jsonl", "flush_seconds": 0.01}
    async with harness.mounted("logging", config):
        for _ in range(5):
            before = len(tried)
            assert (await harness.emit("tool:pre")).action == "continue"
            await wait_until(partial(has_more, tried, before))
        assert caplog.text.count("hooks-logging cannot write") == 1
        (tmp_path / "taken").unlink()
        await harness.emit("tool:post")
    lines = lines_of(tmp_path / "taken" / "log.jsonl")
    assert [line["event"] for line in lines] == ["tool:post", "log:dropped"]
    assert lines[1]["data"]["dropped_lines"] == 5


async def test_too_many_lines_are_dropped_and_counted(harness: Harness, tmp_path: Path) -> None:
    """A disk slower than the agent costs lines, not memory and not time."""
    async with harness.mounted("logging", {"path": "log.jsonl", "max_waiting": 3}):
        for _ in range(10):
            await harness.emit("tool:pre")
    lines = lines_of(tmp_path / "log.jsonl")
    assert len(lines) == 4
    assert lines[-1]["data"] == {"dropped_lines": 7}


async def test_sessions_that_share_a_file_lose_nothing(tmp_path: Path) -> None:
    """Whole lines, from several sessions at once, through rotations."""
    config = {"path": "log.jsonl", "flush_seconds": 0.001, "max_bytes": 5000, "backups": 50}

    async def session(number: int) -> None:
        async with Harness(tmp_path, session_id=f"s{number}").mounted("logging", config) as harness:
            for count in range(30):
                await harness.emit("tool:pre", count=count)
                await asyncio.sleep(0.001)

    await asyncio.gather(*(session(number) for number in range(5)))
    lines = [line for path in tmp_path.iterdir() for line in lines_of(path)]
    assert len(lines) == 150
    assert len({(line["session_id"], line["data"]["count"]) for line in lines}) == 150


@pytest.mark.parametrize("session", ["../../etc/passwd", "a/b", "..", "\0", "x" * 500, ""])
def test_a_sessions_id_cannot_lead_out_of_the_directory(session: str, tmp_path: Path) -> None:
    """The id is data, not a path."""
    import datetime

    path = build_path("{session_id}.jsonl", session, str(tmp_path), datetime.date(2026, 1, 2))
    assert path.parent == tmp_path
    assert len(path.name) < 120


@pytest.mark.parametrize("cyclic", [False, True])
async def test_the_sessions_scrubbers_run_over_the_log(
    harness: Harness, tmp_path: Path, cyclic: bool
) -> None:
    """What redaction keeps out of the trail stays out of the log, in odd data too."""
    harness.coordinator.register_scrubber(lambda text: text.replace("hunter2", "[secret]"))
    given: dict[str, Any] = {"password": "hunter2"}
    if cyclic:
        given["self"] = given
    async with harness.mounted("logging", {"path": "log.jsonl"}):
        await harness.emit("tool:pre", tool_input=given)
    text = (tmp_path / "log.jsonl").read_text()
    assert "hunter2" not in text
    assert "[secret]" in text


async def test_a_thousand_events_a_second_lose_nothing(harness: Harness, tmp_path: Path) -> None:
    """Lines that come while others are being written find a writer, too."""
    config = {"path": "log.jsonl", "flush_seconds": 0.0001}
    async with harness.mounted("logging", config):
        for number in range(1000):
            await harness.emit("tool:pre", number=number)
            if number % 7 == 0:
                await asyncio.sleep(0.0005)
    numbers = [line["data"]["number"] for line in lines_of(tmp_path / "log.jsonl")]
    assert numbers == list(range(1000))


def test_stderr_gets_the_lines_past_what_hooks_print(tmp_path: Path) -> None:
    """To a file or stderr."""
    program = """
import asyncio, contextlib, io, pathlib
from tests.support.harness import Harness
async def main():
    with contextlib.redirect_stderr(io.StringIO()):
        async with Harness(pathlib.Path(".")).mounted("logging", {"path": "stderr"}) as harness:
            await harness.emit("tool:pre", tool_name="Bash")
asyncio.run(main())
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    assert json.loads(ran.stderr)["data"]["tool_name"] == "Bash"
