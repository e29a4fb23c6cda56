"""A cell of the launcher, as the agent sees it: commands run in it, one at a time."""

from __future__ import annotations

import asyncio
import contextlib
import marshal
import os
import socket
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from amplifier_hooks.sandbox.launcher.words import (
    ENDED,
    FAILED,
    GONE,
    KILL,
    LONGEST,
    RUN,
    TERMINATE,
)

_MOMENT = 1.0  # seconds for what was killed to be gone
_LONGEST_WORD = 4096


class CellLost(Exception):
    """The supervisor of a command has gone, and with it all knowledge of the command."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a cell is to run. `inherited` is the number of one more descriptor for the program.

    Behind a wall `profile` is the number of what the cell gives up for good, namely the
    capabilities and the system calls that follow, and `landlock` that of the rule set.
    """

    argv: list[str]
    env: dict[str, str]
    cwd: str
    profile: int | None = None
    capabilities: int = -1
    filter: bytes = b""
    landlock: int = 0
    inherited: int | None = None


class Cell:
    """A process that starts a command and inherits everything that the command leaves behind."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._control.setblocking(False)
        self._ended: asyncio.Future[int] | None = None
        self._gone: asyncio.Future[None] | None = None
        self.usable = True
        self.profile: int | None = None
        self.landlock = 0  # of its last command

    def start(self, order: Order, descriptors: Sequence[int]) -> None:
        """Send the order; raises OSError if nobody is there to follow it."""
        loop = asyncio.get_running_loop()
        text = marshal.dumps(_encode(order))
        if len(text) <= LONGEST:
            socket.send_fds(self._control, [RUN, text], descriptors)
        else:
            with open(os.memfd_create("order", os.MFD_CLOEXEC), "wb", 0) as letter:  # noqa: PTH123
                letter.write(text)
                socket.send_fds(self._control, [RUN], [*descriptors, letter.fileno()])
        self.profile, self.landlock = order.profile, order.landlock
        self._ended, self._gone = loop.create_future(), loop.create_future()
        loop.add_reader(self._control.fileno(), self._listen)

    async def wait(self) -> int:
        """The exit code of the command, once it has ended; raises what kept it from running."""
        assert self._ended is not None
        return await asyncio.shield(self._ended)

    @property
    def returncode(self) -> int | None:
        """The exit code, if the command has ended."""
        if self._ended is None or not self._ended.done() or self._ended.exception():
            return None
        return self._ended.result()

    @property
    def is_empty(self) -> bool:
        """Whether nothing of a command is left."""
        return self._gone is None or self._gone.done()

    async def end(self, grace: float) -> None:
        """TERM everything, and KILL what is left after a moment of grace."""
        self._say(TERMINATE + struct.pack("d", grace))
        await self._wait_until_gone(grace + _MOMENT)

    async def kill(self, patience: float) -> None:
        """KILL everything, and wait for the end no longer than this."""
        self._say(KILL)
        await self._wait_until_gone(patience)

    def close(self) -> None:
        """Let go of the cell: whatever still runs in it is killed."""
        self.usable = False
        if self._gone is not None and not self._gone.done():
            self._gone.get_loop().remove_reader(self._control.fileno())
            self._gone.cancel()
        self._control.close()

    async def _wait_until_gone(self, patience: float) -> None:
        if self._gone is not None and not self._gone.done():
            await asyncio.wait({self._gone}, timeout=patience)

    def _say(self, word: bytes) -> None:
        with contextlib.suppress(OSError):  # it is gone, which `_listen` will notice
            self._control.send(word)

    def _listen(self) -> None:
        try:
            word = self._control.recv(_LONGEST_WORD)
        except BlockingIOError:
            return
        except OSError:
            word = b""
        if word[:1] == ENDED:
            status, left = struct.unpack("ii", word[1:])
            self._settle(os.waitstatus_to_exitcode(status))
            if not left:
                self._finish()
        elif word[:1] == FAILED:
            self._settle(_read_failure(word[1:]))
        else:
            self.usable = word[:1] == GONE
            self._settle(CellLost())
            self._finish()

    def _settle(self, result: int | Exception) -> None:
        assert self._ended is not None
        if self._ended.done():
            return
        if isinstance(result, int):
            self._ended.set_result(result)
        else:
            self._ended.set_exception(result)
            self._ended.exception()  # seen: a command that is being ended is not asked

    def _finish(self) -> None:
        assert self._gone is not None
        self._gone.get_loop().remove_reader(self._control.fileno())
        if not self._gone.done():
            self._gone.set_result(None)


def _encode(order: Order) -> dict[str, object]:
    """As a cell reads it, which takes every text for UTF-8."""
    plain = {name: getattr(order, name) for name in Order.__slots__}
    if sys.getfilesystemencoding() != "utf-8":
        plain["argv"] = [_convert(word) for word in order.argv]
        plain["env"] = {_convert(key): _convert(value) for key, value in order.env.items()}
        plain["cwd"] = _convert(order.cwd)
    return plain


def _convert(text: str) -> str:
    return os.fsencode(text).decode("utf-8", "surrogateescape")


def _read_failure(told: bytes) -> Exception:
    number, text = marshal.loads(told)
    return ValueError(text) if number is None else OSError(number, text)
