"""Running a command whenever a file is saved."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from amplifier_hooks.cli.commands.hooks.testing import run_at_each_change
from tests.support.waiting import wait_until


def watch(command: list[str], path: Path, rounds: int) -> None:
    """Run a command for a file; Ctrl-C comes when it would be run once more."""

    def find() -> Iterator[Path]:
        nonlocal rounds
        if rounds == 0:
            raise KeyboardInterrupt
        rounds -= 1
        yield path

    run_at_each_change(command, find)


@contextmanager
def saving(path: Path, log: Path, *moments: tuple[str, str]) -> Iterator[None]:
    """Save texts one after another, each as soon as another text is in the log."""

    def is_there(wanted: str) -> bool:
        return wanted in log.read_text()

    def save() -> None:
        for wanted, text in moments:
            asyncio.run(wait_until(partial(is_there, wanted)))
            path.write_text(text)

    log.touch()
    thread = threading.Thread(target=save)
    thread.start()
    yield
    thread.join()


def test_a_command_runs_again_when_a_file_changes(tmp_path: Path) -> None:
    """Ctrl-C ends it."""
    path, log = tmp_path / "hook.py", tmp_path / "log"
    path.write_text("first,")
    with saving(path, log, ("first,", "second,"), ("second,", "third")):
        watch(["sh", "-c", f"cat {path} >> {log}"], path, 2)
    assert log.read_text() == "first,second,"


def test_a_command_that_still_runs_is_ended_for_the_next(tmp_path: Path) -> None:
    """Nobody waits for the result of files that have changed."""
    path, log = tmp_path / "hook.py", tmp_path / "log"
    path.write_text("first")
    with saving(path, log, ("begun", "second")):
        watch(["sh", "-c", f"echo begun > {log}; exec sleep 100"], path, 1)
    assert path.read_text() == "second"
