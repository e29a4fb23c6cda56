"""The order of everything a log does with its disk: what is promised is durable first.

A log lives a whole life on a disk that notes each step. Afterwards the steps are replayed against
a model of what a loss of power would leave at that moment.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import AuditDirectory
from amplifier_audit.own_records import ValueRedacted
from amplifier_audit.settings import AuditSettings
from amplifier_audit.value_store import ValueStore
from amplifier_audit.verification import verify
from tests.audit.support import SIGNER, VERIFIER, read_bodies
from tests.properties.recording_disk import RecordingDisk, Step

KEPT = 2
SETTINGS = AuditSettings(
    values="committed",
    segment_bytes=5000,
    retain_segments=KEPT,
    checkpoint_every=5,
    checkpoint_seconds=3600,
    gather_seconds=0.0,
    sync_timeout=60,
    daily=False,
)


class Replay:
    """What is written and what is durable, step by step; `faults` is what came too early."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.written: defaultdict[str, bytes] = defaultdict(bytes)
        self.durable: defaultdict[str, bytes] = defaultdict(bytes)
        self.unnamed: set[str] = set()
        self.saved = self.saved_durably = 0
        self.failed = False
        self.doomed: set[str] = set()
        self._changes: list[str] = []
        self._store_syncs = False

    def run(self, steps: list[Step]) -> list[str]:
        for step in steps:
            getattr(self, f"on_{step.kind}")(step.name, step.content)
        return self.faults

    def expect(self, holds: bool, fault: str) -> None:
        if not holds:
            self.faults.append(fault)

    def list_durable(self) -> list[dict[str, Any]]:
        lines = [self.durable[name] for name in sorted(self.durable) if name.endswith(".jsonl")]
        return [json.loads(line) for line in b"".join(lines).splitlines()]

    def has_durable(self, type: str, **body: Any) -> bool:
        """Whether there is such a record, and the state knows of it."""
        records = self.list_durable()
        found = [
            one for one in records if one["type"] == type and body.items() <= one["body"].items()
        ]
        return bool(found) and self.saved > found[-1]["seq"]

    # Files

    def on_create(self, name: str, _: Any) -> None:
        self.unnamed.add(name)
        stem = name.removesuffix(".jsonl")
        if name == stem or not int(stem):
            return
        before = f"{int(stem) - 1:08d}"
        whole = self.durable[f"{before}.jsonl"] == self.written[f"{before}.jsonl"]
        self.expect(whole, f"{name} begins before {before} is durable")
        sealed = bool(self.durable[f"sealed/{before}.note"]) or self.failed
        self.expect(sealed, f"{name} begins before {before} is sealed")

    def on_write(self, name: str, content: bytes) -> None:
        self.written[name] += content
        for line in content.splitlines() if name.endswith(".jsonl") else ():
            record = json.loads(line)
            if record["type"] == "redacted":
                announced = record["body"]["commitment"] in self.doomed
                self.expect(announced, "a redaction is recorded before it is announced")

    def on_save(self, name: str, content: bytes) -> None:
        state = json.loads(content.partition(b" ")[2].rstrip(b"\0"))
        segment = f"{state['segment']:08d}.jsonl"
        synced = len(self.durable[segment]) >= state["offset"] and segment not in self.unnamed
        self.expect(synced, "the state knows of lines that are not durable")
        self.saved = state["head"]["size"]

    def on_sync(self, name: str, _: Any) -> None:
        if name == "state":
            self.saved_durably = self.saved
        if name in (".", "sealed"):
            self.unnamed = {one for one in self.unnamed if str(Path(one).parent) != name}
        self.durable[name] = self.written[name]

    def on_rename(self, name: str, target: str) -> None:
        self.expect(self.durable[name] == self.written[name], f"{target} is named, not durable")
        self.durable[target] = self.durable.pop(name)

    def on_remove(self, name: str, _: Any) -> None:
        if name == "failed":
            self.expect(self.has_durable("recovered"), "a failure is forgotten before its recovery")
            self.failed = False
            return
        number = int(name.removesuffix(".jsonl"))
        removal = self.has_durable("segment_removed", segment=number)
        self.expect(removal, f"{name} is removed before that is on record")
        types = [record["type"] for record in self.list_durable()]
        last = len(types) - types[::-1].index("segment_removed") if removal else 0
        self.expect("checkpoint" in types[last:], f"{name} is removed before that is signed")

    def on_failed(self, *_: Any) -> None:
        self.failed = True

    # The side store

    def on_sql(self, _: str, statement: str) -> None:
        if statement.startswith("PRAGMA"):
            self._store_syncs = statement.endswith("FULL")
        elif statement.startswith("BEGIN"):
            self._changes = []
        elif statement == "COMMIT":
            self.expect(self._store_syncs, "the side store does not sync")
            added = [one for one in self._changes if one.startswith("INSERT OR REPLACE")]
            self.doomed |= {one.split("'")[1] for one in added}
        else:
            self._changes.append(statement)
            if statement.startswith("DELETE FROM kept"):
                self.on_deletion(statement.split("'")[1])

    def on_deletion(self, commitment: str) -> None:
        self.expect(commitment in self.doomed, "a value is deleted without being announced")
        recorded = self.has_durable("redacted", commitment=commitment)
        self.expect(recorded, "a value is deleted before that is on record")

    # Who relies on it

    def on_claimed(self, _: str, count: int) -> None:
        sequences = [record["seq"] for record in self.list_durable()]
        there = bool(sequences) and sequences[-1] >= count - 1
        self.expect(there and self.saved >= count, f"{count} records are claimed to be durable")

    def on_released(self, _: str, sequence: int) -> None:
        records = {record["seq"]: record["type"] for record in self.list_durable()}
        there = sequence in records and self.saved > sequence
        self.expect(there, f"the waiter of {sequence} is released before it is durable")
        if records.get(sequence) == "session_ended":
            signed = records.get(sequence + 1) == "checkpoint"
            self.expect(signed, "a session ended without a checkpoint")

    def on_opened(self, *_: Any) -> None:
        self.expect(self.durable["state"] == self.written["state"], "the state is not durable")
        segments = [name for name in self.written if name.endswith(".jsonl")]
        whole = all(self.durable[name] == self.written[name] for name in segments)
        self.expect(whole and bool(segments), "the log is handed out before its opening is durable")

    def on_closed(self, *_: Any) -> None:
        last = self.list_durable()[-1]
        self.expect(last["type"] in ("checkpoint", "sealed"), "the log ends without a checkpoint")
        self.expect(self.saved_durably == last["seq"] + 1, "the last state was never synced")

    def on_anchored(self, _: str, size: int) -> None:
        self.expect(self.saved_durably > size, f"an anchor knows {size}, the state may not")


