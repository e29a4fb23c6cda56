"""hooks-logging: levels, lines, files and what happens when the disk is full."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import stat
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import ALL_EVENTS
from amplifier_hooks.guards.logging import RotatingFile, build_path, encode_line, find_level, mount
from tests.support.harness import Harness, finish
from tests.support.waiting import wait_until


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            {"path": "{user}.jsonl"},
            "unknown placeholder user; have date, pid, project, session_id",
        ),
        ({"path": "{"}, "is not a pattern"),
        ({"path": ""}, "must be a file name or 'stderr'"),
        ({"level": "loud"}, "option 'level' cannot be 'loud'"),
        ({"levels": {"tool:*": "loud"}}, "cannot be 'loud'"),
    ],
)
async def test_bad_options_are_explained(
    harness: Harness, config: dict[str, Any], sentence: str
) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError) as caught:
        await mount(harness.coordinator, config)
    assert sentence in str(caught.value)


async def test_the_path_may_be_called_as_modules_of_the_ecosystem_call_it(
    harness: Harness, tmp_path: Path
) -> None:
    """A template with the project and the session; the project is the working directory's name."""
    template = str(tmp_path / "logs" / "{project}" / "{session_id}.jsonl")
    cleanup = await mount(harness.coordinator, {"session_log_template": template})
    await harness.emit("tool:pre", tool_name="Read")
    await finish(cleanup)
    folder = Path(harness.coordinator.get_capability("session.working_dir") or ".").resolve()
    assert (tmp_path / "logs" / folder.name / "test-session.jsonl").is_file()
    assert harness.screen.messages == []


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


@pytest.mark.parametrize(
    ("event", "level"),
    [
        ("provider:error", "error"),
        ("error:provider", "error"),
        ("thinking:delta", "debug"),
        ("policy:violation", "warning"),
        ("tool:pre", "info"),
        ("my:event", "info"),
    ],
)
def test_events_have_sensible_levels(event: str, level: str) -> None:
    """Without configuration, errors are errors and pieces of text are debug."""
    assert find_level(event, {}) == level


class Hostile:
    """Raises whatever is done with it."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__


json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary()
    | st.just(5000).map(lambda digits: 10**digits)
    | st.builds(Hostile),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters()) | st.integers(), inner)
    ),
    max_leaves=20,
)


@given(json_like)
def test_any_data_becomes_one_readable_line(value: Any) -> None:
    """Never raising on odd data."""
    line = encode_line("my:event", "info", "s", {"value": value}, 65_536)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line, parse_int=str)["event"] == "my:event"


def test_cycles_depth_and_bytes_are_written_as_well_as_they_can_be() -> None:
    """Odd data keeps what can be kept."""
    cycle: dict[str, Any] = {"name": "kept", "half": "\ud800"}
    cycle["self"] = [cycle, cycle]
    deep: Any = "bottom"
    for _ in range(3000):
        deep = [deep]
    assert json.loads(encode_line("e", "info", "s", cycle, 65_536))["event"] == "e"
    assert json.loads(encode_line("e", "info", "s", {"deep": deep}, 65_536))["event"] == "e"
    data = json.loads(encode_line("e", "info", "s", {"raw": b"\xff"}, 65_536))["data"]
    assert base64.urlsafe_b64decode(data["raw"]) == b"\xff"


@given(st.text(st.characters(), min_size=1000, max_size=5000), st.integers(500, 5000))
def test_a_line_never_exceeds_its_limit(text: str, limit: int) -> None:
    """A huge event is cut, and says so."""
    line = encode_line("my:event", "info", "s", {"text": text}, limit)
    assert len(line) <= limit + 1
    read = json.loads(line)
    assert ("data" in read) != ("truncated_bytes" in read)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_without_backups_the_file_begins_anew(tmp_path: Path) -> None:
    """`backups: 0` keeps one file."""
    file = RotatingFile(tmp_path / "log", 1000, 0)
    for _ in range(5):
        file.append([b"x" * 599 + b"\n"])
    assert names(tmp_path) == ["log"]
    assert (tmp_path / "log").stat().st_size == 600


def test_the_newest_backup_is_the_first_and_the_oldest_goes(tmp_path: Path) -> None:
    file = RotatingFile(tmp_path / "log", 10, 2)
    for number in range(5):
        file.append([b"line %d\n" % number])
    assert names(tmp_path) == ["log", "log.1", "log.2"]
    assert (tmp_path / "log").read_bytes() == b"line 4\n"
    assert (tmp_path / "log.1").read_bytes() == b"line 3\n"
    assert (tmp_path / "log.2").read_bytes() == b"line 2\n"


def test_a_line_longer_than_the_limit_is_kept_whole(tmp_path: Path) -> None:
    """Half a line is not JSON."""
    RotatingFile(tmp_path / "log", 10, 1).append([b"x" * 50 + b"\n", b"y\n"])
    assert (tmp_path / "log.1").read_bytes() == b"x" * 50 + b"\n"
    assert (tmp_path / "log").read_bytes() == b"y\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.lists(st.lists(st.integers(0, 40), max_size=4), max_size=8))
def test_nothing_is_lost_or_cut_while_backups_last(tmp_path_factory, batches) -> None:
    folder = tmp_path_factory.mktemp("logs")
    file = RotatingFile(folder / "log", 30, 100)
    lines = []
    for batch in batches:
        written = [b"x" * size + b"\n" for size in batch]
        file.append(written)
        lines += written
    found = sorted(folder.iterdir(), key=lambda path: -int(path.suffix[1:] or 0))
    assert b"".join(path.read_bytes() for path in found) == b"".join(lines)
    assert all(len(path.read_bytes()) <= max(30, 41) for path in found)


def test_an_empty_batch_makes_no_file(tmp_path: Path) -> None:
    RotatingFile(tmp_path / "log", 10, 1).append([])
    assert names(tmp_path) == []


def test_file_and_folder_are_for_their_owner(tmp_path: Path) -> None:
    """Events hold prompts and the contents of files."""
    RotatingFile(tmp_path / "logs" / "log", 10, 1).append([b"x\n"])
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "logs" / "log").stat().st_mode) == 0o600


def test_two_sessions_that_share_a_file_lose_no_line(tmp_path: Path) -> None:
    files = [RotatingFile(tmp_path / "log", 200, 1000) for _ in range(4)]

    def write(file: RotatingFile) -> None:
        for _ in range(50):
            file.append([b"0123456789\n"])

    threads = [threading.Thread(target=write, args=(file,)) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == 4 * 50 * 11


def test_a_disk_that_says_no_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file stands where the folder should be")
    with pytest.raises(OSError):
        RotatingFile(tmp_path / "logs" / "log", 10, 1).append([b"x\n"])
