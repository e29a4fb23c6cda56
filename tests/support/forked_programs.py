"""Programs in processes of their own that need not import their packages first.

They are forked from a server that every process of tests starts once. Each has its own session,
streams, variables, folder and signals, and dies of its own; only the start of the interpreter and
its imports are not repeated. Where these are the point, start the program itself.
"""

from __future__ import annotations

import atexit
import json
import locale
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path

from tests.support.fork_server import LENGTH

ROOT = Path(__file__).resolve().parents[2]
CODE = struct.Struct("!i")
# An interpreter reads them when it starts.
STARTS = ("PYTHON", "LC_", "LANG")
USUAL = {"LANG": "C.UTF-8"}
PATIENCE = 50.0  # only what hangs takes as long


class ForkedProgram:
    """A module that runs in a process of its own, with these descriptors as its streams."""

    def __init__(
        self, argv: Sequence[str], streams: Sequence[int], env: Mapping[str, str], cwd: Path
    ) -> None:
        _, _, module, *arguments = argv
        order = {"module": module, "arguments": arguments, "env": dict(env), "cwd": str(cwd)}
        self.returncode: int | None = None
        self._told, theirs = socket.socketpair()
        with theirs:
            _send(order, [*streams, theirs.fileno()])
        self.pid: int = LENGTH.unpack(self._receive(PATIENCE))[0]

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self.wait(0) is None

    def wait(self, seconds: float) -> int | None:
        """The exit code, negative if a signal ended it; None if it still runs by then."""
        if self.returncode is None and (data := self._receive(seconds)):
            self.returncode = CODE.unpack(data)[0]
            self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """If it still runs."""
        if self.runs:
            os.kill(self.pid, number)

    def end(self) -> None:
        """Whatever it does: first as a terminal that is closed, then for good."""
        for number in (signal.SIGHUP, signal.SIGKILL):
            with suppress(ProcessLookupError):
                self.send_signal(number)
            if self.wait(0.2 if number == signal.SIGHUP else PATIENCE) is not None:
                return

    def _receive(self, seconds: float) -> bytes:
        if not select.select([self._told], [], [], seconds)[0]:
            return b""
        if data := self._told.recv(LENGTH.size):
            return data
        raise ChildProcessError("the server of forked programs has ended: see its errors above")


def can_fork(argv: Sequence[str], env: Mapping[str, str]) -> bool:
    """Whether it is a module of Python, whose interpreter would start as the tests' own did."""
    if list(argv[:2]) != [sys.executable, "-m"] or locale.getencoding().lower() != "utf-8":
        return False
    return _select(env) in (_select(os.environ), _select({**os.environ, **USUAL}))


def run_forked(
    argv: Sequence[str], stdin: bytes, env: Mapping[str, str], cwd: Path
) -> tuple[int, bytes, bytes]:
    """The exit code and what was written to both streams, once it has ended and closed them."""
    with ExitStack() as stack:
        given = stack.enter_context(tempfile.TemporaryFile())
        given.write(stdin)
        given.seek(0)
        (source, stdout), (errors, stderr) = os.pipe(), os.pipe()
        try:
            program = ForkedProgram(argv, [given.fileno(), stdout, stderr], env, cwd)
        finally:
            os.close(stdout)
            os.close(stderr)
        stack.callback(program.end)
        texts = _read_all({source: b"", errors: b""})
        code = program.wait(PATIENCE)
    if code is None:
        raise TimeoutError(f"{list(argv)} closed its streams and still runs")
    return code, texts[source], texts[errors]


def _read_all(texts: dict[int, bytes]) -> dict[int, bytes]:
    """From these descriptors until each is closed at the other end; closes them here."""
    still_open = set(texts)
    deadline = time.monotonic() + PATIENCE
    try:
        while still_open:
            for one in select.select(still_open, [], [], max(0.0, deadline - time.monotonic()))[0]:
                data = os.read(one, 65536)
                texts[one] += data
                if not data:
                    still_open.remove(one)
            if time.monotonic() > deadline:
                raise TimeoutError(f"it wrote {texts} and still runs")
    finally:
        for one in texts:
            os.close(one)
    return texts


def _select(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(STARTS)}


def _send(order: Mapping[str, object], descriptors: list[int]) -> None:
    control = _start_server()
    body = json.dumps(order).encode()
    socket.send_fds(control, [LENGTH.pack(len(body))], descriptors)
    control.sendall(body)


@cache
def _start_server() -> socket.socket:
    """Once. It ends when its socket is closed, at the latest with this process."""
    ours, theirs = socket.socketpair()
    with theirs:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fork_server", str(theirs.fileno())],
            cwd=ROOT,
            env={**os.environ, **USUAL},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    atexit.register(_end_server, ours, server)
    return ours


def _end_server(control: socket.socket, server: subprocess.Popen[bytes]) -> None:
    control.close()
    server.wait()
