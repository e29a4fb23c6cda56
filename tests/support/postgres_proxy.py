"""A connection to PostgreSQL that breaks where a test wants it to."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, quote, urlsplit

SOCKET = ".s.PGSQL.5432"
Break = Literal["request", "answer"]


class BreakingProxy:
    """Passes everything on, until a message holds certain words: then it loses a part, once.

    `request`: the server does not get it. `answer`: the server does, and nobody hears what it
    says. Either way the connection is lost.
    """

    def __init__(self, url: str, folder: Path) -> None:
        self._target = str(Path(parse_qs(urlsplit(url).query)["host"][0]) / SOCKET)
        self.url = f"{url.partition('?')[0]}?host={quote(str(folder))}"
        self._words: bytes | None = None
        self._part: Break = "request"
        self._refuses = False
        self.broken = 0
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(folder / SOCKET))
        self._server.listen()

    def break_at(self, words: str, part: Break) -> None:
        """The next message with these words is the last of its connection."""
        self._words, self._part = words.encode(), part

    def refuse(self) -> None:
        """Take no connection from here on, and give up those that are there at their next word."""
        self._refuses = True

    @contextmanager
    def run(self) -> Iterator[None]:
        """Take connections until the block is left."""
        accepting = threading.Thread(target=self._accept, daemon=True)
        accepting.start()
        try:
            yield
        finally:
            with suppress(OSError):
                self._server.shutdown(socket.SHUT_RDWR)
            accepting.join()
            self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                if self._refuses:
                    client.close()
                    continue
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self._target)
            answers = threading.Thread(target=pass_on, args=(server, client), daemon=True)
            answers.start()
            with suppress(OSError):
                while data := client.recv(65536):
                    if self._refuses or (self._words is not None and self._words in data):
                        self._break(data, client, server)
                        return
                    server.sendall(data)
            hang_up(server)
            answers.join()

    def _break(self, data: bytes, client: socket.socket, server: socket.socket) -> None:
        self._words = None
        self.broken += 1
        hang_up(client)
        if self._part == "answer":
            server.sendall(data)
            with suppress(OSError):
                server.shutdown(socket.SHUT_WR)
        hang_up(server, reading=self._part == "request")


def pass_on(source: socket.socket, target: socket.socket) -> None:
    """All that comes, until one side is closed."""
    with suppress(OSError):
        while data := source.recv(65536):
            with suppress(OSError):  # what nobody hears any more is read all the same
                target.sendall(data)
    hang_up(target)


def hang_up(one: socket.socket, reading: bool = True) -> None:
    """Close a connection for both sides, whoever else holds it."""
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR if reading else socket.SHUT_WR)
