"""Kills a writer at chosen system calls and checks what is left. Runs as a program of its own.

A child does a random piece of work on a log and tells each acknowledged record through a pipe. At
its n-th write, sync or truncation it kills itself: before the call, after it, or after half of the
bytes. Some children are killed by the parent at a random moment instead. Often the next child is
killed on the same directory again, while it recovers.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from amplifier_audit.anchor_files import read_checkpoints
from amplifier_audit.anchors import anchor_to_file
from amplifier_audit.checkpoint import Note
from amplifier_audit.errors import BadCheckpoint
from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import open_log
from amplifier_audit.reader import read_records
from amplifier_audit.settings import AuditSettings
from amplifier_audit.verification import verify
from tests.audit.support import SIGNER, VERIFIER

REAL_WRITE = os.write
CALLS = ("write", "pwrite", "fsync", "ftruncate")


class Killer:
    """Stands in for the system calls."""

    def __init__(self, at: int, how: str) -> None:
        self.count, self.at, self.how = 0, at, how
        for name in CALLS:
            setattr(os, name, self._wrap(name, getattr(os, name)))

    def _wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(descriptor: int, *args: Any) -> Any:
            self.count += 1
            if self.count != self.at:
                return real(descriptor, *args)
            if self.how == "half" and name in ("write", "pwrite"):
                content = bytes(args[0])
                real(descriptor, content[: len(content) // 2], *args[1:])
            elif self.how != "before":
                real(descriptor, *args)
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError

        return call


async def work(path: Path, pipe: int, seed: int) -> None:
    """Random appends and commits by three tasks, with rotation, retention and reopening."""
    chance = random.Random(seed)
    settings = AuditSettings(
        segment_bytes=chance.choice([3000, 8000, 1 << 20]),
        retain_segments=chance.choice([None, None, 3]),
        values=chance.choice(["inline", "inline", "inline", "committed"]),
        gather_seconds=0.0005,
        checkpoint_seconds=chance.choice([0.0, 0.005, 1.0]),
        checkpoint_every=chance.choice([1, 5, 1000]),
    )

    async def task(log: AuditLog, name: str) -> None:
        for number in range(chance.randrange(1, 6)):
            for _ in range(chance.randrange(3)):
                log.append("dispatch", {"filler": "x" * chance.randrange(300)})
            mark = f"{seed}-{name}-{number}"
            sequence = log.append("tool_started", {"mark": mark, "prompt": "p"})
            await log.commit(sequence)
            REAL_WRITE(pipe, f"{sequence} {mark}\n".encode())

    for opening in range(chance.randrange(1, 3)):
        log = await AuditLog.open(
            path, settings, signer=SIGNER, name="log", anchors=(anchor_to_file(find_anchors(path)),)
        )
        await asyncio.gather(*(task(log, f"{opening}{letter}") for letter in "abc"))
        await log.close()


def work_until_killed(path: Path, pipe: int, seed: int, at: int, how: str) -> None:
    """Never returns."""
    killer = Killer(at, how)
    try:
        asyncio.run(work(path, pipe, seed))
    except BaseException as error:  # noqa: BLE001 - the parent decides what it means
        REAL_WRITE(pipe, f"! {type(error).__name__}: {error}\n".encode())
    REAL_WRITE(pipe, f"= {killer.count}\n".encode())
    os._exit(0)


def run_child(path: Path, seed: int, at: int, how: str, patience: float | None) -> list[str]:
    """What the child reported before its end."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        work_until_killed(path, writer, seed, at, how)
    os.close(writer)
    if patience is not None:
        time.sleep(patience)
        os.kill(process, signal.SIGKILL)
    with os.fdopen(reader) as reported:
        lines = reported.read().splitlines()
    os.waitpid(process, 0)
    return lines


def find_anchors(path: Path) -> Path:
    """Outside the log, and cut off as it is when a writer is killed."""
    return path.with_name("anchors")


def read_notes(path: Path) -> list[Note]:
    """What the anchors know; none, if the first was torn."""
    try:
        return read_checkpoints(find_anchors(path))
    except BadCheckpoint:
        return []


