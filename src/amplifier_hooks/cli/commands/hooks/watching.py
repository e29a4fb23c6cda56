"""Watching files: a command is run again whenever one of them is saved."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

from amplifier_hooks.agent.session.watched_files import Stamp, stamp_files
from amplifier_hooks.cli.text.escape import escape
from amplifier_hooks.cli.text.output import is_terminal, print_line, print_wrapped

_PAUSE = 0.2
"""Seconds between two looks at the files."""

_PATIENCE = 2.0
"""Seconds that a command gets to end by itself when it is told to."""


def run_at_each_change(command: Sequence[str], find_files: Callable[[], Iterable[Path]]) -> None:
    """Run a command now and after each change, until Ctrl-C.

    Each run is a process of its own: it imports every file anew, and what hangs can be ended.
    """
    try:
        while True:
            files = list(find_files())
            seen = stamp_files(files)
            if is_terminal():
                click.clear()
            if _run(command, files, seen):
                _tell(files)
                _wait_for_change(files, seen)
    except KeyboardInterrupt:
        print_line("")


def _run(command: Sequence[str], files: Sequence[Path], seen: Stamp) -> bool:
    """Run the command; False if a file changed meanwhile and it was ended for that."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        while child.poll() is None:
            if stamp_files(files) != seen:
                return False
            _wait(child)
        return True
    finally:
        _end(child)


def _wait(child: subprocess.Popen[bytes]) -> None:
    try:
        child.wait(_PAUSE)
    except subprocess.TimeoutExpired:
        return


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _wait_for_change(files: Sequence[Path], seen: Stamp) -> None:
    while stamp_files(files) == seen:
        time.sleep(_PAUSE)


def _tell(files: Iterable[Path]) -> None:
    shown = dict.fromkeys(_shorten(path) for path in files if path.exists())
    print_line("")
    names = ", ".join(escape(name) for name in shown)
    print_wrapped(0, ("dim", f"Waiting for changes of {names}. Ctrl-C ends."))


def _shorten(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
