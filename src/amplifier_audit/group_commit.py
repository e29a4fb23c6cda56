"""Group commit: a thread writes what has gathered, and one sync serves all who wait for it.

A sync takes as long for a hundred records as for one. So while one is under way the next records
gather, and those who wait for them are released together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

from amplifier_audit.anchors import AnchorRelay
from amplifier_audit.disk import Disk, TakenAway
from amplifier_audit.line_maker import RecordQueue
from amplifier_audit.settings import AuditSettings
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
