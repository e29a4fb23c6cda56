"""The approvals of a store: questions, put once for each key, and those who wait for an end."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TypeVar

from amplifier_hooks.approvals.errors import (
    BadRequest,
    Conflict,
    NotFound,
    StoreError,
    StoreUnavailable,
    TooMany,
)
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    ApprovalRequest,
    Choice,
    Decider,
)
from amplifier_hooks.approvals.stores.approval_rows import (
    CHUNK,
    list_approvals,
    load_approval,
    load_approvals,
    name_values,
    read_approvals,
    split_ids,
)
from amplifier_hooks.approvals.stores.checks import (
    INPUT,
    LONGEST,
    PREVIEW,
    read_seconds,
    refuse_bad_request,
    write_json,
)
from amplifier_hooks.approvals.stores.decisions import (
    decide,
    expire_one,
    expire_overdue,
    mark_lost,
    read_wait,
    remove_old,
    withdraw,
)
from amplifier_hooks.approvals.stores.engine import (
    ANY,
    Change,
    Check,
    Engine,
    Transaction,
    do_after,
)
from amplifier_hooks.approvals.stores.gathering import Gathering

PENDING_OF_SESSION = 1_000
PENDING = 100_000

_INSERT = """
INSERT INTO approvals (
    id, request_key, nonce, status, session_id, tool_call_id, hook, event, tool_name, machine,
    requester, digest, default_answer, persons, request, created, deadline, updated
)
SELECT
    :id, :request_key, :nonce, 'pending', :session_id, :tool_call_id, :hook, :event, :tool_name,
    :machine, :requester, :digest, :default_answer, :persons, :request, clock.now,
    clock.now + :timeout, clock.now
