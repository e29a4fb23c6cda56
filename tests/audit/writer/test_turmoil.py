"""Many threads, tasks, checkpoints, segments and a disk that fails at any moment, by chance."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import random
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.checkpoint import Note
from amplifier_audit.errors import AuditUnavailable
from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import open_log
from amplifier_audit.reader import read_records
from amplifier_audit.record import Record
from amplifier_audit.settings import AuditSettings
from amplifier_audit.verification import verify
from tests.audit.support import SIGNER, VERIFIER, WRITER_THREAD

ODD: list[Any] = [1, "x" * 50, "é", float("nan"), 2**60, b"\xff", {"a": [{}]}, ["x" * 9000]]


class FailingCall:
    """A system call that fails from its n-th time on, on the writer's thread."""

    def __init__(self, patch: pytest.MonkeyPatch, name: str, at: int) -> None:
        self._real, self._left = getattr(os, name), at
        patch.setattr(os, name, self._call)

    def _call(self, *args: Any) -> Any:
        if threading.current_thread().name == WRITER_THREAD:
            self._left -= 1
            if self._left < 0:
                raise OSError(errno.EIO, "Input/output error")
        return self._real(*args)


class Turmoil:
    """What is done to one log, and what was said of it meanwhile."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self.seed = path, seed
        self.chance = random.Random(seed)
        self.settings = AuditSettings(
            segment_bytes=self.chance.choice([1, 2000, 20_000, 1 << 30]),
            checkpoint_every=self.chance.choice([1, 3, 50, 1000]),
            checkpoint_seconds=self.chance.choice([0.0, 0.01, 60.0]),
            gather_seconds=self.chance.choice([0.0, 0.002]),
            values=self.chance.choice(["inline", "inline", "committed"]),
        )
        self.given: dict[int, tuple[str, int]] = {}
        self.acknowledged: set[int] = set()
        self.notes: list[Note] = []

    async def run(self) -> bool:
        """Whether the disk held out."""
        log = await AuditLog.open(self.path, self.settings, signer=SIGNER)
        threads = [asyncio.to_thread(self._flood, log, name) for name in ("a", "b", "c")]
        tasks = [self._wait_for_each(log, name) for name in ("d", "e")]
        await asyncio.gather(*threads, *tasks, self._make_checkpoints(log))
        await log.close()
        return log.failure is None

    def _append(self, log: AuditLog, chance: random.Random, name: str, number: int) -> int:
        type = "session_ended" if chance.random() < 0.05 else "dispatch"
        body = {"mark": [name, number], "odd": chance.choice(ODD)}
        sequence = log.append(type, body, session=name, turn=number // 3, event="tool:pre")
        body["mark"] = "changed"
        self.given[sequence] = (name, number)
        return sequence

    def _flood(self, log: AuditLog, name: str) -> None:
        chance = random.Random(f"{self.seed} {name}")
        with contextlib.suppress(AuditUnavailable):
            for number in range(chance.randrange(120)):
                self._append(log, chance, name, number)
                if chance.random() < 0.02 and (note := log.newest_checkpoint):
                    assert note.is_signed_by(VERIFIER)

    async def _wait_for_each(self, log: AuditLog, name: str) -> None:
        chance = random.Random(f"{self.seed} {name}")
        with contextlib.suppress(AuditUnavailable):
            for number in range(chance.randrange(12)):
                sequence = self._append(log, chance, name, number)
                await log.commit(sequence)
                self.acknowledged.add(sequence)

    async def _make_checkpoints(self, log: AuditLog) -> None:
        with contextlib.suppress(AuditUnavailable):
            for _ in range(self.chance.randrange(4)):
                self.notes.append(await log.checkpoint())

    def check(self, whole: bool) -> None:
        """Verify what is left, and that it says what was told."""
        AuditLog(self.path, signer=SIGNER).close_now()
        report = verify(self.path, key=VERIFIER, anchors=self.notes)
        assert report.finding is None
        sound = "proven" if self.notes else "consistent"
        assert report.verdict == sound or (report.verdict == "recovered" and not whole)
        records = list(read_records(open_log(self.path)))
        assert [record["seq"] for record in records] == list(range(len(records)))
        self._check_marks(records, whole)
        times = [record["mono"] for record in records if record["type"] != "log_opened"]
        assert times == sorted(times)

    def _check_marks(self, records: list[Record], whole: bool) -> None:
        marks = {r["seq"]: tuple(r["body"]["mark"]) for r in records if "mark" in r["body"]}
        present = set(self.given) if whole else self.acknowledged | set(marks)
        assert marks == {sequence: self.given[sequence] for sequence in present}
        numbers = defaultdict(list)
        for name, number in marks.values():
            numbers[name].append(number)
        # Of each thread the first so many are there, in their order.
        assert all(found == list(range(len(found))) for found in numbers.values())
        for record in records:
            if "mark" in record["body"]:
                name, number = record["body"]["mark"]
                assert (record["session"], record["turn"]) == (name, number // 3)


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_happens_at_once_the_log_verifies(tmp_path: Path, seed: int) -> None:
    """Every record is there once, where its caller was told, in the order of its thread."""
    turmoil = Turmoil(tmp_path, seed)
    assert await turmoil.run()
    turmoil.check(whole=True)


@pytest.mark.parametrize("seed", range(12))
async def test_when_the_disk_fails_meanwhile_nothing_acknowledged_is_missing(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whichever call it fails; what was not acknowledged may be gone, but only from the end."""
    turmoil = Turmoil(tmp_path, seed)
    with monkeypatch.context() as broken:
        name = turmoil.chance.choice(["write", "fsync", "pwrite"])
        FailingCall(broken, name, turmoil.chance.randrange(12))
        whole = await turmoil.run()
    turmoil.check(whole)