def check(path: Path, acknowledged: dict[int, str]) -> list[str]:
    """What is wrong with the log that the killed writer left, and with its recovery."""
    wrong: list[str] = []
    if any(path.glob("*.jsonl")) and any(f.stat().st_size for f in path.glob("*.jsonl")):
        for anchors in ([], read_notes(path)):
            report = verify(path, key=VERIFIER, anchors=anchors, session="log")
            if report.verdict == "tampered":
                wrong.append(f"false alarm before recovery: {report.finding}")
    alarms: list[str] = []
    relay = (anchor_to_file(find_anchors(path)),)
    AuditLog(
        path, AuditSettings(), signer=SIGNER, alarm=alarms.append, name="log", anchors=relay
    ).close_now()
    wrong += [f"false alarm on open: {alarm}" for alarm in alarms]
    report = verify(path, key=VERIFIER)
    if report.verdict not in ("consistent", "recovered"):
        wrong.append(f"after recovery: {report.verdict} {report.finding}")
    report = verify(path, key=VERIFIER, anchors=read_notes(path), session="log")
    if report.verdict != "proven" or report.unproven:
        wrong.append(f"after recovery, with anchors: {report.verdict}, {report.unproven} unproven")
    records = {record["seq"]: record for record in read_records(open_log(path))}
    first = min(records)
    for sequence, mark in acknowledged.items():
        if sequence >= first and records.get(sequence, {"body": {}})["body"].get("mark") != mark:
            wrong.append(f"acknowledged record {sequence} is lost")
    return wrong


def try_point(root: Path, chance: random.Random, fixed: tuple[int, int, str] | None) -> list[str]:
    """One directory, one to three kills."""
    path = root / "log"
    acknowledged: dict[int, str] = {}
    wrong: list[str] = []
    for round in range(1 if fixed else chance.choice([1, 1, 2, 3])):
        seed = fixed[0] if fixed else chance.randrange(1 << 30)
        at = fixed[1] if fixed else chance.randrange(1, 80 if round == 0 else 12)
        how = fixed[2] if fixed else chance.choice(["before", "after", "half"])
        patience = chance.random() * 0.03 if not fixed and chance.random() < 0.3 else None
        reported = run_child(path, seed, at if patience is None else -1, how, patience)
        for line in reported:
            if line.startswith("!"):
                wrong.append(f"the writer failed: {line}")
            elif not line.startswith("="):
                sequence, _, mark = line.partition(" ")
                acknowledged[int(sequence)] = mark
    if path.exists():
        wrong += check(path, acknowledged)
    shutil.rmtree(path, ignore_errors=True)
    find_anchors(path).unlink(missing_ok=True)
    return [f"{problem} [{fixed or 'random'}]" for problem in wrong]


def count_calls(root: Path, seed: int) -> int:
    """How many system calls the work of a seed makes when nobody kills it (about: it has tasks)."""
    reported = run_child(root / "log", seed, -1, "before", None)
    shutil.rmtree(root / "log", ignore_errors=True)
    find_anchors(root / "log").unlink(missing_ok=True)
    return int(reported[-1].split()[1])


def list_points(root: Path, chance: random.Random, count: int) -> Iterator[tuple[int, int, str]]:
    """So many points: each call of one piece of work, in each of three ways, then of the next."""
    while True:
        seed = chance.randrange(1 << 30)
        for at in range(1, count_calls(root, seed) + 1):
            for how in ("before", "after", "half"):
                if count == 0:
                    return
                count -= 1
                yield seed, at, how


def main() -> None:
    """Print one line of JSON."""
    options = argparse.ArgumentParser()
    options.add_argument("--points", type=int, default=100)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    memory = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    chance = random.Random(given.seed)
    exact, wrong = 0, []
    gc.disable()
    start = time.monotonic()
    try:
        for fixed in list_points(root, chance, given.points // 2):
            wrong += try_point(root, chance, fixed)
            exact += 1
        for _ in range(given.points - exact):
            wrong += try_point(root, chance, None)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    spent = round(time.monotonic() - start, 1)
    result = {"points": given.points, "every_call": exact, "wrong": len(wrong), "seconds": spent}
    sys.stdout.write(json.dumps({**result, "problems": wrong[:20]}) + "\n")


if __name__ == "__main__":
    main()
