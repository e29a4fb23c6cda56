"""The keyboard while a turn runs: Esc stops it, everything else is kept for the next prompt."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import termios
from collections.abc import Callable
from contextlib import ExitStack, suppress

from amplifier_hooks.cli.terminal import DEVICE, NoTerminal, open_terminal

ESCAPE = "\x1b"
PATIENCE = 0.1
"""Seconds in which the rest of an arrow key or a paste follows its Esc."""
_MOST_TYPED = 100_000
_RUBOUT = "\b\x7f"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O[A-Z]|.)")  # arrows, function keys, Alt


class KeyWatch:
    """Reads the terminal between `start` and `stop`, without showing what is typed."""

    def __init__(self, on_escape: Callable[[], None], device: str = DEVICE) -> None:
        self._on_escape = on_escape
        self._device = device
        self._typed = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")
        self._waiting: asyncio.TimerHandle | None = None
        self._stack = ExitStack()

    def start(self) -> None:
        """Begin to read; where there is no terminal of ours, nothing is watched."""
        self.stop()
        stack = ExitStack()
        with suppress(NoTerminal, termios.error, OSError, RuntimeError):
            loop = asyncio.get_running_loop()
            descriptor = stack.enter_context(open_terminal(self._device)).reading.fileno()
            before = termios.tcgetattr(descriptor)
            quiet = termios.tcgetattr(descriptor)
            quiet[3] &= ~(termios.ICANON | termios.ECHO)  # Ctrl-C stays a signal
            termios.tcsetattr(descriptor, termios.TCSANOW, quiet)
            stack.callback(termios.tcsetattr, descriptor, termios.TCSANOW, before)
            loop.add_reader(descriptor, self._read, descriptor)
            stack.callback(loop.remove_reader, descriptor)
            self._stack = stack.pop_all()
        stack.close()

    def stop(self) -> None:
        """Leave the terminal as it was."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        with suppress(termios.error, OSError):
            self._stack.close()
        self._stack = ExitStack()

    def take_typed(self) -> str:
        """The text that was typed meanwhile; it is handed out once."""
        typed, self._typed = _SEQUENCE.sub("", self._typed), ""
        kept: list[str] = []
        for character in typed.replace("\r", "\n"):
            if character in _RUBOUT:
                del kept[-1:]
            elif character == "\n" or character.isprintable():
                kept.append(character)
        return "".join(kept)

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, 4_096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:  # the terminal has gone
            self.stop()
            return
        self._take(self._decoder.decode(data))

    def _take(self, text: str) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        self._typed = (self._typed + text)[:_MOST_TYPED]
        if self._typed.endswith(ESCAPE):
            loop = asyncio.get_running_loop()
            self._waiting = loop.call_later(PATIENCE, self._escape)

    def _escape(self) -> None:
        """Nothing followed: it was the key itself."""
        self._waiting = None
        self._typed = self._typed.removesuffix(ESCAPE)
        self._on_escape()
