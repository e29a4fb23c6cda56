"""The standard streams of a command: there from the start, and written out before its end.

What is printed to a pipe or a file waits in a buffer. Left to the interpreter, a reader that has
gone or a full disk would show at the very end only, as a traceback and exit code 120.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

OUTPUT = "standard output"
ERRORS = "standard error"


_LABELS = {1: OUTPUT, 2: ERRORS}
_failures: dict[str, OSError] = {}
"""The first failure of each output."""


class _Output(io.FileIO):
    """One of the two outputs: its failures are kept, and name it where they are raised."""

    def __init__(self, descriptor: int, *, raises: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._label = _LABELS.get(descriptor, f"descriptor {descriptor}")
        self._raises = raises

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = self._label
            _failures.setdefault(self._label, error)
            if self._raises:
                raise
            return memoryview(data).nbytes


def run_program(main: Callable[[], int]) -> NoReturn:
    """Run a command that reads its arguments with argparse, and end the process."""
    prepare_streams()
    try:
        code = main()
    except SystemExit as left:  # --help, or wrong usage
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    sys.exit(finish_streams(code))


def prepare_streams() -> None:
    """Open the standard streams that are closed, and let failures of the two outputs name them."""
    # In this order: the kernel gives the lowest number that is free, so each gets its own. Else the
    # next file to be opened would, and what is printed would end up in it.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, True)  # the programs we start need it as much as we do
            _replace(name, open(nowhere, mode, closefd=False))  # noqa: SIM115
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        # Where somebody else captures it, there is nothing to lose.
        if isinstance(stream, io.TextIOWrapper) and stream is getattr(sys, f"__{name}__"):
            _replace(name, _keep_failures(descriptor, stream))


def open_output(descriptor: int, encoding: str) -> io.TextIOWrapper:
    """A stream of its own over an output, for what goes on even if nobody reads it.

    It never fails: what was lost is told by `finish_streams`.
    """
    file = io.BufferedWriter(_Output(descriptor, raises=False))
    return io.TextIOWrapper(file, encoding=encoding, line_buffering=True)


def finish_streams(code: int) -> int:
    """Write out what was printed, and say so if some of it was lost. Returns the exit code: that of
    the command, or 1 instead of 0 after a loss. A reader that has gone is none.
    """
    _flush(sys.stdout)
    lost = _failures.get(OUTPUT)
    if lost is not None and not isinstance(lost, BrokenPipeError):
        print_error(f"Error: The output could not be written: {lost.strerror}.")
        code = code or 1
    _flush(sys.stderr)
    return code


def announce(text: str) -> None:
    """Print a line of a server, which goes on serving where nobody reads its lines any more."""
    try:
        print(text, flush=True)  # noqa: T201 - what else is there
    except BrokenPipeError:
        discard(sys.stdout)


def print_error(text: str) -> None:
    """Print a line to standard error; the exit code stands for it where that cannot be done."""
    try:
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - what else is there
    except OSError:
        discard(sys.stderr)


def is_output_failure(error: BaseException) -> bool:
    """Whether an error is that of writing to standard output or standard error."""
    return isinstance(error, OSError) and error.filename in (OUTPUT, ERRORS)


def discard(stream: Any) -> None:
    """Let what is still in the buffer, and what follows, go nowhere."""
    try:
        descriptor = stream.fileno()
    except OSError:  # it is in memory, such as that of a test
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
    stream.flush()


def _flush(stream: Any) -> None:
    try:
        stream.flush()
    except OSError:
        discard(stream)


def _keep_failures(descriptor: int, stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """The same stream, over a file that keeps its failures."""
    stream.flush()
    raw = _Output(descriptor, raises=True)
    return io.TextIOWrapper(
        raw if isinstance(stream.buffer, io.RawIOBase) else io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _replace(name: str, stream: Any) -> None:
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)
