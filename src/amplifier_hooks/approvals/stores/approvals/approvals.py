"""The approvals of a store."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from amplifier_hooks.approvals.stores.approvals import endings, rows
from amplifier_hooks.approvals.stores.approvals.choices import read_wait
from amplifier_hooks.approvals.stores.approvals.decisions import decide
from amplifier_hooks.approvals.stores.approvals.listing import list_approvals
from amplifier_hooks.approvals.stores.approvals.requests import Room, encode_request, put_request
from amplifier_hooks.approvals.stores.approvals.waiters import Waiters
from amplifier_hooks.approvals.stores.checks.fields import read_seconds
from amplifier_hooks.approvals.stores.checks.limits import LONGEST
from amplifier_hooks.approvals.stores.engine import Engine, Transaction
from amplifier_hooks.approvals.stores.errors import BadRequest, Conflict
from amplifier_hooks.approvals.stores.values.approval import (
    Approval,
    ApprovalFilter,
    ApprovalRequest,
    Choice,
    Decider,
)

LONGEST_AGE = 100 * 366 * 24 * 3600.0
Found = list[Approval]  # within the class, `list` is a method


class Approvals:
    """Questions, their answers, and those who wait for them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiters = Waiters(engine)
        self._room = Room()

    async def request(self, request: ApprovalRequest) -> Approval:
        """Put a question, durably; with a key that is known, the approval that is there."""
        encoded = encode_request(request)
        return await self._engine.write(
            lambda transaction: put_request(transaction, request, encoded, self._room)
        )

    async def get(self, approval_id: str) -> Approval:
        """The approval of that id; NotFound if there is none."""
        return await self._engine.read(lambda transaction: rows.load(transaction, approval_id))

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
            lambda transaction: decide(transaction, approval_id, choice, decider)
        )
        if isinstance(decided, Conflict):
            raise decided
        self._waiters.tell(decided)
        return decided

    async def withdraw(
        self, approval_id: str, *, by: str = "", option: str = "", reason: str = ""
    ) -> Approval:
        """Stop asking: expired if its time is over, else cancelled; decided ones stay so."""
        withdrawn = await self._engine.write(
            lambda transaction: endings.withdraw(transaction, approval_id, by, option, reason)
        )
        self._waiters.tell(withdrawn)
        return withdrawn

    async def expire_overdue(self) -> Found:
        """End all whose time is over."""
        return await self._end_all(endings.expire_overdue)

    async def mark_lost(self) -> Found:
        """Give up all claims whose lease has lapsed: their outcome is unknown."""
        return await self._end_all(endings.mark_lost)

    async def remove_older(self, seconds: float) -> int:
        """Remove those that ended longer ago, which must be at least as long as one can wait.

        Who claims a call after that is told that nobody was asked about it.
        """
        age = read_seconds("age", seconds, LONGEST_AGE)
        if age < LONGEST:
            raise BadRequest(f"Approvals are kept for at least {LONGEST:g} seconds, not {age:g}")
        removed = 0
        while portion := await self._engine.write(partial(endings.remove_old, age=age)):
            removed += portion
        return removed

    async def _end_all(self, end: Callable[[Transaction], Found]) -> Found:
        ended: Found = []
        while True:
            portion = await self._engine.write(end)
            ended += portion
            if len(portion) < endings.PORTION:
                return ended

    async def close(self) -> None:
        """Tell everybody who waits that there is no more to come."""
        await self._waiters.close()