async def wait(log: AuditLog, disk: RecordingDisk, sequence: int) -> None:
    await log.commit(sequence)
    disk.note("released", content=sequence)


async def live(path: Path, disk: RecordingDisk) -> None:
    """Open, append, wait, rotate, remove, redact, end a session, close."""
    log = await AuditLog.open(path, SETTINGS, signer=SIGNER, anchors=(disk.note_anchor,))
    disk.note("opened")
    disk.claims = lambda: log.durable
    for number in range(6):
        body = {"text": f"{number} " * 20}
        sequences = [log.append("dispatch", body, session="s") for _ in range(3)]
        await asyncio.gather(*(wait(log, disk, one) for one in sequences[1:]))
    newest = read_bodies(path, "dispatch")[-1]["text"]["$commitment"]
    await log.redact(newest, by="ann", reason="asked to")
    await wait(log, disk, log.append("session_ended", {}, session="s"))
    log.append("dispatch", {}, session="s")
    await log.close()
    disk.claims = lambda: 0
    disk.note("closed")


def interrupt_redaction(path: Path) -> None:
    """What a crash leaves between the announcement of a redaction and its record."""
    commitment = read_bodies(path, "dispatch")[-3]["text"]["$commitment"]
    store = ValueStore(path / "values.db")
    store.begin_redaction(ValueRedacted(commitment=commitment, by="bob", reason="crash"))
    store.close()


async def test_whatever_a_log_promises_is_durable_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines, state, segments, removals, redactions, checkpoints, over three openings."""
    path = tmp_path / "log"
    disk = RecordingDisk(path, monkeypatch)
    await live(path, disk)
    interrupt_redaction(path)
    await live(path, disk)
    (path / "failed").write_text("the sync failed")
    disk.note("failed")
    await live(path, disk)
    assert Replay().run(disk.steps) == []
    kinds = Counter(step.kind for step in disk.steps)
    deletions = [s for s in disk.steps if str(s.content).startswith("DELETE FROM kept")]
    assert (kinds["opened"], kinds["released"], len(deletions)) == (3, 39, 4)
    assert all(kinds[kind] > 2 for kind in ("create", "rename", "remove", "anchored", "claimed"))
    monkeypatch.undo()
    segments = AuditDirectory(path).list_segments()
    assert segments == list(range(segments[-1] - KEPT, segments[-1] + 1))
    assert verify(path, key=VERIFIER).verdict != "tampered"
