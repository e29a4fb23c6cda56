"""Kills the writer and the session at random moments and checks what is left.

The writer runs as one user, the session as another (if we are root). Each tells what it does
through a pipe: the session each record before it appends it, and each that was acknowledged. Runs
as a program of its own: `python -m tests.audit.server.kills --rounds 500`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from amplifier_audit.anchor_files import read_anchors
from amplifier_audit.anchors import anchor_to_file
from amplifier_audit.errors import AuditUnavailable
from amplifier_audit.log_directory import open_log
from amplifier_audit.reader import read_records
from amplifier_audit.remote_log import RemoteLog
from amplifier_audit.server import AuditServer
from amplifier_audit.settings import AuditSettings
from amplifier_audit.verification import verify
from tests.audit.server.support import connect, run_server
from tests.audit.support import SIGNER, VERIFIER

ROOT = os.geteuid() == 0
WRITER, AGENT = (1, 65534) if ROOT else (os.geteuid(), os.geteuid())
SETTINGS = AuditSettings(gather_seconds=0.0005, segment_bytes=20_000)
PATIENT = AuditSettings(sync_timeout=20.0)


def run_child(user: int, work: Callable[[], None]) -> int:
    """Fork; the child is this user and never returns."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        if ROOT:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        work()
        code = 0
    except BaseException as error:  # noqa: BLE001 - a child must not return into the parent's code
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        os._exit(code)


async def rehearse(root: Path) -> None:
    """Import everything: other users may not be allowed to read the files of this Python."""
    async with run_server(root) as socket:
        log = await connect(socket)
        await log.commit(log.append("tool_started", {}))
        await log.close()


class Stage:
    """One folder with one writer and one session at a time."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.chance = chance
        self.root = root
        self.home = root / "writer"
        self.home.mkdir(mode=0o755)
        if ROOT:
            os.chown(self.home, WRITER, WRITER)
        self.reader, self.pipe = os.pipe()
        os.set_blocking(self.reader, False)
        self.told = b""
        self.writer = self.start_writer()
        self.number = 0
        self.session = self.start_session()

    def start_writer(self) -> int:
        server = AuditServer(
            self.home / "trails",
            [AGENT],
            SETTINGS,
            SIGNER,
            (anchor_to_file(self.home / "anchors"),),
        )
        return run_child(WRITER, lambda: asyncio.run(server.run(self.home / "socket")))

    def start_session(self) -> int:
        self.number += 1
        seed = self.chance.randrange(1 << 30)
        return run_child(AGENT, lambda: asyncio.run(self._work(self.number, seed)))

    async def _work(self, number: int, seed: int) -> None:
        """Append for ever; a mark is told before it is appended and when it is acknowledged."""
        chance = random.Random(seed)
        log = await self._connect()
        count = 0
        while True:
            marks = [f"{number}-{count + step}" for step in range(chance.randrange(1, 8))]
            count += len(marks)
            for mark in marks:
                os.write(self.pipe, f"s {mark}\n".encode())
                body = {"mark": mark, "filler": "x" * chance.randrange(400)}
                sequence = log.append("tool_started", body, session="agent")
            if chance.random() < 0.7:
                await log.commit(sequence)
                os.write(self.pipe, f"a {marks[-1]}\n".encode())

    async def _connect(self) -> RemoteLog:
        while True:
            try:
                return await RemoteLog.open(
                    self.home / "socket", "agent", PATIENT, server_user=WRITER
                )
            except AuditUnavailable:
                await asyncio.sleep(0.01)

    def kill(self, process: int) -> None:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)

    def listen(self, seconds: float) -> None:
        """Take what is told, so that nobody waits for the pipe."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                self.told += os.read(self.reader, 1 << 20)
            except BlockingIOError:
                time.sleep(0.002)

    def run(self, rounds: int) -> list[str]:
        """Kill one or the other, so many times; what is wrong at the end."""
        problems: list[str] = []
        for _ in range(rounds):
            self.listen(self.chance.random() * 0.15)
            which = self.chance.choice(["writer", "writer", "session", "both"])
            for name in ("session", "writer") if which == "both" else (which,):
                process = getattr(self, name)
                if os.waitpid(process, os.WNOHANG)[0]:
                    problems.append(f"the {name} had ended by itself")
                else:
                    self.kill(process)
                setattr(self, name, getattr(self, f"start_{name}")())
        self.listen(1.0)
        self.kill(self.session)
        self.kill(self.writer)
        self.listen(0.05)
        return problems + self.check()

    def check(self) -> list[str]:
        """Nothing acknowledged is lost, nothing is made up, nothing stands there twice."""
        lines = [line.split() for line in self.told.decode().splitlines()]
        sent = {mark for kind, mark in lines if kind == "s"}
        acknowledged = [mark for kind, mark in lines if kind == "a"]
        path = self.home / "trails" / str(AGENT) / "agent"
        log = open_log(path)
        notes = read_anchors([self.home / "anchors"], log)
        report = verify(path, key=VERIFIER, anchors=notes, session="agent")
        problems = [str(report.finding)] if report.verdict == "tampered" else []
        marks = [r["body"]["mark"] for r in read_records(log) if r["type"] == "tool_started"]
        problems += [f"{mark} is made up" for mark in sorted(set(marks) - sent)]
        problems += [f"{mark} was lost" for mark in acknowledged if mark not in set(marks)]
        if len(set(marks)) != len(marks):
            problems.append(f"{len(marks) - len(set(marks))} records stand there twice")
        for number in range(1, self.number + 1):
            own = [int(m.partition("-")[2]) for m in marks if m.startswith(f"{number}-")]
            if own != list(range(len(own))):
                problems.append(f"the records of session process {number} are out of order")
        self.counts = {"sent": len(sent), "acknowledged": len(acknowledged), "kept": len(marks)}
        return problems


def main() -> None:
    """Print one line of JSON."""
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=50)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    memory = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    root.chmod(0o755)
    (root / "rehearsal").mkdir()
    asyncio.run(rehearse(root / "rehearsal"))
    start = time.monotonic()
    try:
        stage = Stage(root, random.Random(given.seed))
        problems = stage.run(given.rounds)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    spent = round(time.monotonic() - start, 1)
    result = {"rounds": given.rounds, "users": [WRITER, AGENT], **stage.counts, "seconds": spent}
    sys.stdout.write(json.dumps({**result, "problems": problems[:20]}) + "\n")


if __name__ == "__main__":
    main()
