"""The keyboard while a turn runs."""

from __future__ import annotations

import asyncio
import os
import pty
import termios
from collections.abc import Iterator

import pytest

from amplifier_hooks.cli.display import live_display
from amplifier_hooks.cli.display.live_display import KeyWatch
from tests.support.waiting import wait_until


class Keyboard:
    """A terminal whose other end types."""

    def __init__(self) -> None:
        self.ours, self.theirs = pty.openpty()
        self.name = os.ttyname(self.theirs)
        self.presses = 0

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def count(self) -> None:
        self.presses += 1

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.theirs)[3] & termios.ECHO)


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[Keyboard]:
    """Taken for the terminal of this process, which it is not."""
    made = Keyboard()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("os.tcgetpgrp", lambda _: os.getpgrp())
    yield made
    os.close(made.ours)
    os.close(made.theirs)


async def test_escape_alone_is_heard(keyboard: Keyboard) -> None:
    """An arrow key begins with it and is none."""
    watch = KeyWatch(keyboard.count, keyboard.name)
    watch.start()
    keyboard.type("\x1b[Aab")
    await wait_until(lambda: watch._typed.endswith("ab"))
    keyboard.type("\x1b")
    await wait_until(lambda: keyboard.presses == 1)
    watch.stop()
    assert watch.take_typed() == "ab"


async def test_what_was_typed_is_kept_as_text_and_handed_out_once(keyboard: Keyboard) -> None:
    """Corrections are made, lines are ended, keys without a letter are left out."""
    watch = KeyWatch(keyboard.count, keyboard.name)
    watch.start()
    keyboard.type("helo\x7flo\x1bOP\x0bü\r")
    await wait_until(lambda: watch._typed.endswith("\n"))
    watch.stop()
    assert watch.take_typed() == "hello" + "ü\n"
    assert watch.take_typed() == ""


async def test_the_terminal_is_left_as_it_was(keyboard: Keyboard) -> None:
    """While it is watched it shows nothing of what is typed; Ctrl-C stays a signal."""
    watch = KeyWatch(keyboard.count, keyboard.name)
    for _ in range(2):
        assert keyboard.echoes
        watch.start()
        assert not keyboard.echoes
        assert termios.tcgetattr(keyboard.theirs)[3] & termios.ISIG
        watch.stop()
    assert keyboard.echoes


async def test_without_a_terminal_nothing_is_watched() -> None:
    """And nothing breaks."""
    watch = KeyWatch(lambda: None, "/dev/null")
    watch.start()
    watch.stop()
    assert watch.take_typed() == ""


async def test_an_escape_that_is_still_open_is_none_when_the_turn_ends(keyboard: Keyboard) -> None:
    """The next turn is not stopped by it."""
    watch = KeyWatch(keyboard.count, keyboard.name)
    watch.start()
    keyboard.type("\x1b")
    await wait_until(lambda: watch._waiting is not None)
    watch.stop()
    await asyncio.sleep(2 * live_display.PATIENCE)
    assert keyboard.presses == 0
