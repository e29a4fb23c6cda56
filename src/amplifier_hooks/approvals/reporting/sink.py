"""The sink in front of a session's trail: it claims what is about to run, and publishes records."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_core.errors import ApprovalError, AuditUnavailable
from amplifier_core.trail import AuditSink, Level, OnFailure
from amplifier_hooks.approvals.reporting.claims import Claims
from amplifier_hooks.approvals.reporting.publisher import Publisher
from amplifier_hooks.approvals.reporting.record import write_record
from amplifier_hooks.approvals.stores.link import Outcome

STARTED = "tool_started"
FINISHED = "tool_finished"

Start = tuple[str, str, str]


class ReportingSink:
    """Writes to the trail behind it, if there is one.

    A call that people had to allow is claimed before its record counts as durable: without the
    claim, `commit` raises an ApprovalError, and the kernel does not run the call.
    """

    def __init__(
        self,
        behind: AuditSink | None,
        claims: Claims,
        publishers: Sequence[Publisher],
        *,
        numbered_from: int = 1,
    ) -> None:
        self.level: Level = "normal" if behind is None else behind.level
        self.on_failure: OnFailure = "deny" if behind is None else behind.on_failure
        self._behind = behind
        self._claims = claims
        self._publishers = tuple(publishers)
        self._first = numbered_from
        self._numbers: Counter[str] = Counter()
        self._sequence = 0
        self._starts: dict[int, tuple[Start, Exception | None]] = {}

    @property
    def last_number(self) -> int:
        """The highest number that was given to a record; another process goes on behind it."""
        return self._first - 1 + max(self._numbers.values(), default=0)

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
        """The sequence of the record, which is published as well."""
        self._publish(type, body, session or "", turn, event, hook)
        source: dict[str, Any] = {"session": session, "turn": turn, "event": event, "hook": hook}
        source["registration"] = registration
        if type == STARTED and body.get("gated"):
            return self._append_start(body, source)
        if type == FINISHED:
            outcome: Outcome = "executed" if body.get("success") else "failed"
            self._claims.finish(session or "", str(body.get("id")), outcome)
        return self._write(type, body, source)

    async def commit(self, sequence: int | None = None) -> None:
        """Claim the call if the record is a start, and wait until the trail has it."""
        start, failure = self._starts.pop(sequence or 0, (None, None))
        if start is not None:
            await self._claim(start)
        try:
            await self._commit_behind(sequence, failure)
        except BaseException as error:
            runs = isinstance(error, Exception) and self.on_failure == "warn"
            if start is not None and not runs:
                self._claims.finish(*start[:2], "failed")
            raise

    async def _commit_behind(self, sequence: int | None, failure: Exception | None) -> None:
        if failure is not None:
            raise failure
        if self._behind is not None:
            await self._behind.commit(sequence)

    async def close(self) -> None:
        """Send what is left; the trail behind is closed by whoever opened it."""
        await asyncio.gather(
            self._claims.close(), *(publisher.close() for publisher in self._publishers)
        )

    def _append_start(self, body: Mapping[str, Any], source: Mapping[str, Any]) -> int:
        """Append the start of a gated call; it is claimed even if the trail does not take it."""
        start = (source["session"] or "", str(body.get("id")), str(body.get("digest")))
        failure: Exception | None = None
        try:
            sequence = self._write(STARTED, body, source)
        except Exception as error:  # noqa: BLE001 - told by `commit`, after the claim
            self._sequence += 1
            sequence, failure = -self._sequence, error
        self._starts[sequence] = (start, failure)
        return sequence

    async def _claim(self, start: Start) -> None:
        session, call_id, digest = start
        try:
            await self._claims.claim(session, call_id, digest)
        except ApprovalError:
            # So that nobody takes it for a call whose outcome is unknown.
            body = {"id": call_id, "outcome": "not claimed", "success": False}
            self._close_start(body, session)
            raise

    def _close_start(self, body: Mapping[str, Any], session: str) -> None:
        source: dict[str, Any] = {"session": session, "turn": None, "event": None, "hook": None}
        self._publish(FINISHED, body, session, None, None, None)
        try:
            self._write(FINISHED, body, {**source, "registration": None})
        except AuditUnavailable:
            return  # the call does not run anyway

    def _write(self, type: str, body: Mapping[str, Any], source: Mapping[str, Any]) -> int:
        if self._behind is not None:
            return self._behind.append(type, body, **source)
        self._sequence += 1
        return self._sequence

    def _publish(
        self,
        type: str,
        body: Mapping[str, Any],
        session: str,
        turn: int | None,
        event: str | None,
        hook: str | None,
    ) -> None:
        if not session:
            return
        number = self._first + self._numbers[session]
        self._numbers[session] += 1
        record = write_record(number, type, body, turn=turn, event=event, hook=hook)
        for publisher in self._publishers:
            publisher.add(session, record)
