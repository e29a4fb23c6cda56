"""What the tests of the audit trail share."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.checkpoint import Note, Signer, make_note
from amplifier_audit.encoding import encode_body, encode_source
from amplifier_audit.keys import Ed25519Signer, Ed25519Verifier
from amplifier_audit.line_verifier import LineVerifier
from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import AuditDirectory, open_log
from amplifier_audit.merkle import Tree, hash_leaf
from amplifier_audit.reader import read_records
from amplifier_audit.record import Chain, Head, Record, make_log_id, parse_record
from amplifier_audit.report import Mismatch, Report
from amplifier_audit.settings import AuditSettings
from amplifier_audit.state import State, StateFile
from amplifier_audit.verification import verify

SIGNER = Ed25519Signer(bytes(range(32)))
VERIFIER = Ed25519Verifier.from_text(SIGNER.public)
OTHER = Ed25519Signer(bytes(range(1, 33)))
FAST = AuditSettings(gather_seconds=0.001)
WRITER_THREAD = "audit-writer"
ROOT = Path(__file__).parents[2]


# Lines without files


def make_source(type: str = "dispatch") -> bytes:
    """The members of a line that say where it comes from."""
    return encode_source(type, "s1", 1, "tool:pre", "guard", 7)


def make_lines(
    count: int, *, signer: Signer | None = None, log: str | None = None, every: int = 50
) -> list[bytes]:
    """The lines of a log as a writer makes them: a checkpoint second and then now and again."""
    chain = Chain(log or make_log_id())
    lines: list[bytes] = []
    body: dict[str, Any]
    while chain.size < count:
        if chain.size == 0:
            source, body = make_source("log_opened"), {"checkpoint_every": every}
        elif chain.size % every == 1:
            note = make_note(chain.log, chain.size, chain.tree.compute_root(), signer)
            source, body = make_source("checkpoint"), {"note": note.text}
        else:
            source, body = make_source(), {"n": chain.size, "text": "héllo \x7f"}
        lines.append(chain.extend(source, encode_body(body)))
    return lines


class LineCollector:
    """Appends as a log does, and keeps the lines in memory."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._chain = Chain(make_log_id())

    def append(
        self,
        type: Any,
        body: Any,
        *,
        session: Any = None,
        turn: Any = None,
        event: Any = None,
        hook: Any = None,
        registration: Any = None,
    ) -> None:
        source = encode_source(type, session, turn, event, hook, registration, foreign=True)
        self.lines.append(self._chain.extend(source, encode_body(body)))

    @property
    def records(self) -> list[Record]:
        return [parse_record(line) for line in self.lines]


def feed_lines(lines: Sequence[bytes], **options: Any) -> LineVerifier:
    """A verifier that has taken these lines."""
    verifier = LineVerifier(**options)
    for line in lines:
        verifier.feed(line)
    return verifier


def verify_lines(lines: Sequence[bytes], **options: Any) -> Report:
    """The verdict on these lines."""
    verifier = LineVerifier()
    try:
        verifier = LineVerifier(**options)
        for line in lines:
            verifier.feed(line)
    except Mismatch as mismatch:
        return verifier.report("tampered", mismatch.finding)
    return verifier.finish()


def make_anchor(lines: Sequence[bytes], size: int, signer: Signer | None = None) -> Note:
    """A checkpoint that was taken when the log had so many records."""
    root = feed_lines(lines[:size]).tree.compute_root()
    return make_note(parse_record(lines[0])["log"], size, root, signer)


def extend_log(lines: list[bytes], type: str, body: dict[str, Any]) -> list[bytes]:
    """The log with one more record."""
    chain = Chain(parse_record(lines[0])["log"], feed_lines(lines).head)
    return [*lines, chain.extend(make_source(type), encode_body(body))]


def locate(report: Report) -> tuple[str, int]:
    """Kind and sequence of what was found."""
    assert report.finding is not None
    return report.finding.kind, report.finding.sequence


# Trees


