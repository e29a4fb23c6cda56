"""Claims: a call that people elsewhere allowed is run once, and by this process alone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from amplifier_core.errors import ApprovalError
from amplifier_core.utils import describe_error
from amplifier_hooks.approvals.remote import RemoteApproval
from amplifier_hooks.approvals.stores.errors import Conflict, StoreError, StoreUnavailable
from amplifier_hooks.approvals.stores.link import AgentLink, Outcome
from amplifier_hooks.approvals.stores.values.approval import Claim

logger = logging.getLogger(__name__)

# Seconds that a claim holds without a sign of life, and that making one may take.
LEASE = 60.0
CLAIMING = 15.0
PAUSE = 1.0
GRACE = 3.0


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
                pause = min(PAUSE, self._lease / 3)
            except StoreError as error:
                logger.warning("A claim on a running call was lost: %s", describe_error(error))
                return


async def _record_end(held: _Held, outcome: Outcome, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            while True:
                try:
                    await held.link.finish(held.claim, outcome)
                    return
                except StoreUnavailable:
                    await asyncio.sleep(PAUSE)
    except (StoreError, TimeoutError) as error:
        logger.warning("How a call ended could not be recorded: %s", describe_error(error))
