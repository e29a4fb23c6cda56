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
    """Own handles for reading and writing."""

    reading: TextIO
    writing: TextIO

    def discard_typeahead(self) -> None:
        """Forget what was typed before the question was there to be read."""
        termios.tcflush(self.reading.fileno(), termios.TCIFLUSH)


@contextmanager
def open_terminal(device: str = DEVICE) -> Iterator[Terminal]:
    """The terminal of this session; NoTerminal when there is none or it belongs to another job."""
    with ExitStack() as stack:
        try:
            # Non-blocking on a handle of its own: the shared descriptor 0 stays as it is.
            reading = stack.enter_context(
                os.fdopen(os.open(device, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
            )
            writing = stack.enter_context(
                open(device, "w", encoding=_find_encoding(), errors="backslashreplace")  # noqa: PTH123
            )
        except OSError as error:
            raise NoTerminal(f"no terminal to ask on ({error.strerror})") from error
        _check(reading, device)
        yield Terminal(reading, writing)


def _check(reading: TextIO, device: str) -> None:
    if not reading.isatty():
        raise NoTerminal(f"{device} is not a terminal")
    if os.tcgetpgrp(reading.fileno()) != os.getpgrp():
        raise NoTerminal("this process runs in the background of its terminal")
    if os.environ.get("TERM", "dumb") == "dumb":
        raise NoTerminal("the terminal cannot show a question (TERM=dumb)")


def is_ascii_only() -> bool:
    """Whether the terminal shows nothing but ASCII."""
    return _find_encoding() == "ascii"


def _find_encoding() -> str:
    """UTF-8 where the locale has it, else ASCII, which every other encoding shares."""
    utf8 = sys.flags.utf8_mode == 1 or locale.getencoding().casefold() in {"utf-8", "utf8"}
    return "utf-8" if utf8 else "ascii"


def make_output(stream: TextIO) -> Vt100_Output:
    """Where prompts are drawn. No cursor report is asked for: it would arrive as input."""
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.output import ColorDepth
    from prompt_toolkit.output.vt100 import Vt100_Output

    def get_size() -> Size:
        columns, rows = os.get_terminal_size(stream.fileno())
        return Size(rows=rows or 24, columns=columns or 80)

    return Vt100_Output(
        stream,
        get_size,
        term=os.environ.get("TERM"),
        default_color_depth=ColorDepth.from_env(),  # NO_COLOR
        enable_cpr=False,
    )
