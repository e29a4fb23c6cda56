"""The connection of a session to the writer, on a thread of its own, made again when it breaks."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

from amplifier_audit.errors import AuditUnavailable
from amplifier_audit.server.messages import (
    MESSAGE_LIMIT,
    PROTOCOL,
    BadMessage,
    decode_message,
    encode_message,
    read_count,
)
from amplifier_audit.server.outbox import Outbox
from amplifier_audit.server.peer import read_peer

RECEIVE = 64 * 1024
# Seconds between attempts to connect again.
PAUSE = 0.05
# So long records may go without being acknowledged when nobody waits for them.
IDLE = 1.0


class Link:
    """Sends what is in the outbox, and tells of what is durable. `failure` is final."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        hello: dict[str, Any],
        outbox: Outbox,
        *,
        server_user: int | None,
        patience: float,
        on_durable: Callable[[int], None],
        on_failure: Callable[[str], None],
    ) -> None:
        """Connect; AuditUnavailable if there is no writer that can be relied on."""
        self._path = os.fspath(path)
        self._hello = hello
        self._outbox = outbox
        self._server_user = server_user
        self._patience = patience
        self._on_durable = on_durable
        self._on_failure = on_failure
        self.failure: str | None = None
        self.closing = False
        self._wanted = False
        self._wake_in, self._wake_out = socket.socketpair()
        for end in (self._wake_in, self._wake_out):
            end.setblocking(False)
        self._rest = b""
        self._asked = monotonic()
        try:
            self._socket = self._connect()
        except BaseException:
            self._close_pair()
            raise
        self._thread = threading.Thread(target=self._run, name="audit-link", daemon=True)
        self._thread.start()

    def wake(self, *, commit: bool = False) -> None:
        """There is something to send, or somebody waits for it to be durable."""
        self._wanted = self._wanted or commit
        with contextlib.suppress(BlockingIOError, OSError):
            self._wake_in.send(b"x")

    def close(self) -> bool:
        """Hand over the rest and end; False if that takes too long."""
        self.closing = True
        self.wake()
        self._thread.join(2 * self._patience + 1)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while self.failure is None:
                try:
                    if self._take_turn():
                        break
                except (OSError, BadMessage) as error:
                    self._reconnect(error)
        except AuditUnavailable as error:
            self._fail(str(error))
        finally:
            self._socket.close()
            self._close_pair()

    def _take_turn(self) -> bool:
        """Send, then wait for an answer or for more; True when everything is handed over."""
        while message := self._outbox.take():
            self._socket.sendall(message)
            for answer in self._receive(0.0):
                self._handle(answer)
        if self.closing:
            return self._say_goodbye()
        due = monotonic() - self._asked >= IDLE
        if self._outbox.waiting and (self._wanted or due):
            self._wanted, self._asked = False, monotonic()
            self._socket.sendall(encode_message(commit=self._outbox.size))
        for answer in self._receive(IDLE if self._outbox.waiting else None):
            self._handle(answer)
        return False

    def _say_goodbye(self) -> bool:
        """Return when the writer has closed the log."""
        self._socket.sendall(encode_message(close=self._outbox.size))
        until = monotonic() + self._patience
        while (left := until - monotonic()) > 0:
            for answer in self._receive(left):
                if "closed" in answer:
                    return True
                self._handle(answer)
        raise AuditUnavailable("the audit writer does not answer")

    def _handle(self, message: dict[str, Any]) -> None:
        if "failed" in message:
            raise AuditUnavailable(f"the audit writer has failed: {message['failed']}")
        if "durable" in message:
            self._outbox.acknowledge(read_count(message, "durable"))
            self._on_durable(self._outbox.durable)

    def _receive(self, timeout: float | None) -> Iterator[dict[str, Any]]:
        """The messages that are there; waits for one, for a wake-up, or so many seconds."""
        ready, _, _ = select.select([self._socket, self._wake_out], [], [], timeout)
        if self._wake_out in ready:
            self._wake_out.recv(RECEIVE)
        if self._socket not in ready:
            return
        content = self._socket.recv(RECEIVE)
        if not content:
            raise ConnectionResetError(104, "the audit writer has closed the connection")
        *lines, self._rest = (self._rest + content).split(b"\n")
        if len(self._rest) > MESSAGE_LIMIT:
            raise BadMessage("a line without an end")
        for line in lines:
            yield decode_message(line + b"\n")

    # Connecting

    def _reconnect(self, error: Exception) -> None:
        """Within patience; what was sent and not acknowledged is sent again."""
        self._socket.close()
        until, why = monotonic() + self._patience, str(error)
        while monotonic() < until:
            try:
                self._socket = self._connect()
            except AuditUnavailable as refusal:
                why = str(refusal)
                threading.Event().wait(PAUSE)
            else:
                # Whoever waited for the old connection waits for this one.
                self._wanted = True
                return
        raise AuditUnavailable(f"the audit writer is gone: {why}")

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(self._patience)
        self._rest = b""
        try:
            connection.connect(self._path)
            self._refuse_impostor(connection)
            # A writer that refuses a user does so without reading; its reason can be read.
            with contextlib.suppress(BrokenPipeError):
                connection.sendall(encode_message(**self._hello, sent=self._outbox.size))
            self._greet(_read_line(connection))
        except (OSError, BadMessage) as error:
            connection.close()
            raise AuditUnavailable(f"No audit writer at {self._path}: {error}") from error
        except BaseException:
            connection.close()
            raise
        return connection

    def _refuse_impostor(self, connection: socket.socket) -> None:
        """What the agent starts runs as our user; a writer that does could be one of its own."""
        user = read_peer(connection).user
        if self._server_user is None and user == os.geteuid():
            raise AuditUnavailable(
                f"The audit writer at {self._path} runs as the same user as this session, and "
                "cannot be told from one that the agent started; run it as another user, or name "
                "the user with server_user"
            )
        if user != (user if self._server_user is None else self._server_user):
            raise AuditUnavailable(
                f"The audit writer at {self._path} runs as user {user}, not {self._server_user}"
            )
        self._server_user = user

    def _greet(self, answer: dict[str, Any]) -> None:
        if "refused" in answer:
            raise AuditUnavailable(f"The audit writer refuses: {answer['refused']}")
        if answer.get("welcome") != PROTOCOL:
            raise BadMessage("not a writer of this protocol")
        if not self._outbox.restart(read_count(answer, "have")):
            raise AuditUnavailable(
                f"the audit writer has {answer['have']} records of this session, "
                f"{self._outbox.durable} of {self._outbox.size} were acknowledged"
            )
        self._on_durable(self._outbox.durable)

    def _fail(self, reason: str) -> None:
        self.failure = reason
        self._on_failure(reason)

    def _close_pair(self) -> None:
        self._wake_in.close()
        self._wake_out.close()


def _read_line(connection: socket.socket) -> dict[str, Any]:
    """The first message, and nothing after it: the writer says no more until it is spoken to."""
    content = b""
    while not content.endswith(b"\n"):
        piece = connection.recv(RECEIVE)
        if not piece:
            raise ConnectionResetError(104, "the audit writer has closed the connection")
        content += piece
    return decode_message(content)
