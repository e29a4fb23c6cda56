"""Verifying the segments of a log side by side, in processes of their own."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path

from amplifier_audit.checkpoint import Note, SignatureVerifier
from amplifier_audit.errors import AuditError
from amplifier_audit.line_verifier import LineVerifier, Unsigned
from amplifier_audit.log_directory import (
    LogFiles,
    read_batches,
    read_first_record,
    read_head_before,
    read_lines,
)
from amplifier_audit.own_records import LogOpened
from amplifier_audit.quick_lines import LineBatches, Shapes
from amplifier_audit.record import Head
from amplifier_audit.report import Mismatch

# Records after which the progress is told.
STEP = 1024


class Contradiction(Mismatch):
    """The line is right, but not the one that the writer acknowledged."""


@dataclass(slots=True)
class SegmentFeed:
    """Feeds the lines from byte `end` on; `end` moves on behind each line that is right.

    `acknowledged` is what the writer's own state knows, `progress` is told where the reading is.
    """

    verifier: LineVerifier
    path: Path
    end: int
    shapes: Shapes
    acknowledged: Head | None = None
    progress: Callable[[int], None] | None = None
    line: bytes = b""

    def run(self) -> None:
        """All lines; Mismatch if another one belongs where `line` is, which begins at `end`."""
        batches = LineBatches(self.verifier, self.shapes)
        for lines in read_batches(self.path, self.end):
            first = 0
            while first < len(lines):
                first += self._feed_some(batches, lines, first)
        for _, line in read_lines(self.path, self.end):
            self.line = line
            self.verifier.feed(line)
            self._move_on(len(line), len(line))

    def _feed_some(self, batches: LineBatches, lines: list[bytes], first: int) -> int:
        """Many ordinary lines, or one that is not; how many."""
        taken = batches.take(lines, first, self._find_stop())
        if not taken:
            self.line = lines[first]
            batches.feed(self.line)
            taken = 1
        behind = first + taken
        self._move_on(sum(map(len, lines[first:behind])), len(lines[behind - 1]))
        return taken

    def _find_stop(self) -> int:
        """The size at which there is something to do."""
        size = self.verifier.size
        told = (size | STEP - 1) + 1
        known = self.acknowledged
        return min(told, known.size) if known and known.size > size else told

    def _move_on(self, read: int, last: int) -> None:
        size = self.verifier.size
        known = self.acknowledged
        if known and size == known.size and self.verifier.hash != known.hash:
            self.end += read - last
            raise Contradiction("fork", size, "not the history that the writer acknowledged")
        self.end += read
        if self.progress and not size % STEP:
            self.progress(self.end)


@dataclass(frozen=True, slots=True)
class SegmentTask:
    """A segment, from byte `offset`, and all that a verifier knows when it comes to it.

    `until` is where the next segment says that it begins; anchors beyond are not among `anchors`.
    """

    path: Path
    start: Head
    log: str | None
    offset: int = 0
    anchors: Sequence[Note] = ()
    key: SignatureVerifier | None = None
    unsigned: Unsigned = field(default_factory=Unsigned)
    acknowledged: Head | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class VerifiedSegment:
    """A segment in which all is right: the verifier that has read it, up to byte `end`."""

    task: SegmentTask
    verifier: LineVerifier
    end: int

    def join(self, verifier: LineVerifier) -> bool:
        """Move a verifier on behind the segment; False if it is not where the segment began."""
        task = self.task
        here = (verifier.log, verifier.head) == (task.log, task.start)
        counted = verifier.key is None or verifier.unsigned == task.unsigned
        within = task.until is None or self.verifier.size <= task.until
        if not (here and counted and within):
            return False
        verifier.join(self.verifier)
        return True


def list_tasks(
    verifier: LineVerifier, paths: Sequence[Path], offset: int, acknowledged: Head | None
) -> list[SegmentTask | None]:
    """For each segment, None where it does not say what it goes on from.

    The verifier is as it is before the first one, of which `offset` bytes are behind it.
    """
    tasks: list[SegmentTask | None] = [
        SegmentTask(
            paths[0],
            verifier.head,
            verifier.log,
            offset,
            # All of them: whether they are of this log, its first record tells.
            tuple(verifier.anchors),
            verifier.key,
            replace(verifier.unsigned),
            acknowledged,
        )
    ]
    tasks += [_make_task(path, verifier.key, acknowledged) for path in paths[1:]]
    following = [*tasks[1:], None]
    return [
        _add_anchors(task, after, verifier.anchors) if task and number else task
        for number, (task, after) in enumerate(zip(tasks, following, strict=True))
    ]


def run_task(
    task: SegmentTask, shapes: Shapes, progress: Callable[[int], None] | None = None
) -> VerifiedSegment | None:
    """Verify a segment; None if there is anything to say about it."""
    try:
        verifier = LineVerifier(task.anchors, task.key, task.log, task.start)
        verifier.unsigned = replace(task.unsigned)
        feed = SegmentFeed(verifier, task.path, task.offset, shapes, task.acknowledged, progress)
        feed.run()
        whole = task.path.stat().st_size >= task.offset
    except (Mismatch, AuditError, OSError):
        return None
    return VerifiedSegment(task, verifier, feed.end) if whole else None


def _make_task(
    path: Path, key: SignatureVerifier | None, acknowledged: Head | None
) -> SegmentTask | None:
    try:
        first = read_first_record(path)
        start = read_head_before(first) if first else None
    except (AuditError, ValueError):
        return None
    if first is None or start is None:
        return None
    # A segment ends with a signature, and the record that holds it is one since then.
    unsigned = Unsigned(own=1)
    unsigned.promise(LogOpened.parse(first["body"]).checkpoint_every, first=True)
    return SegmentTask(
        path, start, first["log"], key=key, unsigned=unsigned, acknowledged=acknowledged
    )


def _add_anchors(
    task: SegmentTask, after: SegmentTask | None, anchors: Iterable[Note]
) -> SegmentTask:
    """Those that speak of this segment, its end included."""
    until = after.start.size if after else None
    own = [
        note
        for note in anchors
        if note.checkpoint.size > task.start.size
        and (until is None or note.checkpoint.size <= until)
    ]
    return replace(task, anchors=tuple(own), until=until)


# To begin processes takes as long as to verify so many bytes.
SMALL = 32 * 1024 * 1024
_PROGRAM = "import sys; sys.path[:] = {}; from amplifier_audit.parallel import serve; serve({})"
_FOLDER = str(Path(__file__).parents[1])


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


def serve(descriptor: int) -> None:
    """Take tasks from a socket until its other end is closed; send what was found."""
    # A terminal interrupts all of its processes; the one that gives the tasks ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    shapes = Shapes()
    with Connection(descriptor) as connection:
        try:
            while True:
                task = connection.recv()
                connection.send(run_task(task, shapes, connection.send))
        except (EOFError, OSError):
            return
