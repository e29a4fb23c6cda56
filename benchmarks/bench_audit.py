"""The audit trail against the least that it could do.

record     against os.write of the same line, ready-made; CPU time, which a busy machine stretches
           least: of the caller alone, and of both threads until the record is on disk; beside
           them the JSON, line and three hashes alone, which the format needs however it is written
append     against: encode with the same encoder, one SHA-256, os.write
commit     a hundred who wait at once, against one after the other, on the real disk
verify     against: read lines, json.loads, one SHA-256
emit       of five hooks: what the trail adds, in appends
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from amplifier_audit import AuditLog, AuditSettings, verify
from amplifier_audit.encoding import encode_body, encode_source
from amplifier_audit.record import Chain
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.models import HookResult
from benchmarks.harness import Body, Row, compare, loop_of, report

GROUP = 500
WAITERS = 100
RECORDS = 3000
DATA: dict[str, Any] = {
    "tool_name": "Bash",
    "tool_input": {"command": "git status --short"},
    "tool_call_id": "call-1",
}
BODY: dict[str, Any] = {
    "action": "continue",
    "hooks": [{"hook": f"guard-{n}", "id": n, "action": "continue", "ms": 0.021} for n in range(5)],
    "data": DATA,
}
BARE: dict[str, Any] = {**BODY, "hooks": []}
SETTINGS = AuditSettings(checkpoint_seconds=3600, segment_bytes=1 << 40)


def bare_append(path: Path) -> Body:
    """Encode, hash, write: a log without any promise."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def body(times: int) -> None:
        for _ in range(times * GROUP):
            source = encode_source("dispatch", "session-1", 3, "tool:pre", None, None)
            line = source + encode_body(BODY)
            hashlib.sha256(line).hexdigest()
            os.write(file, line)

    return body


def real_append(log: AuditLog) -> Body:
    """The same records into the trail, and then the sync of the group."""

    async def body(times: int) -> None:
        for _ in range(times * GROUP):
            log.append("dispatch", BODY, session="session-1", turn=3, event="tool:pre")
        await log.commit()

    return body


def append_turn(log: AuditLog, body: dict[str, Any], turn: int) -> None:
    """A group of records; each turn is a new source."""
    for _ in range(GROUP):
        log.append("dispatch", body, session="session-1", turn=turn, event="tool:pre")


async def time_records(
    log: AuditLog, path: Path, body: dict[str, Any], rounds: int
) -> tuple[float, float, float, float]:
    """The best of each: writes and appends of the calling thread, writes and appends in all."""
    await log.commit(log.append("dispatch", body, session="session-1", turn=3, event="tool:pre"))
    line = (log.directory.path / "00000000.jsonl").read_bytes().splitlines(keepends=True)[-1]
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    best = [float("inf")] * 4
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            own, all_of_it = time.thread_time(), time.process_time()
            for _ in range(GROUP):
                os.write(file, line)
            written, written_in_all = time.thread_time() - own, time.process_time() - all_of_it
            own, all_of_it = time.thread_time(), time.process_time()
            append_turn(log, body, turn)
            queued = time.thread_time() - own
            await log.commit()
            spent = (written, queued, written_in_all, time.process_time() - all_of_it)
            best = [*map(min, best, spent)]
    finally:
        gc.enable()
        os.close(file)
    write, append, write_used, append_used = (seconds / GROUP * 1e6 for seconds in best)
    return write, append, write_used, append_used


def time_format(body: dict[str, Any], rounds: int) -> float:
    """Microseconds for what no writer of this format can spare: JSON, line, hashes, tree."""
    chain, best = Chain("0" * 32), float("inf")
    source = encode_source("dispatch", "session-1", 3, "tool:pre", None, None)
    for _ in range(rounds):
        started = time.process_time()
        records = [(source, to_json(body), 1_763_448_000_000_000_000, 1) for _ in range(GROUP)]
        chain.extend_all(records)
        best = min(best, time.process_time() - started)
    return best / GROUP * 1e6


def one_record(folder: Path, what: str, body: dict[str, Any], rounds: int = 60) -> list[Row]:
    """What a record costs its caller, and in all."""
    # So long that the thread begins when somebody waits, and the two can be told apart.
    log = AuditLog(folder / what, replace(SETTINGS, gather_seconds=60))
    path = folder / f"{what} by hand"
    write, append, write_used, append_used = asyncio.run(time_records(log, path, body, rounds))
    log.close_now()
    name, least = f"one record {what}", time_format(body, rounds)
    return [
        Row(f"{name}, from call to queued, in os.write", append / write, None, write, append),
        Row(
            f"{name}, in all, in os.write", append_used / write_used, None, write_used, append_used
        ),
        Row(f"{name}, its format alone, in os.write", least / write_used, None, write_used, least),
    ]


