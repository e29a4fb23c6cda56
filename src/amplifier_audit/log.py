"""The audit trail in files: one writer per directory, group commit on a thread of its own.

`append` encodes and queues; the thread chains, writes, syncs, saves the acknowledged position and
only then releases whoever waits in `commit`. The first failed write or sync is final: from then on
`append` and `commit` raise AuditUnavailable, until somebody opens the log again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, Unpack
from weakref import WeakSet

from amplifier_audit.anchors import Anchor, AnchorRelay
from amplifier_audit.checkpoint import Note, Signer
from amplifier_audit.disk import Disk, HeldFile, TakenAway
from amplifier_audit.encoding import encode_body_now, encode_source
from amplifier_audit.errors import AuditError, AuditUnavailable
from amplifier_audit.line_maker import RecordQueue, replace_sensitive
from amplifier_audit.log_directory import AuditDirectory, raise_unavailable, write_file
from amplifier_audit.own_records import ValueRedacted, WriterConnected
from amplifier_audit.record import refuse_bad_log_name
from amplifier_audit.recovery import Opening, choose_name, recover, refuse_foreign_log
from amplifier_audit.settings import AuditSettings, Level, OnFailure, Options
from amplifier_audit.value_store import StoredValue, ValueStore
from amplifier_audit.waiters import Waiters


class GroupCommit:
    """The writer thread. `lock`, the queue's, guards adding to it, `failure` and `closing`.

    `taken` says that the failure is no fault of the disk: somebody took the files away.

    `waiters` are released when their records are durable; `wake` says that there is something to
    write or to sync.
    """

    def __init__(
        self,
        queue: RecordQueue,
        disk: Disk,
        relay: AnchorRelay,
        settings: AuditSettings,
        on_failure: Callable[[str], None],
    ) -> None:
        self.durable = 0
        self.failure: str | None = None
        self.taken = False
        self.closing = False
        self._queue = queue
        self._disk = disk
        self._relay = relay
        self._settings = settings
        self._on_failure = on_failure
        self._wake = threading.Event()
        self.wake = self._wake.set
        self.waiters = Waiters(settings.sync_timeout)
        self._last_sync = monotonic()
        self._thread = threading.Thread(target=self._run, name="audit-writer", daemon=True)

    @property
    def lock(self) -> threading.Lock:
        """The queue's, which in a child process is another one."""
        return self._queue.lock

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> bool:
        """Write and sync what is left; False if the disk does not answer in time."""
        self.closing = True
        self._wake.set()
        self._thread.join(self._settings.sync_timeout)
        if self._thread.is_alive():
            return False
        self._relay.close()
        self._disk.close()
        return True

    def flush(self, *, sync: bool, timed: bool = False) -> None:
        """Write what has gathered, and sync if that is wanted or due."""
        with self.lock:
            if timed and self._queue.since_checkpoint:
                self._queue.add_checkpoint()
            self._queue.rotate_if_new_day()
        # From here on without the lock: appending goes on while lines are made and the disk works.
        batch = self._queue.take()
        self._disk.write(batch)
        if not sync:
            return
        notes = self._disk.sync(batch)
        self._last_sync = monotonic()
        with self.lock:
            self.durable = batch.head.size
        self.waiters.release(batch.head.size)
        self._disk.remove_surplus()
        # Only now: an anchor that knows more than the disk would turn a crash into tampering.
        for note in notes:
            self._relay.submit(note)

    def _run(self) -> None:
        while not self.closing and self.failure is None:
            self._wake.wait(self._find_timeout())
            self._wake.clear()
            # Nobody waits for these records: a moment's patience makes one write of many.
            if not self.waiters and not self.closing:
                self._wake.wait(self._settings.gather_seconds)
            self._take_turn()
        if self.failure is None:
            self._take_turn()

    def _find_timeout(self) -> float | None:
        """Without a limit when everything is on disk, else until the next sync is due."""
        if self._disk.is_synced and not self._queue:
            return None
        return max(0.0, self._last_sync + self._settings.checkpoint_seconds - monotonic())

    def _take_turn(self) -> None:
        due = monotonic() - self._last_sync >= self._settings.checkpoint_seconds
        try:
            self.flush(sync=due or bool(self.waiters) or self.closing, timed=due)
        except Exception as error:  # noqa: BLE001 - a thread that dies would leave all waiting
            self._fail(_name_reason(error), taken=isinstance(error, TakenAway))

    def chain(self) -> None:
        """Make the lines of what waits, and with them its checkpoints; others write them later."""
        if self.failure is None and not self.closing:
            try:
                self._queue.chain()
            except Exception as error:  # noqa: BLE001 - the records are lost with their lines
                self._fail(_name_reason(error), taken=False)

    def find_loss(self) -> str | None:
        """Why the files are not there any more; whoever finds that out ends the log."""
        if self.failure is None and not self.closing and (loss := self._disk.find_loss()):
            self._fail(loss, taken=True)
        return self.failure if self.taken else None

    def _fail(self, reason: str, *, taken: bool) -> None:
        """Final: after a failed sync nobody knows which pages the kernel has given up on.

        A second sync would report success for pages that were dropped, so there is no second try.
        """
        with self.lock:
            if self.failure is not None:
                return
            self.failure = reason
            self.taken = taken
            self._queue.refuse()
        self._on_failure(reason)
        self.waiters.fail(f"The audit trail takes no records: {reason}")