FROM (SELECT unix_now() AS now) AS clock
WHERE :most > (
    SELECT count(*) FROM approvals
    WHERE session_id = :session_id AND status = 'pending' AND deadline > clock.now
)
ON CONFLICT (request_key) DO NOTHING
RETURNING created, deadline
"""
# Counts no further than the limit.
_COUNT = """
SELECT count(*) AS pending FROM (
    SELECT 1 FROM approvals WHERE status = 'pending' AND deadline > unix_now() LIMIT :most
) AS counted
"""


class Room:
    """How many more may wait in the store. To count them all for every one would take longest."""

    def __init__(self) -> None:
        self._sure = 0

    def refuse_full(self, transaction: Transaction) -> None:
        """Raise TooMany if this one, which is there, is one too many."""
        if self._sure > 0:
            self._sure -= 1
            return
        waiting = transaction.run(_COUNT, most=PENDING + 1)[0]["pending"]
        if waiting > PENDING:
            raise TooMany(f"{PENDING} approvals wait for a person in this store; no more can")
        # Others add as well: none of a few processes can overrun what is left.
        self._sure = min(1_000, (PENDING - waiting) // 16)


def encode_request(request: ApprovalRequest) -> str:
    """The request as text; BadRequest if it cannot be asked."""
    refuse_bad_request(request)
    encoded = write_json("request", request, INPUT + 2 * PREVIEW)
    if len(encoded) > INPUT:
        write_json("tool_input", request.tool_input, INPUT)
    return encoded


def put_request(
    transaction: Transaction, request: ApprovalRequest, encoded: str, room: Room
) -> Approval:
    """Insert the question, or find the one that was put with the same key."""
    approval_id, nonce = secrets.token_hex(16), secrets.token_urlsafe(16)
    inserted = transaction.run(
        _INSERT,
        id=approval_id,
        request_key=request.key,
        nonce=nonce,
        session_id=request.session_id,
        tool_call_id=request.tool_call_id,
        hook=request.hook,
        event=request.event,
        tool_name=request.tool_name,
        machine=request.machine,
        requester=request.requester,
        digest=request.digest,
        default_answer=request.default,
        persons=request.requirement.persons,
        request=encoded,
        timeout=float(request.timeout),
        most=PENDING_OF_SESSION,
    )
    if not inserted:
        return _find(transaction, request)
    # Raising here takes it back.
    room.refuse_full(transaction)
    transaction.announce("approval", approval_id)
    created, deadline = inserted[0]["created"], inserted[0]["deadline"]
    return Approval(
        id=approval_id,
        nonce=nonce,
        status="pending",
        request=request,
        created=created,
        deadline=deadline,
        updated=created,
        seconds_left=deadline - created,
    )


def _find(transaction: Transaction, request: ApprovalRequest) -> Approval:
    """The one with the same key; TooMany if there is none, because its session is full."""
    found = transaction.run(
        "SELECT *, unix_now() AS now FROM approvals WHERE request_key = :key", key=request.key
    )
    if not found:
        raise TooMany(
            f"Session {request.session_id!r} has {PENDING_OF_SESSION} approvals that wait for a "
            "person; no more can"
        )
    approval = read_approvals(transaction, found)[0]
    if _identify(approval.request) != _identify(request):
        raise Conflict(f"The key {request.key!r} belongs to another request; use a new one")
    return approval


def _identify(request: ApprovalRequest) -> tuple[str, ...]:
    return (
        request.session_id,
        request.tool_call_id,
        request.hook,
        request.event,
        request.prompt,
        request.digest,
        request.requester,
    )


POLL = 1.0
"""Seconds after which every row is looked at, news or not."""
PATIENCE = 0.02
"""Seconds until something that should be overdue, and is not yet, is looked at again."""

_OVER = (
    "SELECT id, status FROM approvals WHERE id IN ({names}) "
    "AND (status <> 'pending' OR deadline <= unix_now())"
)

T = TypeVar("T")
R = TypeVar("R")
Waiter = asyncio.Future[Approval]


class Waiters:
    """Everybody in this process who waits for an approval. No task runs while nobody does."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: dict[str, set[Waiter]] = {}
        self._deadlines: dict[str, float] = {}
        self._woken: set[str] = set()
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def wait(self, approval_id: str, seconds: float) -> Approval:
        """The approval as soon as it is no longer pending, or as it is after that time."""
        waiter: Waiter = asyncio.get_running_loop().create_future()
        self._add(approval_id, waiter)
        try:
            # Looked at after the waiter is there: a decision in between is news for it.
            approval = await self._look(approval_id)
            if approval.status != "pending" or seconds <= 0:
                return approval
            self._expect(approval)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if seconds == float("inf") else seconds):
                    return await waiter
            return await self._look(approval_id)
        finally:
            self._remove(approval_id, waiter)

    def tell(self, approval: Approval) -> None:
        """Wake those who wait for it, if it is no longer pending: here it has just been read."""
        if approval.status == "pending":
            return
        for waiter in self._waiting.get(approval.id, ()):
            if not waiter.done():
                waiter.set_result(approval)

    async def close(self) -> None:
        """Tell everybody that the store is closed."""
        self._closed = True
        for waiters in list(self._waiting.values()):
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_exception(StoreUnavailable("The store was closed"))
        tasks = self._tasks
        self._tasks = []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _add(self, approval_id: str, waiter: Waiter) -> None:
        if self._closed:
            raise StoreUnavailable("The store is closed")
        self._waiting.setdefault(approval_id, set()).add(waiter)
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._listen(), name="store-waiters-listen"),
                asyncio.create_task(self._run(), name="store-waiters"),
            ]

    def _remove(self, approval_id: str, waiter: Waiter) -> None:
        waiters = self._waiting.get(approval_id, set())
        waiters.discard(waiter)
        if waiter.done() and not waiter.cancelled():
            waiter.exception()  # was seen, or nobody is left to see it
        if not waiters:
            self._waiting.pop(approval_id, None)
            self._deadlines.pop(approval_id, None)
        if not self._waiting:
            tasks = self._tasks
            self._tasks = []
            for task in tasks:
                task.cancel()

    def _expect(self, approval: Approval) -> None:
        self._deadlines[approval.id] = asyncio.get_running_loop().time() + approval.seconds_left
        if approval.seconds_left < POLL:
            self._wake.set()

    async def _look(self, approval_id: str) -> Approval:
        approval = await self._engine.read(
            lambda transaction: load_approval(transaction, approval_id), one_state=False
        )
        if approval.status != "pending" or approval.seconds_left > 0:
            return approval
        return await self._engine.write(lambda transaction: _expire(transaction, approval_id))

    async def _listen(self) -> None:
        """Gather which of the approvals may have changed."""
        while True:
            with contextlib.suppress(StoreError):
                async with self._engine.listen() as changes:
                    # What changed before the listener was there was nobody's news.
                    self._notice(Change(ANY, ANY))
                    async for change in changes:
                        self._notice(change)
            if self._closed:
                return
            await asyncio.sleep(POLL)

    def _notice(self, change: Change) -> None:
        if change.topic == ANY:
            self._woken.update(self._waiting)
        elif change.topic == "approval" and change.subject in self._waiting:
            self._woken.add(change.subject)
        if self._woken:
            self._wake.set()

    async def _run(self) -> None:
        """Look at what may have changed or is due, as one query, again and again."""
        loop = asyncio.get_running_loop()
        poll = loop.time() + POLL
        while True:
            nearest = min(self._deadlines.values(), default=poll)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(min(poll, nearest)):
                    await self._wake.wait()
            self._wake.clear()
            ids = self._take_due(loop.time()) | self._woken
            self._woken = set()
            if loop.time() >= poll:
                ids = set(self._waiting)
                poll = loop.time() + POLL
            if ids:
                with contextlib.suppress(StoreError):
                    await self._tell(ids & self._waiting.keys())

    def _take_due(self, now: float) -> set[str]:
        """Those whose time is over by this process's clock; the store's may be a little behind."""
        due = {id for id, deadline in self._deadlines.items() if deadline <= now}
        self._deadlines.update(dict.fromkeys(due, now + PATIENCE))
        return due

    async def _tell(self, ids: Collection[str]) -> None:
        ended = await self._read(ids, _find_over)
        overdue = [id for id, status in ended.items() if status == "pending"]
        for chunk in split_ids(overdue):
            await self._engine.write(partial(_expire_all, ids=chunk))
        for chunk in split_ids(list(ended)):
            for approval in await self._read(chunk, load_approvals):
                self.tell(approval)
                if approval.status == "pending" and approval.id in self._waiting:
                    self._expect(approval)

    async def _read(self, ids: T, work: Callable[[Transaction, T], R]) -> R:
        return await self._engine.read(lambda transaction: work(transaction, ids))


