"""One event on its way through the installed command, as the agent would start it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from amplifier_hooks.coding_agents.dialects.reply import Reply


class Shot(Protocol):
    """An event that was fired."""

    def wait(self, seconds: float) -> Reply:
        """The answer, or that there was none in that time."""

    def kill_client(self) -> None:
        """Kill the command that waits for the answer."""


class CommandShot:
    """The line in a shell, with the event on its standard input."""

    def __init__(self, line: str, payload: bytes, env: Mapping[str, str], cwd: Path) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", line],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
        stdin, self._process.stdin = self._process.stdin, None
        assert stdin is not None
        with contextlib.suppress(BrokenPipeError), stdin:
            stdin.write(payload)

    def wait(self, seconds: float) -> Reply:
        """Its exit code and what it wrote."""
        try:
            out, err = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self._end()
            return Reply(failure=f"it did not end within {seconds:g} seconds", timed_out=True)
        code = self._process.returncode
        return Reply(code, out.decode(errors="replace"), err.decode(errors="replace"))

    def kill_client(self) -> None:
        """The shell's child, or the shell itself if it has become the command."""
        pid = self._process.pid
        for one in _list_children(pid) or [pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)

    def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def _list_children(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            # Behind the name, which may hold anything: state, then parent.
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(folder.name))
    return found