def _name_reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


class Parental(Protocol):
    """What can be told that it is a copy, and another process has the original."""

    def leave_to_parent(self) -> None: ...


_originals: WeakSet[Parental] = WeakSet()


def refuse_in_children(one: Parental) -> None:
    """From now on: whichever process is forked, its copy takes nothing."""
    _originals.add(one)


def _refuse_all() -> None:
    for one in _originals:
        one.leave_to_parent()


# Once for all: such a call cannot be taken back.
if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_refuse_all)


logger = logging.getLogger(__name__)


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
        name: str | None = None,
        watch: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        """Take the lock, recover, begin to write. Blocks; `AuditLog.open` does it on a thread.

        `name` says whose log it is: without one, a new log has the name of its folder, and one that
        is there keeps what it has. `watch` names files, such as the key, that must not change.
        """
        refuse_bad_log_name(name)
        self.settings = settings or AuditSettings()
        self.level: Level = self.settings.level
        self.on_failure: OnFailure = self.settings.on_failure
        self.directory = AuditDirectory(Path(path))
        self._signer = signer
        self._name = name
        self._alarm = alarm
        self._process = os.getpid()
        self._commits_to_values = self.settings.values == "committed"
        self.directory.create()
        self._lock_file = self.directory.lock()
        with ExitStack() as opened:
            opened.callback(os.close, self._lock_file)
            self._begin(anchors, watch, opened)
            opened.pop_all()
        self._commits.start()

    @classmethod
    async def open(
        cls,
        path: str | os.PathLike[str],
        settings: AuditSettings | None = None,
        **options: Unpack[Options],
    ) -> AuditLog:
        """Open a log without blocking the loop."""
        return await asyncio.to_thread(lambda: cls(path, settings, **options))

    @property
    def log(self) -> str:
        """The id of the log."""
        return self._queue.log

    @property
    def durable(self) -> int:
        """How many records are on disk."""
        return self._commits.durable

    @property
    def failure(self) -> str | None:
        """Why the log takes no more records, or None."""
        return self._commits.failure

    def find_loss(self) -> str | None:
        """What somebody did to the files under the writer; it ends the log. A few `stat` calls."""
        return self._commits.find_loss()

    @property
    def newest_checkpoint(self) -> Note | None:
        """The last checkpoint that was made, for keeping elsewhere."""
        self._commits.chain()
        return self._queue.newest

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
        # What costs time comes before the lock, so that threads hold each other up only briefly.
        source = encode_source(type, session, turn, event, hook, registration, foreign=True)
        values: Sequence[StoredValue] = ()
        if self._commits_to_values:
            body, values = replace_sensitive(body)
        content = encode_body_now(body)
        queue = self._queue
        with queue.lock:
            waiting = queue.waiting_bytes
            if waiting > queue.most_waiting:
                self._refuse_if_unavailable()
            sequence = queue.add(source, content, values, type == "session_ended")
        # A queue that was not empty has woken the thread already.
        if not waiting:
            self._commits.wake()
        return sequence

    async def commit(self, sequence: int | None = None) -> None:
        """Return once the record, or everything so far, is on disk."""
        size = self._queue.size
        target = size if sequence is None else sequence + 1
        if self._commits.durable >= target:
            return
        if target > size:
            raise AuditError(f"There is no record {sequence}; the last is {size - 1}")
        with self._commits.lock:
            self._refuse_if_unavailable()
            done = self._commits.waiters.add(target)
        self._commits.wake()
        await done

    async def checkpoint(self) -> Note:
        """Make a checkpoint of everything so far, durably."""
        with self._commits.lock:
            self._refuse_if_unavailable()
            due = self._queue.add_checkpoint()
        await self.commit()
        assert due.note is not None
        return due.note

    def note_writer(self, writer: WriterConnected) -> int:
        """Record for whom a separate writer goes on; nobody can append such a record."""
        with self._commits.lock:
            self._refuse_if_unavailable()
            return self._queue.add_own(writer)

    async def redact(self, commitment: str, *, by: str, reason: str) -> int:
        """Delete value and salt behind a commitment; the trail says who did and why."""
        if self._values is None:
            raise AuditError(
                "This log keeps its values in the lines, which never change; "
                "only logs written with values='committed' can be redacted"
            )
        if await asyncio.to_thread(self._values.get, commitment) is None:
            raise AuditError(f"Nothing is kept for the commitment {commitment!r}")
        order = ValueRedacted(commitment=commitment, by=by, reason=reason)
        # Noted, recorded, deleted: a crash in between leaves a note, and the next opening goes on.
        await asyncio.to_thread(self._values.begin_redaction, order)
        with self._commits.lock:
            self._refuse_if_unavailable()
            sequence = self._queue.add_own(order)
            self._queue.add_due_checkpoint()
        await self.commit(sequence)
        await asyncio.to_thread(self._values.delete, commitment)
        return sequence

    async def close(self) -> None:
        """Write a last checkpoint, sync, release the log. Harmless when repeated."""
        await asyncio.to_thread(self.close_now)

    def close_now(self) -> None:
        """The same, for callers without a loop."""
        commits = self._commits
        with commits.lock:
            if commits.closing:
                return
            if commits.failure is None and self._queue.since_checkpoint:
                self._queue.add_checkpoint()
            commits.closing = True
            self._queue.refuse()
        if not commits.stop():
            # The lock stays: a disk that answers later would write into another writer's log.
            raise AuditUnavailable(
                f"The audit log {self.directory.path} cannot be closed: its disk does not answer"
            )
        os.close(self._lock_file)

    def _begin(
        self,
        anchors: tuple[Anchor, ...],
        watch: Iterable[str | os.PathLike[str]],
        opened: ExitStack,
    ) -> None:
        """Open the files; what is open is noted, to be closed if the rest cannot be opened."""
        with raise_unavailable(f"open the audit log {self.directory.path}"):
            refuse_foreign_log(self.directory, self._signer, self._name)
            if self._name is None:
                self._name = choose_name(self.directory)
            held = [HeldFile(self.directory.path, self._lock_file, link=True)]
            held += [HeldFile(Path(path), exact=True, link=True) for path in watch]
            opening = recover(self.directory)
            self._values = self._open_values()
            if self._values:
                opened.callback(self._values.close)
            self._queue = RecordQueue(
                opening, self.settings, self._signer, self.directory.list_segments, self._name
            )
            disk = Disk(self.directory, opening, self._values, held)
        refuse_in_children(self._queue)
        opened.callback(disk.close)
        relay = AnchorRelay(anchors)
        opened.callback(relay.close)
        self._commits = GroupCommit(self._queue, disk, relay, self.settings, self._note_failure)
        self._write_opening(opening)

    def _open_values(self) -> ValueStore | None:
        # Also for a log that is now written inline: values that it has can still be redacted.
        if self._commits_to_values or self.directory.values.exists():
            return ValueStore(self.directory.values)
        return None

    def _write_opening(self, opening: Opening) -> None:
        """The first records are on disk before anybody gets the log."""
        unfinished = self._values.list_unfinished_redactions() if self._values else []
        with self._commits.lock:
            # After damage `broken` is the first record, so that no reader can overlook it.
            if not opening.alarm:
                self._queue.add_opening()
            for one in (*opening.records, *unfinished):
                self._queue.add_own(one)
            self._queue.add_checkpoint()
        if opening.alarm:
            self._raise_alarm(f"The audit log {self.directory.path} is damaged: {opening.alarm}")
        with raise_unavailable(f"write the audit log {self.directory.path}"):
            self._commits.flush(sync=True)
            self.directory.failed.unlink(missing_ok=True)
        self._finish_redactions(unfinished)

    def _finish_redactions(self, orders: Iterable[ValueRedacted]) -> None:
        """Redactions that a crash interrupted: the values go now, the records may stand twice."""
        for order in orders:
            assert self._values is not None
            self._values.delete(order.commitment)

    def _refuse_if_unavailable(self) -> None:
        """Under the lock."""
        if self._commits.failure is not None:
            raise AuditUnavailable(f"The audit trail takes no records: {self._commits.failure}")
        if self._commits.closing:
            raise AuditUnavailable("The audit trail takes no records: it is closed")
        if self._process != os.getpid():
            raise AuditUnavailable(
                f"The audit log {self.directory.path} belongs to process {self._process}; "
                "a child needs a log of its own"
            )
        waiting = self._queue.waiting_bytes
        if waiting > self._queue.most_waiting:
            raise AuditUnavailable(
                f"{waiting} bytes of the audit trail wait for a disk that is too slow"
            )

    def _note_failure(self, reason: str) -> None:
        """Tell the next writer, and whoever runs this one."""
        try:
            write_file(self.directory.failed, reason.encode("utf-8", "replace"))
        except OSError:
            logger.warning("The failure of %s could not be noted", self.directory.path)
        self._raise_alarm(f"The audit log {self.directory.path} has failed: {reason}")

    def _raise_alarm(self, message: str) -> None:
        logger.error(message)
        if self._alarm:
            self._alarm(message)