def _find_over(transaction: Transaction, ids: Collection[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for chunk in split_ids(list(ids)):
        names, values = name_values(chunk)
        for row in transaction.run(_OVER.format(names=names), **values):
            found[row["id"]] = row["status"]
    return found


def _expire(transaction: Transaction, approval_id: str) -> Approval:
    expire_one(transaction, approval_id)
    return load_approval(transaction, approval_id)


def _expire_all(transaction: Transaction, ids: Iterable[str]) -> None:
    for approval_id in ids:
        expire_one(transaction, approval_id)


LONGEST_AGE = 100 * 366 * 24 * 3600.0
Found = list[Approval]  # within the class, `list` is a method


class Approvals:
    """Questions, their answers, and those who wait for them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiters = Waiters(engine)
        self._room = Room()
        self._found: Gathering[str, Approval] = Gathering(self._load, CHUNK)

    async def request(self, request: ApprovalRequest, *, check: Check | None = None) -> Approval:
        """Put a question, durably; with a key that is known, the approval that is there."""
        encoded = encode_request(request)
        put = partial(put_request, request=request, encoded=encoded, room=self._room)
        return await self._engine.write(do_after(check, put), repeatable=True)

    async def get(self, approval_id: str) -> Approval:
        """The approval of that id; NotFound if there is none."""
        found = await self._found.get(approval_id)
        if found is None:
            raise NotFound(f"There is no approval {approval_id!r}")
        return found

    async def _load(self, ids: Sequence[str]) -> dict[str, Approval]:
        found = await self._engine.read(
            lambda transaction: load_approvals(transaction, ids), one_state=False
        )
        return {approval.id: approval for approval in found}

    async def list(self, wanted: ApprovalFilter | None = None) -> tuple[Found, str]:
        """One page, and the `after` of the next one; empty if there is none."""
        chosen = wanted or ApprovalFilter()
        return await self._engine.read(lambda transaction: list_approvals(transaction, chosen))

    async def wait(self, approval_id: str, seconds: float) -> Approval:
        """The approval as soon as it is no longer pending, or as it is after that time."""
        return await self._waiters.wait(approval_id, read_wait(seconds))

    async def decide(self, approval_id: str, choice: Choice, decider: Decider) -> Approval:
        """Decide, or add one vote of several.

        The same key of the same person again gets the same answer. Conflict says that somebody
        else was first, or that time was; NotAllowed, that this person may not.
        """
        decided = await self._engine.write(
            lambda transaction: decide(transaction, approval_id, choice, decider), repeatable=True
        )
        if isinstance(decided, Conflict):
            raise decided
        self._waiters.tell(decided)
        return decided

    async def withdraw(
        self,
        approval_id: str,
        *,
        by: str = "",
        option: str = "",
        reason: str = "",
        check: Check | None = None,
    ) -> Approval:
        """Stop asking: expired if its time is over, else cancelled; decided ones stay so."""
        work = partial(withdraw, approval_id=approval_id, by=by, option=option, reason=reason)
        withdrawn = await self._engine.write(do_after(check, work), repeatable=True)
        self._waiters.tell(withdrawn)
        return withdrawn

    async def expire_overdue(self) -> Found:
        """End all whose time is over."""
        return await self._end_all(expire_overdue)

    async def mark_lost(self) -> Found:
        """Give up all claims whose lease has lapsed: their outcome is unknown."""
        return await self._end_all(mark_lost)

    async def remove_older(self, seconds: float) -> int:
        """Remove those that ended longer ago, which must be at least as long as one can wait.

        Who claims a call after that is told that nobody was asked about it.
        """
        age = read_seconds("age", seconds, LONGEST_AGE)
        if age < LONGEST:
            raise BadRequest(f"Approvals are kept for at least {LONGEST:g} seconds, not {age:g}")
        removed = 0
        while portion := await self._engine.write(partial(remove_old, age=age)):
            removed += portion
        return removed

    async def _end_all(self, end: Callable[[Transaction], Found]) -> Found:
        ended: Found = []
        while portion := await self._engine.write(end):
            ended += portion
        return ended

    async def close(self) -> None:
        """Tell everybody who waits that there is no more to come."""
        await self._waiters.close()
