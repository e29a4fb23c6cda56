"""A trail that another process writes: what a session uses in the place of a log of its own.

`append` queues, a thread sends, and `commit` returns when the writer says that the record is on its
disk. A writer that is gone for longer than `sync_timeout` is a failure, and failures are final.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from amplifier_audit.errors import AuditError, AuditUnavailable
from amplifier_audit.format.encoding import encode_body
from amplifier_audit.server.link import Link
from amplifier_audit.server.messages import PROTOCOL, encode_append
from amplifier_audit.server.outbox import Outbox
from amplifier_audit.writer.settings import AuditSettings, Level, OnFailure
from amplifier_audit.writer.waiters import Waiters

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
