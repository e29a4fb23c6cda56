"""Trying faults: the tests of one file run with one fault of it at a time.

The tests are loaded once. For each fault the process forks, the fault is put into the loaded
functions, and those tests run that pass the line. A fault that is in no function, or on a line that
no test passes in this process, is tried with all tests of the file, from a new start.
Usage: python -m tests.support.mutants.trials TASK RESULTS
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass
from itertools import count
from math import inf
from mmap import mmap
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.support.mutants.faults import Fault
from tests.support.mutants.swapping import swap_functions

ROOT = Path(__file__).resolve().parents[3]
LONGEST = 240.0
"""Seconds that a test may take while its lines are watched, and all of a file with a fault."""
FAILED, NOT_SWAPPED = 1, 2
# Without the time-out of the suite: a test that is watched takes several times as long.
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--timeout=0", "--tb=no"]


@dataclass(frozen=True)
class Rehearsal:
    """What one test took without a fault: the time, and the lines of the file that it passed."""

    seconds: float
    lines: frozenset[int]


class Trials:
    """The part of a pytest run that tries faults instead of running every test once."""

    def __init__(
        self, faults: list[Fault], sources: Path, results: Path, seconds: float = inf
    ) -> None:
        self.faults, self.results = faults, results
        self.deadline = time.monotonic() + seconds
        self.file = sources / faults[0].path
        self.text = self.file.read_text(encoding="utf-8")
        self.again = Again(sources)
        self.noticing: dict[str, int] = {}
        self.numbers = count(1)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.again.tests = list(session.config.args)
        rehearsals = self.rehearse(session)
        with self.results.open("w", encoding="utf-8") as out:
            for fault in self.faults:
                if time.monotonic() > self.deadline:
                    return True
                noticed = self.is_noticed(session, fault, rehearsals)
                print(json.dumps({**asdict(fault), "noticed": noticed}), file=out, flush=True)
        # Had the trials themselves left something behind, the tests would fail by now.
        if self.run_near(session, None, session.items, LONGEST / 2) != 0:
            self.results.unlink()
            raise pytest.UsageError(f"{self.faults[0].path}: the tests fail behind the last fault")
        return True

    def rehearse(self, session: pytest.Session) -> dict[str, Rehearsal]:
        """Run every test without a fault, in a process of its own, and watch where it goes."""
        notes = self.results.with_suffix(".rehearsal")
        with mmap(-1, 4) as place:
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                leave(lambda: notes.write_text(json.dumps(self.watch(session, place))) and 0)
            if (code := wait(pid, LONGEST, place)) != 0:
                how = "fails" if code == FAILED else f"ended with {code}"
                name = session.items[int.from_bytes(place[:], "big")].nodeid
                raise pytest.UsageError(f"{self.faults[0].path}: without any fault, {name} {how}")
        told = json.loads(notes.read_text())
        return {name: Rehearsal(seconds, frozenset(lines)) for name, seconds, lines in told}

    def watch(self, session: pytest.Session, place: mmap) -> list[tuple[str, float, list[int]]]:
        told = []
        for index, item in enumerate(session.items):
            place[:] = index.to_bytes(4, "big")
            lines: set[int] = set()
            begun = time.perf_counter()
            with_lines(str(self.file), lines)
            run_items(session, [item])
            if session.testsfailed:
                raise AssertionError(item.nodeid)
            told.append((item.nodeid, time.perf_counter() - begun, sorted(lines)))
        return told

    def is_noticed(
        self, session: pytest.Session, fault: Fault, rehearsals: dict[str, Rehearsal]
    ) -> bool:
        """Whether a test fails with the fault."""
        near = self.order(
            [
                item
                for item in session.items
                if rehearsals[item.nodeid].lines & set(range(fault.line, fault.last_line + 1))
            ],
            rehearsals,
        )
        changed = fault.apply(self.text)
        self.file.write_text(changed, encoding="utf-8")
        try:
            longest = max((rehearsals[item.nodeid].seconds for item in near), default=0)
            code = self.run_near(session, fault, near, 10 + 8 * longest) if near else NOT_SWAPPED
            return code != 0 if code != NOT_SWAPPED else self.again.run() != 0
        finally:
            self.file.write_text(self.text, encoding="utf-8")

    def order(
        self, items: list[pytest.Item], rehearsals: dict[str, Rehearsal]
    ) -> list[pytest.Item]:
        """Tests that noticed other faults first, then one of each way through the file."""
        items = sorted(items, key=lambda item: rehearsals[item.nodeid].seconds)
        ways: Counter[frozenset[int]] = Counter()
        ranks = {}
        for item in items:
            lines = rehearsals[item.nodeid].lines
            ranks[item] = (-self.noticing.get(item.nodeid, 0), ways[lines])
            ways[lines] += 1
        return sorted(items, key=ranks.__getitem__)

    def run_near(
        self, session: pytest.Session, fault: Fault | None, near: list[pytest.Item], seconds: float
    ) -> int:
        """The exit code of some tests with the fault in the functions that are loaded.

        A test that takes longer than these seconds hangs.
        """
        with mmap(-1, 4) as place:
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                leave(lambda: self.swap(fault) or run_items(session, near, place))
            code = wait(pid, seconds, place)
            if near and code == FAILED:
                self.noticing[near[int.from_bytes(place[:], "big")].nodeid] = next(self.numbers)
            return code

    def swap(self, fault: Fault | None) -> int:
        """Put a fault in, if there is one; the exit code if that cannot be."""
        if fault is None:
            return 0
        done = swap_functions(str(self.file), self.text, fault.apply(self.text), fault.line)
        return 0 if done else NOT_SWAPPED


class Again:
    """All tests of the file, from a new start."""

    def __init__(self, sources: Path) -> None:
        self.sources, self.tests = sources, list[str]()

    def run(self) -> int:
        """The exit code."""
        command = [sys.executable, "-m", "pytest", *OPTIONS]
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            process = subprocess.Popen(
                [*command, f"--basetemp={folder}/base", *self.tests],
                cwd=ROOT, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            try:
                return process.wait(LONGEST)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return process.wait()


def leave(run: Any) -> None:
    """End this process with the code of what is run; anything raised is a failure."""
    code = FAILED
    try:
        code = int(run())
    finally:
        os._exit(code)


def run_items(session: pytest.Session, items: list[pytest.Item], place: mmap | None = None) -> int:
    """Run tests until one fails; `place` tells at which of them this is."""
    for index, item in enumerate(items):
        if place is not None:
            place[:] = index.to_bytes(4, "big")
        following = items[index + 1] if index + 1 < len(items) else None
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return FAILED
    return 0


def with_lines(file: str, lines: set[int]) -> None:
    """Note the lines of a file that are passed from now on."""

    def trace(frame: FrameType, kind: str, value: object) -> Any:
        if frame.f_code.co_filename != file:
            return None
        lines.add(frame.f_lineno)
        return trace

    threading.settrace(trace)
    sys.settrace(trace)


def wait(pid: int, seconds: float, place: mmap | bytes = b"") -> int:
    """How the process ended; one that stays too long at one place is ended, with its children."""
    at, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if place[:] != at:
            at, deadline = place[:], time.monotonic() + seconds
        time.sleep(0.01)
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -signal.SIGKILL


def main(task: Path, results: Path) -> int:
    """Try the faults of a task; the exit code of pytest."""
    given = json.loads(task.read_text(encoding="utf-8"))
    faults = [Fault(**one) for one in given["faults"]]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        sources = Path(folder, "src")
        shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__"))
        sys.path.insert(0, str(sources))
        sys.dont_write_bytecode = True
        os.environ |= {
            "PYTHONPATH": str(sources),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_PROFILE": "mutants",
        }
        plugin = Trials(faults, sources, results, given.get("seconds", inf))
        options = [*OPTIONS, f"--basetemp={folder}/base"]
        return int(pytest.main([*options, *given["tests"]], plugins=[plugin]))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
