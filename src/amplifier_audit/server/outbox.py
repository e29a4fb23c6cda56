"""What a session has yet to hand to the writer, and what the writer has yet to acknowledge."""

from __future__ import annotations

import threading
from collections import deque

from amplifier_audit.errors import AuditUnavailable

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
