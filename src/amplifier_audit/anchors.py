"""Places outside the log's directory where its checkpoints go.

Whoever can write the directory can write everything in it, the state and the seals included. What
the verifier can rely on is a checkpoint that lies elsewhere.
"""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from amplifier_audit.checkpoint import Note
from amplifier_audit.log_directory import write_all

logger = logging.getLogger(__name__)
Anchor = Callable[[Note], None]


def anchor_to_file(path: str | os.PathLike[str]) -> Anchor:
    """Append each checkpoint to a file, which should lie on another volume or machine."""
    target = Path(path)

    def anchor(note: Note) -> None:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            # A blank line first: a crash may have left half a checkpoint at the end.
            write_all(descriptor, f"\n{note.text}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    return anchor


def anchor_to_stderr(note: Note) -> None:
    """Write each checkpoint to standard error, where a supervisor or journal keeps it."""
    sys.stderr.write(note.text + "\n")
    sys.stderr.flush()


class AnchorRelay:
    """Hands checkpoints to the anchors on a thread of its own: a slow one holds up nothing."""

    def __init__(self, anchors: Sequence[Anchor]) -> None:
        self._anchors = tuple(anchors)
        self._notes: queue.SimpleQueue[Note | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="audit-anchors", daemon=True)
        self.failures = 0
        if self._anchors:
            self._thread.start()

    def submit(self, note: Note) -> None:
        """Pass a checkpoint on, soon."""
        if self._anchors:
            self._notes.put(note)

    def close(self, timeout: float = 5.0) -> None:
        """Wait, but not forever, until all are passed on."""
        if self._anchors:
            self._notes.put(None)
            self._thread.join(timeout)

    def _run(self) -> None:
        while (note := self._notes.get()) is not None:
            for anchor in self._anchors:
                self._pass_on(anchor, note)

    def _pass_on(self, anchor: Anchor, note: Note) -> None:
        try:
            anchor(note)
        except Exception:
            self.failures += 1
            logger.exception(
                "An audit anchor did not take the checkpoint at %d", note.checkpoint.size
            )
