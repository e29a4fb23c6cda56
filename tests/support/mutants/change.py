"""The last change: which lines it touched, and a few faults to try there."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from tests.support.mutants.faults import Fault, find_faults

_FILE = re.compile(r"^\+\+\+ b/src/(.+)$")
_LINES = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


class NoHistory(Exception):
    """There is no git, no repository, or no commit before the last one."""


def list_changed_lines(root: Path, commit: str = "HEAD~1") -> dict[str, set[int]]:
    """The new lines of each file below src since a commit, those not committed yet included."""
    command = ["git", "-c", "core.quotePath=off", "diff", "--no-ext-diff", "--no-color"]
    command += ["--unified=0", "--src-prefix=a/", "--dst-prefix=b/", commit, "--", "src"]
    try:
        shown = subprocess.run(
            command, cwd=root, capture_output=True, encoding="utf-8", check=False, timeout=60
        )
    except OSError as error:
        raise NoHistory(f"git cannot be run: {error}") from error
    if shown.returncode:
        raise NoHistory(shown.stderr.strip().partition("\n")[0] or "git says nothing")
    return read_lines(shown.stdout.splitlines())


def read_lines(diff: Iterable[str]) -> dict[str, set[int]]:
    """The new lines that a diff without context tells of, by file."""
    lines: dict[str, set[int]] = {}
    current: set[int] = set()
    for line in diff:
        if line.startswith("+++ "):
            file = _FILE.match(line)
            current = lines.setdefault(file[1], set()) if file else set()
        elif hunk := _LINES.match(line):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            current.update(range(start, start + count))
    return lines


def choose_faults(
    sources: Path, changed: Mapping[str, set[int]], guarded: Iterable[str], count: int
) -> list[Fault]:
    """So many faults in the changed lines of one guarded file; by its content, so not by chance."""
    for path in sorted(set(guarded) & set(changed), key=lambda one: _digest(sources / one)):
        found = [
            fault
            for fault in find_faults(path, (sources / path).read_text(encoding="utf-8"))
            if changed[path] & set(range(fault.line, fault.last_line + 1))
        ]
        if found:
            chosen = random.Random(_digest(sources / path)).sample(found, min(count, len(found)))
            return sorted(chosen, key=lambda one: one.start)
    return []


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
