"""The audit trail in files: one writer per directory, group commit on a thread of its own.

`append` encodes, chains and queues; the thread writes, syncs, notes the acknowledged position and
only then lets those go who wait in `commit`. The first failed write or sync is final: from then on
`append` and `commit` raise AuditUnavailable, until an operator opens the log anew.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, time
from typing import Any

from amplifier_audit import (
    Chain,
    Head,
    Level,
    Note,
    OnFailure,
    Signer,
    encode_body,
    encode_source,
    foreign,
    make_note,
)
from amplifier_audit.errors import AuditError, AuditUnavailable
from amplifier_audit.files.directory import AuditDirectory, unavailable, write_file
from amplifier_audit.files.lines import first_record
from amplifier_audit.files.state import State, StateFile
from amplifier_audit.writer.anchors import Anchor, AnchorRelay
from amplifier_audit.writer.recovery import Opening, recover
from amplifier_audit.writer.segment import SegmentFile
from amplifier_audit.writer.settings import AuditSettings
from amplifier_audit.writer.values import Kept, ValueStore, committed
from amplifier_audit.writer.waiters import Waiters

__all__ = ["AuditLog", "AuditSettings"]
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _NewSegment:
    """In the queue between the lines of one segment and the next; the note covers the old one."""

    number: int
    seal: Note


class AuditLog:
    """A sink whose records are on disk when `commit` returns."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        settings: AuditSettings | None = None,
        *,
        signer: Signer | None = None,
        anchors: tuple[Anchor, ...] = (),
        alarm: Callable[[str], None] | None = None,
    ) -> None:
        """Take the lock, recover, begin to write. Blocks; `AuditLog.open` does it on a thread."""
        self.settings = settings or AuditSettings()
        self.level: Level = self.settings.level
        self.on_failure: OnFailure = self.settings.on_failure
        self.directory = AuditDirectory(Path(path))
        self.durable = 0
        self._signer = signer
        self._alarm = alarm
        self._failure: str | None = None
        self._closing = False
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._pending: list[bytes | _NewSegment] = []
        self._pending_bytes = 0
        self._kept: list[Kept] = []
        self._notes: list[Note] = []
        self._waiters = Waiters(self.settings.sync_timeout)
        self._newest: Note | None = None
        self._removals: list[tuple[int, int]] = []
        self.directory.create()
        self._lock_file = self.directory.lock()
        try:
            self._begin(anchors)
        except BaseException:
            os.close(self._lock_file)
            raise

    @classmethod
    async def open(
        cls,
        path: str | os.PathLike[str],
        settings: AuditSettings | None = None,
        *,
        signer: Signer | None = None,
        anchors: tuple[Anchor, ...] = (),
        alarm: Callable[[str], None] | None = None,
    ) -> AuditLog:
        """Open a log without blocking the loop."""
        return await asyncio.to_thread(
            lambda: cls(path, settings, signer=signer, anchors=anchors, alarm=alarm)
        )

    @property
    def log(self) -> str:
        """The id of the log."""
        return self._chain.log

    @property
    def failure(self) -> str | None:
        """Why the log takes no more records, or None."""
        return self._failure

    @property
    def newest_checkpoint(self) -> Note | None:
        """The last checkpoint that was made, for keeping elsewhere."""
        return self._newest

    def append(
        self,
        type: str,
        body: Mapping[str, Any],
        *,
        session: str | None = None,
        turn: int | None = None,
        event: str | None = None,
        hook: str | None = None,
        registration: int | None = None,
    ) -> int:
        """Queue a record and return its sequence."""
        source = encode_source(foreign(type), session, turn, event, hook, registration)
        content, kept = self._encoded(body)
        with self._lock:
            self._refuse_if_unavailable()
            sequence = self._chain.size
            idle = not self._pending
            self._kept += kept
            self._add(source, content)
            if type == "session_ended" or self._since_checkpoint() >= self._checkpoint_every:
                self._add_checkpoint("checkpoint")
            if self._segment_size > self.settings.segment_bytes:
                self._rotate()
        if idle:
            self._wake.set()
        return sequence

    async def commit(self, sequence: int | None = None) -> None:
        """Return once the record, or everything so far, is on disk."""
        target = self._chain.size if sequence is None else sequence + 1
        if self.durable >= target:
            return
        if target > self._chain.size:
            raise AuditError(f"There is no record {sequence}; the last is {self._chain.size - 1}")
        with self._lock:
            self._refuse_if_unavailable()
            done = self._waiters.add(target)
        self._wake.set()
        await done

    async def checkpoint(self) -> Note:
        """Make a checkpoint of everything so far, durably."""
        with self._lock:
            self._refuse_if_unavailable()
            note = self._add_checkpoint("checkpoint")
        await self.commit()
        return note

    async def redact(self, commitment: str, *, by: str, reason: str) -> int:
        """Delete value and salt behind a commitment; the trail says who did and why."""
        if self._values is None:
            raise AuditError(
                "This log keeps its values in the lines, which never change; "
                "only logs written with values='committed' can be redacted"
            )
        if await asyncio.to_thread(self._values.get, commitment) is None:
            raise AuditError(f"Nothing is kept for the commitment {commitment!r}")
        body = {"commitment": commitment, "by": by, "reason": reason}
        await asyncio.to_thread(self._values.doom, body)
        with self._lock:
            self._refuse_if_unavailable()
            sequence = self._add_own("redacted", body)
            if self._since_checkpoint() >= self._checkpoint_every:
                self._add_checkpoint("checkpoint")
        await self.commit(sequence)
        await asyncio.to_thread(self._values.delete, commitment)
        return sequence

    async def close(self) -> None:
        """Write a last checkpoint, sync, release the log. Harmless when repeated."""
        await asyncio.to_thread(self.close_now)

    def close_now(self) -> None:
        """The same, for callers without a loop."""
        with self._lock:
            if self._closing:
                return
            if self._failure is None and self._since_checkpoint():
                self._add_checkpoint("checkpoint")
            self._closing = True
        self._wake.set()
        self._thread.join(self.settings.sync_timeout)
        if self._thread.is_alive():
            raise AuditUnavailable(
                f"The audit log {self.directory.path} cannot be closed: its disk does not answer"
            )
        self._relay.close()
        for close in (self._segment.close, self._state.close, *self._close_values()):
            close()
        os.close(self._lock_file)

    # Opening

    def _begin(self, anchors: tuple[Anchor, ...]) -> None:
        with unavailable(f"open the audit log {self.directory.path}"):
            self._refuse_another_key()
            opening = recover(self.directory)
            self._chain = Chain(opening.log, opening.head)
            self._checkpoint_every = self.settings.checkpoint_every
            self._last_checkpoint = opening.head.size
            self._last_sync = monotonic()
            self._segment_number = opening.segment
            self._segment_size = opening.offset
            self._day = _today()
            self._values = self._open_values()
            self._segment = SegmentFile(self.directory, opening.segment, opening.offset)
            self._state = StateFile(self.directory.state)
        self._relay = AnchorRelay(anchors)
        self._write_opening(opening)
        self._thread = threading.Thread(target=self._run, name="audit-writer", daemon=True)
        self._thread.start()

    def _refuse_another_key(self) -> None:
        """A log has one key, or none, for its whole life; the verifier relies on it."""
        segments = self.directory.segments()
        first = first_record(self.directory.segment(segments[0])) if segments else None
        if first is None or first["type"] != "log_opened":
            return
        known, given = first["body"].get("key"), self._signer and self._signer.public
        if known != given:
            raise AuditUnavailable(
                f"The log {self.directory.path} is signed with {known or 'no key'}, "
                f"not with {given or 'no key'}; another key needs another directory"
            )

    def _open_values(self) -> ValueStore | None:
        if self.settings.values == "committed" or self.directory.values.exists():
            return ValueStore(self.directory.values)
        return None

    def _close_values(self) -> list[Callable[[], None]]:
        return [self._values.close] if self._values else []

    def _write_opening(self, opening: Opening) -> None:
        """The first records are on disk before anybody gets the log."""
        with self._lock:
            if not opening.alarm:
                self._add_opened()
            for type, body in opening.records:
                self._add_own(type, body)
            doomed = self._values.doomed() if self._values else []
            for order in doomed:
                self._add_own("redacted", order)
            self._add_checkpoint("checkpoint")
        if opening.alarm:
            self._raise_alarm(f"The audit log {self.directory.path} is damaged: {opening.alarm}")
        with unavailable(f"write the audit log {self.directory.path}"):
            self._flush(sync=True)
            self.directory.failed.unlink(missing_ok=True)
        for order in doomed:
            self._finish_redaction(order["commitment"])

    def _finish_redaction(self, commitment: str) -> None:
        """A redaction that a crash interrupted: its value goes now, its record stands twice."""
        if self._values:
            self._values.delete(commitment)

    # Under the lock

    def _encoded(self, body: Mapping[str, Any]) -> tuple[bytes, list[Kept]]:
        if self.settings.values == "inline":
            return encode_body(body), []
        replaced, kept = committed(body)
        return encode_body(replaced), kept

    def _refuse_if_unavailable(self) -> None:
        if self._failure is not None:
            raise AuditUnavailable(f"The audit trail takes no records: {self._failure}")
        if self._closing:
            raise AuditUnavailable("The audit trail takes no records: it is closed")
        if self._process != os.getpid():
            raise AuditUnavailable(
                f"The audit log {self.directory.path} belongs to process {self._process}; "
                "a child needs a log of its own"
            )
        if self._pending_bytes > self.settings.backlog_bytes:
            raise AuditUnavailable(
                f"{self._pending_bytes} bytes of the audit trail wait for a disk that is too slow"
            )

    def _add(self, source: bytes, body: bytes) -> None:
        line = self._chain.extend(source, body)
        self._pending.append(line)
        self._pending_bytes += len(line)
        self._segment_size += len(line)

    def _add_own(self, type: str, body: Mapping[str, Any]) -> int:
        sequence = self._chain.size
        self._add(encode_source(type, None, None, None, None, None), encode_body(body))
        return sequence

    def _add_checkpoint(self, type: str) -> Note:
        note = self._note()
        self._add_own(type, {"note": note.text})
        self._last_checkpoint = self._chain.size
        self._notes.append(note)
        self._newest = note
        return note

    def _note(self) -> Note:
        return make_note(self._chain.log, self._chain.size, self._chain.tree.root(), self._signer)

    def _add_opened(self) -> None:
        body: dict[str, Any] = {
            "segment": self._segment_number,
            "process": self._process,
            "level": self.level,
            "values": self.settings.values,
            "checkpoint_every": self._checkpoint_every,
            "key": self._signer.public if self._signer else None,
        }
        if self._chain.size:
            head = self._chain.head()
            body["previous"] = {**head.to_dict(), "root": head.root().hex()}
        self._add_own("log_opened", body)

    def _since_checkpoint(self) -> int:
        return self._chain.size - self._last_checkpoint

    def _rotate(self) -> None:
        """Seal this segment and begin the next, in the order of the queue."""
        self._add_checkpoint("sealed")
        seal = self._note()
        self._segment_number += 1
        self._segment_size = 0
        self._day = _today()
        self._pending.append(_NewSegment(self._segment_number, seal))
        self._add_opened()
        for number in self._surplus():
            sequence = self._add_own("segment_removed", {"segment": number})
            self._removals.append((sequence, number))

    def _surplus(self) -> list[int]:
        keep = self.settings.retain_segments
        if keep is None:
            return []
        return [n for n in self.directory.segments() if n < self._segment_number - keep]

    # On the writer thread

    def _run(self) -> None:
        while not self._closing and self._failure is None:
            self._wake.wait(self._patience())
            self._wake.clear()
            if not self._waiters and not self._closing:
                self._wake.wait(self.settings.gather_seconds)
            self._turn()
        if self._failure is None:
            self._turn()

    def _patience(self) -> float | None:
        """Without a limit when everything is on disk, else until the next sync is due."""
        if self._segment.offset == self._segment.synced and not self._pending:
            return None
        return max(0.0, self._last_sync + self.settings.checkpoint_seconds - monotonic())

    def _turn(self) -> None:
        due = monotonic() - self._last_sync >= self.settings.checkpoint_seconds
        try:
            self._flush(sync=due or bool(self._waiters) or self._closing, timed=due)
        except Exception as error:  # noqa: BLE001 - a thread that dies would leave all waiting
            self._fail(_words(error))

    def _flush(self, *, sync: bool, timed: bool = False) -> None:
        with self._lock:
            if timed and self._since_checkpoint():
                self._add_checkpoint("checkpoint")
            if self._day != _today() and self.settings.daily:
                self._rotate()
            lines, self._pending, self._pending_bytes = self._pending, [], 0
            kept, self._kept = self._kept, []
            notes, self._notes = self._notes, []
            head = self._chain.head()
        if kept and self._values:
            self._values.add(kept)
        self._write(lines)
        if sync:
            self._segment.sync()
            self._acknowledge(head, checkpointed=bool(notes))
        for note in notes:
            self._relay.submit(note)

    def _write(self, items: list[bytes | _NewSegment]) -> None:
        batch: list[bytes] = []
        for item in items:
            if isinstance(item, bytes):
                batch.append(item)
                continue
            self._segment.write(b"".join(batch))
            batch = []
            self._switch(item)
        if batch:
            self._segment.write(b"".join(batch))

    def _switch(self, new: _NewSegment) -> None:
        self._segment.sync()
        self._segment.close()
        write_file(self.directory.seal(new.number - 1), new.seal.text.encode())
        self._segment = SegmentFile(self.directory, new.number, 0)

    def _acknowledge(self, head: Head, *, checkpointed: bool) -> None:
        newest = self._newest.text if self._newest else None
        segment = self._segment
        self._state.write(State(self._chain.log, segment.number, segment.offset, head, newest))
        if checkpointed:
            self._state.sync()
        self._last_sync = monotonic()
        with self._lock:
            self.durable = head.size
            gone = [number for sequence, number in self._removals if sequence < head.size]
            self._removals = [pair for pair in self._removals if pair[0] >= head.size]
        self._waiters.release(head.size)
        for number in gone:
            self.directory.segment(number).unlink(missing_ok=True)

    def _fail(self, reason: str) -> None:
        with self._lock:
            self._failure = reason
        try:
            write_file(self.directory.failed, reason.encode("utf-8", "replace"))
        except OSError:
            logger.warning("The failure of %s could not be noted", self.directory.path)
        self._raise_alarm(f"The audit log {self.directory.path} has failed: {reason}")
        self._waiters.fail(f"The audit trail takes no records: {reason}")

    def _raise_alarm(self, message: str) -> None:
        logger.error(message)
        if self._alarm:
            self._alarm(message)


def _today() -> int:
    return int(time() // 86400)


def _words(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
