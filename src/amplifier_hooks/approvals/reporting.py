"""Reports to people elsewhere: claims on a session's calls, and records of its trail."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from amplifier_core.errors import ApprovalError, AuditUnavailable
from amplifier_core.records import ToolFinished, ToolStarted, parse_body
from amplifier_core.trail import AuditSink, Level, OnFailure
from amplifier_core.utils import describe_error, safe_repr
from amplifier_hooks.approvals.errors import Conflict, StoreError, StoreUnavailable
from amplifier_hooks.approvals.link import AgentLink, Outcome
from amplifier_hooks.approvals.models import Claim, SessionRecord
from amplifier_hooks.approvals.remote import RemoteApproval
from amplifier_hooks.approvals.retry import retry
from amplifier_hooks.trails.bodies import RecordsDropped

LONGEST_BODY = 64 * 1024


def write_record(
    number: int,
    type: str,
    body: Mapping[str, Any],
    *,
    turn: int | None = None,
    event: str | None = None,
    hook: str | None = None,
) -> SessionRecord:
    """The record with its time; a body that is too long, or is no JSON, is left out and says so."""
    return SessionRecord(
        number=number,
        time=time.time(),
        type=type,
        event=event or "",
        hook=hook or "",
        turn=turn or 0,
        body=_fit(body),
    )


def _fit(body: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values of its own: the session may change what it handed over."""
    try:
        text = json.dumps(body, default=safe_repr)
    except (ValueError, TypeError, RecursionError):
        return {"left_out": "it cannot be written as JSON"}
    if len(text) > LONGEST_BODY:
        # What hooks answered is counted, however large the data was that they answered to.
        answers = {key: body[key] for key in ("action", "hooks") if key in body}
        return {
            **(_fit(answers) if len(answers) < len(body) else {}),
            "left_out": f"{len(text)} bytes",
        }
    fitting: dict[str, Any] = json.loads(text, parse_constant=str)
    return fitting


logger = logging.getLogger(__name__)

LIMIT = 5_000
BATCH = 200
# Seconds: records gather for a moment; a store that does not answer is left alone for a while.
GATHERING = 0.1
PAUSE = 1.0
GRACE = 3.0

Waiting = tuple[str, SessionRecord]


class Publisher:
    """Sends what it is given to one link. When that is slow, the oldest records are dropped."""

    def __init__(self, link: AgentLink, *, limit: int = LIMIT, pause: float = PAUSE) -> None:
        self._link = link
        self._limit = limit
        self._pause = pause
        self._waiting: deque[Waiting] = deque()
        self._dropped = 0
        self._last: Waiting | None = None
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    def add(self, session_id: str, record: SessionRecord) -> None:
        """Take a record; this never waits."""
        if len(self._waiting) >= self._limit:
            self._last = self._waiting.popleft()
            self._dropped += 1
        self._waiting.append((session_id, record))
        self._news.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self, grace: float = GRACE) -> None:
        """Send what is left, for no longer than `grace` seconds."""
        self._closing = True
        self._news.set()
        if self._task is None:
            return
        await asyncio.wait([self._task], timeout=grace)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self._waiting or not self._closing:
            await self._news.wait()
            self._news.clear()
            if not self._closing:
                await asyncio.sleep(GATHERING)
            while self._waiting:
                await self._send(self._take())
                if 0 < len(self._waiting) < BATCH and not self._closing:
                    await asyncio.sleep(GATHERING)

    def _take(self) -> list[Waiting]:
        count = min(BATCH, len(self._waiting))
        taken = [self._waiting.popleft() for _ in range(count)]
        if self._dropped and self._last is not None:
            # In the place of the last one that was dropped, whose number is free.
            session_id, lost = self._last
            dropped = RecordsDropped(count=self._dropped)
            record = write_record(lost.number, dropped.type, dropped.to_dict(), turn=lost.turn)
            taken.insert(0, (session_id, record))
            self._dropped = 0
            self._last = None
        return taken

    async def _send(self, batch: Sequence[Waiting]) -> None:
        for session_id, group in groupby(batch, key=lambda one: one[0]):
            records = [record for _, record in group]
            await self._publish(session_id, records)

    async def _publish(self, session_id: str, records: Sequence[SessionRecord]) -> None:
        """Send them, again and again while nobody answers, until they arrive or are refused."""
        while True:
            try:
                await self._link.publish(session_id, records)
            except StoreUnavailable as error:
                logger.debug("Records are not published yet: %s", error)
                await asyncio.sleep(self._pause)
            except StoreError as error:
                logger.warning("%d records were refused: %s", len(records), describe_error(error))
                return
            else:
                return


# Seconds that a claim holds without a sign of life, and that making one may take.
LEASE = 60.0
CLAIMING = 15.0
CLAIM_PAUSE = 1.0


@dataclass(slots=True, eq=False)
class _Held:
    """A claim at one link, which is renewed until the call has ended."""

    link: AgentLink
    claim: Claim
    renewal: asyncio.Task[None] | None = None