def make_leaves(count: int) -> list[bytes]:
    return [str(number).encode() for number in range(count)]


def make_tree(leaves: Sequence[bytes]) -> Tree:
    tree = Tree()
    for leaf in leaves:
        tree.push(hash_leaf(leaf))
    return tree


def define_root(leaves: Sequence[bytes]) -> bytes:
    """The root of a tree as RFC 6962 defines it: split at the largest power of two, recurse."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    middle = 1
    while middle * 2 < len(leaves):
        middle *= 2
    both = define_root(leaves[:middle]) + define_root(leaves[middle:])
    return hashlib.sha256(b"\x01" + both).digest()


# Logs in files


async def write_log(
    path: Path, count: int = 20, settings: AuditSettings = FAST, **options: Any
) -> None:
    """A closed log with so many records of our own."""
    log = await AuditLog.open(path, settings, **options)
    for number in range(count):
        log.append("dispatch", {"n": number, "action": "continue"}, session="s1", event="tool:pre")
    await log.commit()
    await log.close()


def reopen(path: Path) -> tuple[list[str], Report]:
    """Open and close the log; the alarms, and what a verifier says then."""
    alarms: list[str] = []
    AuditLog(path, AuditSettings(), alarm=alarms.append).close_now()
    return alarms, verify(path)


def write_lines(path: Path, lines: Sequence[bytes]) -> Path:
    """A directory whose first segment has these lines, without a state."""
    path.mkdir(parents=True, exist_ok=True)
    first_segment(path).write_bytes(b"".join(lines))
    return path


def write_state(path: Path, state: State) -> None:
    """Put this state in the place of the one that is there."""
    target = AuditDirectory(path).state
    target.unlink(missing_ok=True)
    file = StateFile(target)
    file.write(state)
    file.close()


def acknowledge(path: Path, lines: Sequence[bytes], count: int) -> Head:
    """Let the state say that the first so many lines of the first segment were acknowledged."""
    head = feed_lines(lines[:count]).head
    log = parse_record(lines[0])["log"]
    write_state(path, State(log, 0, sum(map(len, lines[:count])), head))
    return head


def first_segment(path: Path) -> Path:
    return AuditDirectory(path).segment_path(0)


def read_types(path: Path) -> list[str]:
    return [record["type"] for record in read_records(open_log(path))]


def read_bodies(path: Path, type: str) -> list[Any]:
    return [record["body"] for record in read_records(open_log(path)) if record["type"] == type]


def count_open_files() -> int:
    """How many descriptors this process has, to see whether one was left open."""
    gc.collect()  # what other tests left behind must not go while this one counts
    return len(list(Path("/dev/fd").iterdir()))


def read_all_files(path: Path) -> bytes:
    """Everything below a directory, to look for what must not be there."""
    return b"".join(one.read_bytes() for one in sorted(path.rglob("*")) if one.is_file())


def run_program(name: str, *arguments: str, timeout: float) -> dict[str, Any]:
    """Run a program of these tests, which prints one line of JSON."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.audit.{name}", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


# Disks that fail


def break_call(monkeypatch: pytest.MonkeyPatch, name: str, code: int) -> None:
    """Let a system call fail, on the writer's thread only."""
    real = getattr(os, name)

    def call(*args: Any) -> Any:
        if threading.current_thread().name == WRITER_THREAD:
            raise OSError(code, os.strerror(code))
        return real(*args)

    monkeypatch.setattr(os, name, call)


class HeldCall:
    """A system call that does not return, on the writer's thread, until it is released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        self.count = 0
        self.reached = threading.Event()
        self._released = threading.Event()
        self._real: Callable[..., Any] = getattr(os, name)
        monkeypatch.setattr(os, name, self._call)

    def release(self) -> None:
        """Let this call and all later ones go through."""
        self._released.set()

    def _call(self, *args: Any) -> Any:
        if threading.current_thread().name == WRITER_THREAD:
            self.count += 1
            self.reached.set()
            assert self._released.wait(20)
        return self._real(*args)
