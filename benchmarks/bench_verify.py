"""Verifying a log against the least that it could do: read each line and hash it once.

one process     every record, its place in the chain and its JSON, the tree, the checkpoints
two processes   the segments of a log side by side, against one after the other
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
import tempfile
from pathlib import Path

from amplifier_audit import AuditLog, AuditSettings, verify
from benchmarks.harness import Body, Row, compare, report

# 250,000 records a second, on a machine that hashes 2,500,000 such lines.
GOAL = 10
RECORDS = 20_000
MANY = 200_000
AT_ONCE = 5_000


async def write_log(path: Path, count: int, segment_bytes: int) -> None:
    """A log of records as hooks make them, no two of them alike."""
    log = AuditLog(path, AuditSettings(checkpoint_seconds=3600, segment_bytes=segment_bytes))
    for number in range(count):
        body = {"action": "continue", "hook": f"guard-{number % 5}", "ms": number % 1000 / 1000}
        log.append("dispatch", body, session="session-1", turn=number // 10, event="tool:pre")
        if number % AT_ONCE == 0:
            await log.commit()
    await log.close()


def hash_lines(path: Path) -> Body:
    """One SHA-256 for each line of the log's segments."""
    paths = sorted(path.glob("0*.jsonl"))

    async def body(times: int) -> None:
        for _ in range(times):
            for one in paths:
                with one.open("rb") as file:
                    for line in file:
                        hashlib.sha256(line)

    return body


def verify_log(path: Path, jobs: int = 1) -> Body:
    """The verifier."""

    async def body(times: int) -> None:
        for _ in range(times):
            assert verify(path, jobs=jobs).verdict == "consistent"

    return body


def rows(folder: Path) -> list[Row]:
    """The table."""
    log, many = folder / "log", folder / "many"
    asyncio.run(write_log(log, RECORDS, 1 << 40))
    found = [
        compare(
            "verify / hash each line", hash_lines(log), verify_log(log), at_most=GOAL, rounds=30
        )
    ]
    if len(os.sched_getaffinity(0)) > 1:
        asyncio.run(write_log(many, MANY, 12 << 20))
        what = "verify with two processes / with one"
        found.append(compare(what, verify_log(many), verify_log(many, 2), at_most=0.75, rounds=4))
    return found


def main() -> None:
    """Print the table, and how many records a second that is."""
    with tempfile.TemporaryDirectory() as folder:
        found = rows(Path(folder))
    report("audit verify", found)
    if "--json" not in sys.argv:
        for row, records in zip(found, (RECORDS, MANY), strict=False):
            print(f"{row.what}: {records / row.subject_us * 1e6:,.0f} records/s")


if __name__ == "__main__":
    main()
