"""Runs hooks that are being tried in a process of its own, which can write and send nothing.

`run_worker` starts the process, which reads a job from its standard input and answers with
messages, a line of JSON each. What hooks print goes nowhere.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from amplifier_core.errors import AmplifierError
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.protection import Protection
from amplifier_hooks.sandbox.wall import Wall

Message = dict[str, Any]
Send = Callable[[Message], None]

_LONGEST = 30 * 24 * 3600.0
_KEPT = 20_000
"""Bytes of the process's last words that are kept for an error."""
_DISTURBED = (
    "A hook has written into the pipe that results come through, so they are not to be relied on"
)


class WorkerError(AmplifierError):
    """The process has not done its job; the message says why."""


async def run_worker(
    module: str,
    folder: Path,
    protection: Protection,
    make_job: Callable[[Path], Message],
    receive: Send,
) -> None:
    """Have `work` of a module do a job in a process that works in `folder`.

    `make_job` is given the folder below which hooks may write, and `receive` each message.
    WorkerError if the process ends before `work` has returned, or said what is no message.
    """
    messages = Messages(receive)
    with _make_folders() as (scratch, temporary):
        wall = None
        if protection.kind is not None:
            wall = Wall((scratch,), (), (), temporary, network="deny", kind=protection.kind)
        outcome = await run_command(
            [sys.executable, "-P", "-m", __name__, module],
            cwd=folder,
            timeout=_LONGEST,
            stdin=json.dumps(make_job(scratch)),
            env=dict(os.environ),
            output_limit=_KEPT,
            wall=wall,
            contained=True,
            on_output=messages.read,
        )
    if messages.disturbed:
        raise WorkerError(_DISTURBED)
    if not messages.done:
        last = outcome.stderr.strip().splitlines() or [f"exit code {outcome.returncode}"]
        raise WorkerError(f"The process that runs the hooks has ended: {last[-1]}")


@contextmanager
def _make_folders() -> Iterator[tuple[Path, Path]]:
    """Where hooks of ours may keep files, and where anybody may."""
    with tempfile.TemporaryDirectory(prefix="amplifier-worker-") as name:
        folder = Path(name).resolve()
        for one in ("scratch", "tmp"):
            (folder / one).mkdir()
        yield folder / "scratch", folder / "tmp"


class Messages:
    """The messages in what a worker writes."""

    def __init__(self, receive: Send) -> None:
        self._receive = receive
        self._pieces: list[str] = []
        self.done = False
        self.disturbed = False

    def read(self, stream: str, text: str) -> None:
        """Read a piece of what the process wrote."""
        if stream != "stdout":
            return
        *lines, rest = text.split("\n")
        for line in lines:
            self._read_line("".join((*self._pieces, line)))
            self._pieces.clear()
        self._pieces.append(rest)

    def _read_line(self, line: str) -> None:
        try:
            message = json.loads(line)
            if message["kind"] == "done":
                self.done = True
            else:
                self._receive(message)
        except (ValueError, KeyError, TypeError, AttributeError):
            self.disturbed = True


def main() -> None:
    """Do the job on standard input with `work` of the module that is named."""
    job = json.loads(sys.stdin.buffer.read())
    # The pipe is for what this process says; hooks may print, and programs may write.
    with os.fdopen(os.dup(1), "w", buffering=1) as pipe:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        logging.disable(logging.CRITICAL)

        def send(message: Message) -> None:
            pipe.write(f"{json.dumps(message, default=str)}\n")

        import_module(sys.argv[1]).work(job, send)
        send({"kind": "done"})


if __name__ == "__main__":
    main()