class Claims:
    """The claims of a session and its sub-agents, at every place where people are asked."""

    def __init__(self, places: Sequence[RemoteApproval], lease: float = LEASE) -> None:
        self._places = tuple(places)
        self._lease = lease
        self._held: dict[tuple[str, str], list[list[_Held]]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def claim(self, session_id: str, call_id: str, digest: str) -> None:
        """Claim a call before it runs; ApprovalError if it must not."""
        held: list[_Held] = []
        try:
            async with asyncio.timeout(CLAIMING):
                for place in self._places:
                    held += await self._claim_at(place, session_id, call_id, digest)
        except Conflict as error:
            self._give_back(held)
            raise ApprovalError(str(error)) from error
        except (StoreError, TimeoutError) as error:
            self._give_back(held)
            why = str(error) or "it takes too long"
            raise ApprovalError(f"the call could not be claimed: {why}") from error
        except asyncio.CancelledError:
            self._give_back(held)
            raise
        for one in held:
            one.renewal = asyncio.ensure_future(self._renew(one))
        self._held.setdefault((session_id, call_id), []).append(held)

    async def _claim_at(
        self, place: RemoteApproval, session_id: str, call_id: str, digest: str
    ) -> list[_Held]:
        name = place.names.find(session_id, call_id)
        if name is None:
            return []
        place.names.end(session_id, call_id)
        claim = await place.link.claim(session_id, name, digest, self._lease)
        return [] if claim is None else [_Held(place.link, claim)]

    def finish(self, session_id: str, call_id: str, outcome: Outcome) -> None:
        """The call has ended; that is recorded without anybody waiting for it."""
        runs = self._held.get((session_id, call_id))
        if not runs:
            return
        for one in runs.pop():
            if one.renewal is not None:
                one.renewal.cancel()
            self._end(one, outcome)
        if not runs:
            del self._held[(session_id, call_id)]

    async def close(self, grace: float = GRACE) -> None:
        """Let ends under way be recorded; a claim that is still held becomes unknown by itself."""
        if self._ending:
            await asyncio.wait(tuple(self._ending), timeout=grace)
        renewals = [one.renewal for runs in self._held.values() for run in runs for one in run]
        left = [task for task in (*renewals, *self._ending) if task is not None]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        self._held.clear()

    def _give_back(self, held: Sequence[_Held]) -> None:
        for one in held:
            self._end(one, "failed")

    def _end(self, held: _Held, outcome: Outcome) -> None:
        task = asyncio.ensure_future(_record_end(held, outcome, self._lease))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _renew(self, held: _Held) -> None:
        """Keep the claim while the call runs; a store that is away may be back in time."""
        pause = self._lease / 3
        while True:
            await asyncio.sleep(pause)
            try:
                held.claim = await held.link.renew(held.claim, self._lease)
                pause = self._lease / 3
            except StoreUnavailable:
                pause = min(CLAIM_PAUSE, self._lease / 3)
            except StoreError as error:
                logger.warning("A claim on a running call was lost: %s", describe_error(error))
                return


async def _record_end(held: _Held, outcome: Outcome, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            finish = partial(held.link.finish, held.claim, outcome)
            await retry(finish, seconds, longest=CLAIM_PAUSE)
    except (StoreError, TimeoutError) as error:
        logger.warning("How a call ended could not be recorded: %s", describe_error(error))


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
        said = parse_body(type, body)
        if isinstance(said, ToolStarted) and said.gated:
            start = (session or "", str(said.id), said.digest)
            return self._append_start(start, body, source)
        # Of one that nobody reported, the claim is left to lapse: then it is unknown there as well.
        if isinstance(said, ToolFinished) and said.outcome != "unknown":
            outcome: Outcome = "executed" if said.success else "failed"
            self._claims.finish(session or "", str(said.id), outcome)
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

    def _append_start(
        self, start: Start, body: Mapping[str, Any], source: Mapping[str, Any]
    ) -> int:
        """Append the start of a gated call; it is claimed even if the trail does not take it."""
        failure: Exception | None = None
        try:
            sequence = self._write(ToolStarted.type, body, source)
        except Exception as error:  # noqa: BLE001 - told by `commit`, after the claim
            self._sequence += 1
            sequence = -self._sequence
            failure = error
        self._starts[sequence] = (start, failure)
        return sequence

    async def _claim(self, start: Start) -> None:
        session, call_id, digest = start
        try:
            await self._claims.claim(session, call_id, digest)
        except ApprovalError:
            # So that nobody takes it for a call whose outcome is unknown.
            end = ToolFinished(id=call_id, outcome="not claimed", success=False)
            self._close_start(end, session)
            raise

    def _close_start(self, end: ToolFinished, session: str) -> None:
        body = end.to_dict()
        source: dict[str, Any] = {"session": session, "turn": None, "event": None, "hook": None}
        self._publish(end.type, body, session, None, None, None)
        try:
            self._write(end.type, body, {**source, "registration": None})
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
