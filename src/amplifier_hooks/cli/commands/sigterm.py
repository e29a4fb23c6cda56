"""Signals during a run: SIGTERM ends it in order, as Ctrl-C does, instead of killing it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.early_signals import answers


class Terminated(click.ClickException):
    """The process was told to end."""

    exit_code = exit_codes.TERMINATED

    def __init__(self) -> None:
        super().__init__("Ended by SIGTERM.")


class Sigterm:
    """Whether the signal came, and what stops the work that is under way."""

    def __init__(self) -> None:
        self.told = False
        self.before: Any = signal.SIG_DFL
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Callable[[], Any] = lambda: None

    def stop_with(self, stop: Callable[[], Any] | None) -> None:
        """Call this in the running loop when the signal comes; None raises `Terminated` at once."""
        self._stop = stop or self._stop
        self._loop = asyncio.get_running_loop() if stop else None

    def check(self) -> None:
        """Raise `Terminated` if the signal came."""
        if self.told:
            raise Terminated

    def receive(self, *_: object) -> None:
        """Stop the work; a second signal interrupts how it is ended, a third one does not wait."""
        if self.told:
            signal.signal(signal.SIGTERM, self.before)
            raise KeyboardInterrupt
        self.told = True
        if self._loop is None:
            raise Terminated
        # The loop may be asleep: what a signal's handler schedules does not wake it otherwise.
        self._loop.call_soon_threadsafe(self._stop)


@contextmanager
def heed_interrupts() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt inside, where there is something to end in order."""
    if not answers(signal.SIGINT):
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def heed_sigterm() -> Iterator[Sigterm]:
    """Let SIGTERM end what is inside; where that cannot be arranged, it kills as ever."""
    sigterm = Sigterm()
    with suppress(ValueError):  # not in the main thread
        sigterm.before = signal.signal(signal.SIGTERM, sigterm.receive)
    try:
        yield sigterm
    except (asyncio.CancelledError, KeyboardInterrupt):
        sigterm.check()
        raise
    finally:
        with suppress(ValueError):
            signal.signal(signal.SIGTERM, sigterm.before)
