"""Runs inside the isolation: each script in a fresh working directory, with what it left behind."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_SUBREAPER = 36
_LONGEST = 5.0
_FOLDERS = ("work", "home")

Look = dict[str, tuple[int, int, int]]


class Runner:
    """Runs scripts, one after the other, in the folders of a yard."""

    def __init__(self, root: Path, bash: str, protected: list[str]) -> None:
        self._root = root
        self._bash = bash
        self._protected = protected
        self._log = root / "log"
        self._fresh: Look = {}

    def run(self, script: str) -> tuple[list[str], list[str]]:
        """The marks of the programs that ran, and the protected files that changed."""
        if not self._fresh or self._look() != self._fresh:
            self._restore()
        self._log.write_text("")
        self._run_bash(script)
        end_children()
        return self._log.read_text(errors="replace").split(), self._list_changes()

    def _restore(self) -> None:
        for name in _FOLDERS:
            shutil.rmtree(self._root / name, ignore_errors=True)
            shutil.copytree(self._root / "template" / name, self._root / name, symlinks=True)
        self._fresh = self._look()

    def _look(self) -> Look:
        """Everything in the folders, as far as its size and times tell."""
        return {
            entry.path: (stat.st_size, stat.st_mtime_ns, stat.st_mode)
            for name in _FOLDERS
            for entry in walk(str(self._root / name))
            for stat in [entry.stat(follow_symlinks=False)]
        }

    def _list_changes(self) -> list[str]:
        after = self._look()
        # Times of folders change with what is in them; that is listed itself.
        changed = [
            path
            for path in self._fresh.keys() | after.keys()
            if self._fresh.get(path) != after.get(path) and not os.path.isdir(path)  # noqa: PTH112
        ]
        shown = (os.path.relpath(path, self._root / "work") for path in changed)
        places = tuple(f"{place}/" for place in self._protected)
        return sorted(path for path in shown if f"{path}/".startswith(places))

    def _run_bash(self, script: str) -> None:
        process = subprocess.Popen(
            [self._bash, "-c", script],
            cwd=self._root / "work",
            env={
                "PATH": str(self._root / "bin"),
                "HOME": str(self._root / "home"),
                "LC_ALL": "C",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(_LONGEST)
        except subprocess.TimeoutExpired:
            kill_others()


def walk(folder: str) -> Iterator[os.DirEntry[str]]:
    """Every entry below a folder."""
    for entry in os.scandir(folder):
        yield entry
        if entry.is_dir(follow_symlinks=False):
            yield from walk(entry.path)


def end_children() -> None:
    """Wait for what the script left running, and end it when that takes too long."""
    until = time.monotonic() + 0.5
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if ended == 0:
            if time.monotonic() > until:
                kill_others()
            time.sleep(0.002)


def kill_others() -> None:
    """Every process of this process namespace except those that run the test."""
    own = {1, os.getpid(), os.getppid()}
    for number in (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()):
        if number not in own:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)


def main() -> None:
    """Read the scripts from standard input, write what they did to standard output."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    settings = json.load(sys.stdin)
    runner = Runner(Path(settings["root"]), settings["bash"], settings["protected"])
    json.dump([runner.run(script) for script in settings["scripts"]], sys.stdout)


if __name__ == "__main__":
    main()
