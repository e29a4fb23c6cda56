"""Printed output: what hooks and the programs that they start write to the terminal."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import IO

_STREAMS = (1, 2)


@dataclass(slots=True)
class PrintedOutput:
    """The text that was written, once it is over."""

    text: str = ""


@contextmanager
def capture_output() -> Iterator[PrintedOutput]:
    """Keep from the terminal whatever is written to standard output and standard error."""
    printed = PrintedOutput()
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        try:
            with _redirect(file):
                yield printed
        finally:
            file.seek(0)
            printed.text = file.read().decode("utf-8", "replace")


@contextmanager
def _redirect(file: IO[bytes]) -> Iterator[None]:
    """Lead Python's streams and those of the process into a file, and back."""
    kept = [os.dup(stream) for stream in _STREAMS]
    text = io.TextIOWrapper(io.FileIO(file.fileno(), "w", closefd=False), write_through=True)
    try:
        for stream in _STREAMS:
            os.dup2(file.fileno(), stream)
        with redirect_stdout(text), redirect_stderr(text):
            yield
    finally:
        text.flush()
        for stream, before in zip(_STREAMS, kept, strict=True):
            os.dup2(before, stream)
            os.close(before)
