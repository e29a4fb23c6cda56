"""Several processes: they find what one does, and none is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import parallel
from amplifier_audit.line_verifier import LineVerifier
from amplifier_audit.log_directory import LogFiles, open_log
from amplifier_audit.parallel import SegmentTask, choose_jobs, list_tasks, verify_side_by_side
from amplifier_audit.record import Head
from amplifier_audit.settings import AuditSettings
from amplifier_audit.verification import verify
from tests.audit.support import ROOT, SIGNER, VERIFIER, count_open_files, write_log

SETTINGS = AuditSettings(segment_bytes=400_000, gather_seconds=0.001)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of several segments, signed."""
    path = tmp_path_factory.mktemp("side") / "log"
    asyncio.run(write_log(path, 4000, SETTINGS, signer=SIGNER, name="log"))
    assert len(open_log(path).paths) >= 4
    return path


def make_tasks(log: Path, key: Any = None) -> list[SegmentTask | None]:
    """One for each segment."""
    return list_tasks(LineVerifier(key=key), open_log(log).paths, 0, None)


def list_children() -> set[str]:
    """The processes that this one has started."""
    found: set[str] = set()
    for thread in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread of another test has ended
            found.update((thread / "children").read_text().split())
    return found


@pytest.mark.parametrize("jobs", [1, 2, 9])
def test_all_segments_are_found_to_be_right(log: Path, jobs: int) -> None:
    """Whatever the number of processes, and none of them stays."""
    before, files = list_children(), count_open_files()
    told: list[int] = []
    found = verify_side_by_side(make_tasks(log, VERIFIER), jobs, told.append)
    assert sorted(found) == list(range(len(open_log(log).paths)))
    assert told == sorted(told)
    assert 0 < told[-1] <= open_log(log).size
    assert (list_children(), count_open_files()) == (before, files)


def test_the_verdict_is_that_of_one_process(log: Path) -> None:
    """Of the whole log."""
    told: list[int] = []
    both = verify(log, key=VERIFIER, jobs=2, progress=told.append)
    assert both == verify(log, key=VERIFIER)
    assert told


def test_a_segment_with_a_flaw_is_not_among_them(log: Path) -> None:
    """Nor one without a task."""
    tasks = make_tasks(log)
    assert tasks[1]
    tasks[0] = None
    tasks[2] = SegmentTask(tasks[1].path, Head(), None)
    assert set(verify_side_by_side(tasks, 2)) == set(range(len(tasks))) - {0, 2}


def test_a_key_that_cannot_be_sent_is_used_here(log: Path) -> None:
    """A class of somebody else may hold anything."""

    class Key:
        name = VERIFIER.name
        key_id = VERIFIER.key_id

        def __init__(self) -> None:
            self.lock = threading.Lock()

        def verify(self, message: bytes, signature: bytes) -> bool:
            return VERIFIER.verify(message, signature)

    assert verify_side_by_side(make_tasks(log, Key()), 2) == {}
    assert verify(log, key=Key(), jobs=2) == verify(log, key=VERIFIER)


class Unknown:
    """A key of which the other process does not know the class, because nothing is imported."""

    name = VERIFIER.name
    key_id = VERIFIER.key_id

    def __reduce__(self) -> tuple[Any, ...]:
        return (os._exit, (3,))

    def verify(self, message: bytes, signature: bytes) -> bool:
        return VERIFIER.verify(message, signature)


def test_a_process_that_dies_costs_time_only(log: Path) -> None:
    """What it had to do is done here."""
    assert verify_side_by_side(make_tasks(log, Unknown()), 2) == {}
    assert verify(log, key=Unknown(), jobs=2) == verify(log, key=VERIFIER)


@pytest.mark.parametrize(
    ("name", "value"), [("executable", ""), ("executable", "/no/python"), ("frozen", True)]
)
def test_without_a_python_to_start_there_is_one_process(
    log: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: Any
) -> None:
    """In a program that is one file, for instance."""
    monkeypatch.setattr(sys, name, value, raising=False)
    assert verify(log, jobs=2).verdict == "consistent"
    assert verify_side_by_side(make_tasks(log), 2) == {}


class Stopped(Exception):
    """Whoever is told the progress has had enough."""


def test_an_exception_leaves_no_process_behind(log: Path) -> None:
    """The progress may raise."""
    before = list_children()

    def stop(_: int) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        verify(log, jobs=2, progress=stop)
    assert list_children() == before


async def test_it_works_in_a_thread_of_an_event_loop(log: Path) -> None:
    """Twice at the same time, while the loop goes on."""
    reports = await asyncio.gather(*(asyncio.to_thread(verify, log, jobs=2) for _ in range(2)))
    assert [report.verdict for report in reports] == ["consistent"] * 2


PROGRAM = """
import sys, time
from amplifier_audit import verify

def wait(_):
    print("reading", flush=True)
    time.sleep(60)

verify(sys.argv[1], jobs=2, progress=wait)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_processes_end_with_the_one_that_started_them(
    log: Path, number: signal.Signals
) -> None:
    """A program without a guard around its main part, interrupted or killed."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(log)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        start_new_session=True,
    ) as process:
        assert process.stdout
        process.stdout.readline()
        os.killpg(process.pid, number) if number == signal.SIGINT else process.kill()
        process.wait(20)
    deadline = time.monotonic() + 20
    while _is_there(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_there(process.pid)


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_small_logs_and_single_segments_need_one_process(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless somebody wants more."""
    files = open_log(log)
    cores = len(os.sched_getaffinity(0))
    assert choose_jobs(files) == 1
    assert choose_jobs(files, 3) == 3
    monkeypatch.setattr(parallel, "SMALL", 1000)
    assert choose_jobs(files) == cores
    assert choose_jobs(LogFiles(files.paths[:1], files.numbers[:1], None, None)) == 1
