"""What an agent needs, over a store that is open in its own process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from amplifier_hooks.approvals.stores.approvals.approvals import Approvals
from amplifier_hooks.approvals.stores.approvals.claims import Claims
from amplifier_hooks.approvals.stores.link import Outcome
from amplifier_hooks.approvals.stores.records import Records
from amplifier_hooks.approvals.stores.rules import Rules
from amplifier_hooks.approvals.stores.sessions import Sessions
from amplifier_hooks.approvals.stores.values.approval import Approval, ApprovalRequest, Claim
from amplifier_hooks.approvals.stores.values.rule import StandingRule
from amplifier_hooks.approvals.stores.values.session import SessionEntry, SessionRecord


class EmbeddedLink:
    """An AgentLink whose other end is a store in this process."""

    def __init__(
        self,
        approvals: Approvals,
        claims: Claims,
        rules: Rules,
        sessions: Sessions,
        records: Records,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._approvals = approvals
        self._claims = claims
        self._rules = rules
        self._sessions = sessions
        self._records = records
        self._close = close

    async def request(self, request: ApprovalRequest) -> Approval:
        """Put a question, durably; with a key that is known, the approval that is there."""
        return await self._approvals.request(request)

    async def wait(self, approval_id: str, seconds: float) -> Approval:
        """The approval as soon as it is no longer pending, or as it is after that time."""
        return await self._approvals.wait(approval_id, seconds)

    async def withdraw(
        self, approval_id: str, *, by: str = "", option: str = "", reason: str = ""
    ) -> Approval:
        """Stop asking: expired if its time is over, else cancelled; decided ones stay so."""
        return await self._approvals.withdraw(approval_id, by=by, option=option, reason=reason)

    async def claim(
        self, session_id: str, tool_call_id: str, digest: str, lease: float
    ) -> Claim | None:
        """The right to run a call, once; None if nobody was asked about it here."""
        return await self._claims.claim(session_id, tool_call_id, digest, lease)

    async def renew(self, claim: Claim, lease: float) -> Claim:
        """Keep a claim while the call runs; Conflict if it was given up as unknown."""
        return await self._claims.renew(claim, lease)

    async def finish(self, claim: Claim, outcome: Outcome) -> None:
        """Record how the call ended; Conflict if the claim was given up as unknown."""
        await self._claims.finish(claim, outcome)

    async def find_rule(self, request: ApprovalRequest) -> StandingRule | None:
        """The standing rule that allows this, whose use is counted with this call."""
        return await self._rules.find_rule(request)

    async def save_session(
        self, entry: SessionEntry, transcript: Sequence[Mapping[str, Any]] | None = None
    ) -> None:
        """Put a session into the index, or renew it there."""
        await self._sessions.save(entry, transcript)

    async def publish(self, session_id: str, records: Sequence[SessionRecord]) -> None:
        """Add records of a session's trail; those whose number is known are passed over."""
        await self._records.publish(session_id, records)

    async def close(self) -> None:
        """Close the store, if the link owns it."""
        if self._close is not None:
            await self._close()
