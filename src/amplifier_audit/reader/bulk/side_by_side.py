"""Verifies several segments at a time, each in a process of its own.

The processes are begun anew, not forked: whoever verifies may have threads or an event loop. They
know nothing but what they are sent, and end when this one does, however it ends.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path

from amplifier_audit.files.log_files import LogFiles
from amplifier_audit.reader.bulk.segment_task import SegmentTask, VerifiedSegment

# To begin processes takes as long as to verify so many bytes.
SMALL = 32 * 1024 * 1024
_PROGRAM = (
    "import sys; sys.path[:] = {}; from amplifier_audit.reader.bulk.worker import serve; serve({})"
)
_FOLDER = str(Path(__file__).parents[3])


def choose_jobs(log: LogFiles, wanted: int | None = None) -> int:
    """How many segments to verify at a time: as wanted, or as many as there are cores for."""
    if wanted is not None:
        return wanted
    if len(log.paths) < 2 or log.size < SMALL:
        return 1
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def verify_side_by_side(
    tasks: Sequence[SegmentTask | None], jobs: int, progress: Callable[[int], None] | None = None
) -> dict[int, VerifiedSegment]:
    """The segments that are all right, by number; `progress` is told the bytes that were read.

    Those that cannot be sent, or whose process is killed, are not among them.
    """
    given = {number: task for number, task in enumerate(tasks) if task}
    try:
        waiting = [(number, pickle.dumps(task)) for number, task in given.items()]
    except Exception:  # noqa: BLE001 - a key may be of any class
        return {}
    run = _Run(given, waiting[::-1])
    with ExitStack() as stack:
        workers: list[Connection] = []
        with suppress(OSError):  # no such Python, or no more processes: those that run do it all
            while _can_start() and len(workers) < min(jobs, len(given)):
                workers.append(stack.enter_context(_start_worker()))
        run.run(workers, progress)
    return run.found


@dataclass(slots=True)
class _Run:
    """Each process has one task at a time, so that none waits while another has two."""

    tasks: Mapping[int, SegmentTask]
    waiting: list[tuple[int, bytes]]
    found: dict[int, VerifiedSegment] = field(default_factory=dict)
    _busy: dict[Connection, int] = field(default_factory=dict)
    _read: dict[int, int] = field(default_factory=dict)

    def run(
        self, workers: Iterable[Connection], progress: Callable[[int], None] | None = None
    ) -> None:
        """Until there is nothing left to wait for."""
        for worker in workers:
            self._give(worker)
        while self._busy:
            ready = wait(list(self._busy))
            for worker in filter(ready.__contains__, list(self._busy)):
                self._hear(worker)
            if progress:
                progress(sum(self._read.values()))

    def _give(self, worker: Connection) -> None:
        if self.waiting:
            self._busy[worker], content = self.waiting.pop()
            with suppress(OSError):  # it was killed, which is heard next
                worker.send_bytes(content)

    def _hear(self, worker: Connection) -> None:
        number = self._busy[worker]
        try:
            message = worker.recv()
        except (EOFError, OSError):
            del self._busy[worker]
            return
        if isinstance(message, int):
            self._read[number] = message - self.tasks[number].offset
            return
        del self._busy[worker]
        if message is not None:
            self.found[number] = message
        self._give(worker)


def _can_start() -> bool:
    """Whether there is a Python to start, and a socket can be handed to it."""
    return os.name == "posix" and bool(sys.executable) and not hasattr(sys, "frozen")


@contextmanager
def _start_worker() -> Iterator[Connection]:
    """A process, as the end of the socket that leads to it."""
    ours, theirs = Pipe()
    with ours, theirs:
        program = _PROGRAM.format([_FOLDER, *sys.path], theirs.fileno())
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        try:
            yield ours
        finally:
            process.kill()
            process.wait()
