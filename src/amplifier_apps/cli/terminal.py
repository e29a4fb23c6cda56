"""The controlling terminal, opened for oneself.

Standard input may be a pipe, or shared with a child that eats its bytes; a question to a person
goes to the terminal itself and nowhere else.
"""

from __future__ import annotations

import locale
import os
import sys
import termios
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from amplifier_core.errors import ApprovalError

if TYPE_CHECKING:
    from prompt_toolkit.output.vt100 import Vt100_Output

DEVICE = "/dev/tty"


class NoTerminal(ApprovalError):
    """There is nobody to ask."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Own handles for reading and writing, and whether it shows more than ASCII."""

    reading: TextIO
    writing: TextIO
    ascii_only: bool

    def discard_typeahead(self) -> None:
        """Forget what was typed before the question was there to be read."""
        termios.tcflush(self.reading.fileno(), termios.TCIFLUSH)


@contextmanager
def controlling_terminal(device: str = DEVICE) -> Iterator[Terminal]:
    """The terminal of this session; NoTerminal when there is none or it belongs to another job."""
    with ExitStack() as stack:
        try:
            # Non-blocking on a handle of its own: the shared descriptor 0 stays as it is.
            reading = stack.enter_context(
                os.fdopen(os.open(device, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
            )
            writing = stack.enter_context(
                open(device, "w", encoding=_encoding(), errors="backslashreplace")  # noqa: PTH123
            )
        except OSError as error:
            raise NoTerminal(f"no terminal to ask on ({error.strerror})") from error
        _check(reading)
        yield Terminal(reading, writing, ascii_only=_encoding() == "ascii")


def _check(reading: TextIO) -> None:
    if not reading.isatty():
        raise NoTerminal(f"{DEVICE} is not a terminal")
    if os.tcgetpgrp(reading.fileno()) != os.getpgrp():
        raise NoTerminal("this process runs in the background of its terminal")
    if os.environ.get("TERM", "dumb") == "dumb":
        raise NoTerminal("the terminal cannot show a question (TERM=dumb)")


def _encoding() -> str:
    """UTF-8 where the locale has it, else ASCII: any other character then arrives as an escape."""
    utf8 = sys.flags.utf8_mode == 1 or locale.getencoding().casefold() in {"utf-8", "utf8"}
    return "utf-8" if utf8 else "ascii"


def output_on(stream: TextIO) -> Vt100_Output:
    """Where prompts are drawn. No cursor report is asked for: it would arrive as input."""
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.output import ColorDepth
    from prompt_toolkit.output.vt100 import Vt100_Output

    def size() -> Size:
        columns, rows = os.get_terminal_size(stream.fileno())
        return Size(rows=rows or 24, columns=columns or 80)

    return Vt100_Output(
        stream,
        size,
        term=os.environ.get("TERM"),
        default_color_depth=ColorDepth.from_env(),  # NO_COLOR
        enable_cpr=False,
    )
