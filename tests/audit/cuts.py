"""Cuts a log at every byte and checks what the next writer makes of it.

For each cut twice: once the cut lies after the acknowledged position (a crash: everything before
the torn line survives, the torn bytes are in quarantine), once before it (no crash: the log is
reported as broken and not touched). `python -m tests.audit.cuts --bytes 1000000` for the whole.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from amplifier_audit.line_verifier import LineVerifier
from amplifier_audit.log_directory import AuditDirectory
from amplifier_audit.record import Head
from amplifier_audit.recovery import recover
from amplifier_audit.settings import AuditSettings
from amplifier_audit.state import State, StateFile, read_state
from amplifier_audit.verification import verify
from tests.audit.support import write_log


class Cutter:
    """Rebuilds a log line by line and cuts each line everywhere."""

    def __init__(self, root: Path, size: int) -> None:
        asyncio.run(write_log(root / "model", 1, AuditSettings()))
        asyncio.run(write_log(root / "model", max(1, size // 430), AuditSettings()))
        self._lines = (root / "model" / "00000000.jsonl").read_bytes().splitlines(keepends=True)
        end = read_state(root / "model" / "state")
        assert end is not None
        self._end = end
        self.after = AuditDirectory(root / "after")
        self.before = AuditDirectory(root / "before")
        for directory in (self.after, self.before):
            directory.create()
        self._path = self.after.segment_path(0)
        self._path.touch()
        self.before.segment_path(0).symlink_to(self._path)
        state = StateFile(self.before.state)
        state.write(end)
        state.close()
        self.wrong: list[str] = []
        self.cuts = 0

    def run(self, step: int = 1) -> None:
        """All cuts; with a larger step only each so many bytes."""
        verifier, offset = LineVerifier(), 0
        for line in self._lines:
            if offset:
                self._acknowledge(State(self._end.log, 0, offset, verifier.head))
            for kept in range(0, len(line), step):
                self._cut(line[:kept], verifier.head, offset)
            verifier.feed(line)
            self._append(line)
            offset += len(line)

    def _cut(self, torn: bytes, head: Head, offset: int) -> None:
        self.cuts += 1
        if self.cuts % 50_000 == 0:
            sys.stderr.write(f"{self.cuts} cuts, {len(self.wrong)} wrong\n")
        self._append(torn)
        self._check_reported(head, offset + len(torn))
        opening = recover(self.after)
        expected = (head.size, head.hash, offset, 0)
        found = (opening.head.size, opening.head.hash, opening.offset, opening.segment)
        if found != expected or self._path.stat().st_size != offset:
            self.wrong.append(f"cut at {offset + len(torn)}: went on at {found}, not {expected}")
        if self._quarantined() != torn:
            self.wrong.append(f"cut at {offset + len(torn)}: the torn bytes are not in quarantine")

    def _check_reported(self, head: Head, size: int) -> None:
        opening = recover(self.before)
        if not opening.alarm or self._path.stat().st_size != size:
            self.wrong.append(f"cut at {size} below the acknowledged end: no alarm, or touched")
        if size % 97 == 0 and size:
            report = verify(self.before.path)
            named = report.finding and report.finding.sequence
            if report.verdict != "tampered" or named != head.size:
                self.wrong.append(
                    f"cut at {size}: {report.verdict}, names {named}, not {head.size}"
                )

    def _quarantined(self) -> bytes:
        files = list(self.after.quarantine.glob("*.bin"))
        content = b"".join(path.read_bytes() for path in files)
        for path in files:
            path.unlink()
        return content

    def _acknowledge(self, state: State) -> None:
        file = StateFile(self.after.state)
        file.write(state)
        file.close()

    def _append(self, content: bytes) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, content)
        os.close(descriptor)


def main() -> None:
    """Print one line of JSON."""
    options = argparse.ArgumentParser()
    options.add_argument("--bytes", type=int, default=4000)
    given = options.parse_args()
    memory = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    start = time.monotonic()
    try:
        cutter = Cutter(root, given.bytes)
        cutter.run()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    spent = round(time.monotonic() - start, 1)
    result = {"cuts": cutter.cuts, "wrong": len(cutter.wrong), "seconds": spent}
    sys.stdout.write(json.dumps({**result, "problems": cutter.wrong[:10]}) + "\n")


if __name__ == "__main__":
    main()
