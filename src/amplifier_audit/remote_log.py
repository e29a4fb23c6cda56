"""A trail that another process writes: what a session uses in the place of a log of its own.

`append` queues, a thread sends, and `commit` returns when the writer says that the record is on its
disk. A writer that is gone for longer than `sync_timeout` is a failure, and failures are final.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import select
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import Any

from amplifier_audit.encoding import encode_body
from amplifier_audit.errors import AuditError, AuditUnavailable
from amplifier_audit.messages import (
    MESSAGE_LIMIT,
    PROTOCOL,
    BadMessage,
    decode_message,
    encode_append,
    encode_message,
    read_count,
    read_peer,
)
from amplifier_audit.settings import AuditSettings, Level, OnFailure
from amplifier_audit.waiters import Waiters

CHUNK = 256 * 1024


class Outbox:
    """Records as messages, kept until they are durable. Any thread may call it."""

    def __init__(self, limit: int) -> None:
        self.lock = threading.Lock()
        self.durable = 0
        self.size = 0
        self._limit = limit
        self._messages: deque[bytes] = deque()
        self._bytes = 0
        self._sent = 0

    @property
    def waiting(self) -> int:
        """How many records are not acknowledged."""
        return self.size - self.durable

    def add(self, message: bytes) -> None:
        """The message of the next record; its number must be `size`. Under the lock."""
        if self._bytes > self._limit:
            raise AuditUnavailable(
                f"{self._bytes} bytes of the audit trail wait for a writer that is too slow"
            )
        self._messages.append(message)
        self._bytes += len(message)
        self.size += 1

    def take(self) -> bytes:
        """As much as is sent at once; empty when everything was sent."""
        with self.lock:
            start = self._sent - self.durable
            pieces: list[bytes] = []
            length = 0
            while length < CHUNK and start + len(pieces) < len(self._messages):
                pieces.append(self._messages[start + len(pieces)])
                length += len(pieces[-1])
            self._sent += len(pieces)
        return b"".join(pieces)

    def acknowledge(self, count: int) -> None:
        """The first `count` records are durable and can be forgotten."""
        with self.lock:
            while self.durable < min(count, self._sent):
                self._bytes -= len(self._messages.popleft())
                self.durable += 1

    def restart(self, have: int) -> bool:
        """Go on after a broken connection; False if the writer has lost what it acknowledged."""
        with self.lock:
            if not self.durable <= have <= self.size:
                return False
            self._sent = self.size
        self.acknowledge(have)
        with self.lock:
            self._sent = have
        return True


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
            self._wanted = False
            self._asked = monotonic()
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
        until = monotonic() + self._patience
        why = str(error)
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


logger = logging.getLogger(__name__)


class RemoteLog:
    """A sink whose records are on the writer's disk when `commit` returns."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        session: str,
        settings: AuditSettings | None = None,
        *,
        server_user: int | None = None,
        alarm: Callable[[str], None] | None = None,
    ) -> None:
        """Connect. Blocks; `RemoteLog.open` does it on a thread."""
        self.settings = settings or AuditSettings()
        self.level: Level = self.settings.level
        self.on_failure: OnFailure = self.settings.on_failure
        self._alarm = alarm
        self._process = os.getpid()
        self._outbox = Outbox(self.settings.backlog_bytes)
        self._waiters = Waiters(self.settings.sync_timeout)
        self._link = Link(
            path,
            {"hello": PROTOCOL, "session": session, "client": secrets.token_hex(16)},
            self._outbox,
            server_user=server_user,
            patience=self.settings.sync_timeout,
            on_durable=self._waiters.release,
            on_failure=self._note_failure,
        )

    @classmethod
    async def open(
        cls,
        path: str | os.PathLike[str],
        session: str,
        settings: AuditSettings | None = None,
        *,
        server_user: int | None = None,
        alarm: Callable[[str], None] | None = None,
    ) -> RemoteLog:
        """Connect without blocking the loop."""
        return await asyncio.to_thread(
            lambda: cls(path, session, settings, server_user=server_user, alarm=alarm)
        )

    @property
    def durable(self) -> int:
        """How many of this session's records are on the writer's disk."""
        return self._outbox.durable

    @property
    def failure(self) -> str | None:
        """Why the trail takes no more records, or None."""
        return self._link.failure

    def find_loss(self) -> str | None:
        """A writer that does not come back is a trail that was taken away."""
        return self._link.failure

    def append(
        self,
        type: str,
        body: Mapping[str, Any],
        *,
        session: str | None = None,
        turn: int | None = None,
        event: str | None = None,
        hook: str | None = None,
        registration: int | None = None,
    ) -> int:
        """Queue a record and return its number among those of this session."""
        content = encode_body(body)
        source = (type, session, turn, event, hook, registration)
        with self._outbox.lock:
            self._refuse_if_unavailable()
            number = self._outbox.size
            self._outbox.add(encode_append(number, source, content))
        self._link.wake(commit=type == "session_ended")
        return number

    async def commit(self, sequence: int | None = None) -> None:
        """Return once the record, or everything so far, is on the writer's disk."""
        size = self._outbox.size
        target = size if sequence is None else sequence + 1
        if self._outbox.durable >= target:
            return
        if target > size:
            raise AuditError(f"There is no record {sequence}; the last is {size - 1}")
        done = self._waiters.add(target)
        # After the waiter is there: what fails or is acknowledged from here on, it hears of.
        with self._outbox.lock:
            self._refuse_if_unavailable()
        if self._outbox.durable >= target:
            self._waiters.release(self._outbox.durable)
        self._link.wake(commit=True)
        await done

    async def close(self) -> None:
        """Hand over the rest and end the connection. Harmless when repeated."""
        if self._link.closing:
            return
        if not await asyncio.to_thread(self._link.close):
            raise AuditUnavailable("The audit writer does not answer; its trail is not closed")

    def _refuse_if_unavailable(self) -> None:
        if self._link.failure is not None:
            raise AuditUnavailable(f"The audit trail takes no records: {self._link.failure}")
        if self._link.closing:
            raise AuditUnavailable("The audit trail takes no records: it is closed")
        if self._process != os.getpid():
            raise AuditUnavailable(
                f"The audit trail belongs to process {self._process}; a child needs its own"
            )

    def _note_failure(self, reason: str) -> None:
        self._waiters.fail(f"The audit trail takes no records: {reason}")
        message = f"The audit trail has failed: {reason}"
        logger.error(message)
        if self._alarm:
            self._alarm(message)
