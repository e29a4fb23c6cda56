"""What a server prints on its standard error: read so that it never waits, and the end kept."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from typing import TextIO

logger = logging.getLogger(__name__)

_KEPT = 4_000
_CHUNK = 65_536
_MOST_LINES = 5
_LONGEST_LINE = 300


class StderrTail:
    """One pipe; `writer` is the server's end of it."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._kept = b""
        self._reader, writer = os.pipe()
        os.set_blocking(self._reader, False)
        self.writer: TextIO = os.fdopen(writer, "w")
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._reader, self._take)

    def _take(self) -> None:
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(self._reader, _CHUNK)
            if not chunk:
                self._loop.remove_reader(self._reader)
            self._kept = (self._kept + chunk)[-_KEPT:]
            logger.debug("MCP server %s: %s", self._server, chunk[-_KEPT:].decode(errors="replace"))

    def describe(self) -> str:
        """The last lines, for a sentence about why the server ended; empty if it said nothing."""
        self._take_rest()
        lines = self._kept.decode(errors="replace").split("\n")
        told = [line.strip()[:_LONGEST_LINE] for line in lines if line.strip()][-_MOST_LINES:]
        return "\n".join(told)

    def _take_rest(self) -> None:
        """What has come since; at most a little, for a server may go on printing."""
        for _ in range(4):
            self._take()

    def close(self) -> None:
        """Give up both ends of the pipe."""
        self._loop.remove_reader(self._reader)
        self.writer.close()
        os.close(self._reader)