async def one_waiter(log: AuditLog) -> None:
    """A record that must be on disk before anything happens."""
    await log.commit(log.append("approval_requested", {"prompt": "May I?"}, session="session-1"))


def one_by_one(log: AuditLog) -> Body:
    """A sync for each record."""

    async def body(times: int) -> None:
        for _ in range(times * WAITERS):
            await one_waiter(log)

    return body


def all_at_once(log: AuditLog) -> Body:
    """A sync for a hundred."""

    async def body(times: int) -> None:
        for _ in range(times):
            await asyncio.gather(*(one_waiter(log) for _ in range(WAITERS)))

    return body


def bare_read(path: Path) -> Body:
    """Read, parse, hash: a verifier that checks nothing."""

    async def body(times: int) -> None:
        for _ in range(times):
            with path.open("rb") as file:
                for line in file:
                    json.loads(line)
                    hashlib.sha256(line).hexdigest()

    return body


def real_read(path: Path) -> Body:
    """The verifier."""

    async def body(times: int) -> None:
        for _ in range(times):
            assert verify(path).verdict == "consistent"

    return body


async def agree(event: str, data: dict[str, Any]) -> HookResult:
    """A hook."""
    return HookResult(action="continue")


def dispatching(audit: AuditLog | None) -> Body:
    """An event through the coordinator, with five hooks."""
    coordinator = SessionCoordinator(audit=audit, session_id="session-1")
    for number in range(5):
        coordinator.hooks.register("tool:pre", agree, name=f"guard-{number}")
    return loop_of(lambda: coordinator.execute_with_hooks("tool:pre", dict(DATA)))


def appending(log: AuditLog) -> Body:
    """One append, of the record that such an event makes."""

    async def body(times: int) -> None:
        for _ in range(times):
            log.append("dispatch", BODY, session="session-1", turn=3, event="tool:pre")

    return body


def added_by_the_trail(folder: Path) -> Row:
    """How many appends an audited emit costs more than one without a trail."""
    log = AuditLog(folder / "emit", SETTINGS)
    emit = compare("", dispatching(None), dispatching(log))
    append = compare("", dispatching(None), appending(log))
    log.close_now()
    added = emit.subject_us - emit.baseline_us
    what = "audited emit of 5 hooks, normal level: appends added"
    return Row(what, added / append.subject_us, 3, append.subject_us, added)


def on_a_slow_disk(log: AuditLog) -> Row:
    """The same with syncs of 4 ms, as disks without a write cache have them."""
    real = os.fsync

    def slow(fd: Any) -> None:
        time.sleep(0.004)
        real(fd)

    os.fsync = slow
    try:
        what = "100 waiters at once / one by one, syncs of 4 ms"
        return compare(what, one_by_one(log), all_at_once(log), at_most=1 / 20, rounds=3)
    finally:
        os.fsync = real


def written(folder: Path) -> Path:
    """A log to read."""
    log = AuditLog(folder / "read", SETTINGS)
    for _ in range(RECORDS):
        log.append("dispatch", BODY, session="session-1", turn=3, event="tool:pre")
    log.close_now()
    return folder / "read"


def rows(folder: Path) -> list[Row]:
    """The table."""
    log = AuditLog(folder / "log", SETTINGS)
    waiting = AuditLog(folder / "waiting", SETTINGS)
    read = written(folder)
    found = [
        *one_record(folder, "without hooks", BARE),
        *one_record(folder, "with five hooks", BODY),
        compare(
            "append, grouped", bare_append(folder / "bare"), real_append(log), at_most=2, rounds=25
        ),
        compare(
            "100 waiters at once / one by one, this disk",
            one_by_one(waiting),
            all_at_once(waiting),
            at_most=1 / 20,
            rounds=8,
        ),
        on_a_slow_disk(waiting),
        compare(
            "verify",
            bare_read(read / "00000000.jsonl"),
            real_read(read),
            at_most=2,
            rounds=25,
        ),
        added_by_the_trail(folder),
    ]
    log.close_now()
    waiting.close_now()
    return found


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        report("audit", rows(Path(folder)))


if __name__ == "__main__":
    main()
