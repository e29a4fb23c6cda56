"""The agent's interface to a store, or to a server in front of one. Nothing here decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalRequest,
    Claim,
    SessionEntry,
    SessionRecord,
    StandingRule,
)

Outcome = Literal["executed", "failed"]


class AgentLink(Protocol):
    """How an agent asks people elsewhere, and reports what it does."""

    async def request(self, request: ApprovalRequest) -> Approval:
        """Put a question, durably; with a key that is known, the approval that is there."""
        ...

    async def wait(self, approval_id: str, seconds: float) -> Approval:
        """The approval as soon as it is no longer pending, or as it is after that time."""
        ...

    async def withdraw(
        self, approval_id: str, *, by: str = "", option: str = "", reason: str = ""
    ) -> Approval:
        """Stop asking: expired if its time is over, else cancelled; decided ones stay so.

        With `by` and `option`, somebody has answered at the terminal.
        """
        ...

    async def claim(
        self, session_id: str, tool_call_id: str, digest: str, lease: float
    ) -> Claim | None:
        """The right to run a call, once; None if nobody was asked about it here.

        Raises Conflict if it was claimed before, or one of its approvals was not allowed.
        """
        ...

    async def renew(self, claim: Claim, lease: float) -> Claim:
        """Keep a claim while the call runs; Conflict if it was given up as unknown."""
        ...

    async def finish(self, claim: Claim, outcome: Outcome) -> None:
        """Record how the call ended; Conflict if the claim was given up as unknown."""
        ...

    async def find_rule(self, request: ApprovalRequest) -> StandingRule | None:
        """The standing rule that allows this, whose use is counted with this call."""
        ...

    async def save_session(
        self, entry: SessionEntry, transcript: Sequence[Mapping[str, Any]] | None = None
    ) -> None:
        """Put a session into the index, or renew it there."""
        ...

    async def publish(self, session_id: str, records: Sequence[SessionRecord]) -> None:
        """Add records of a session's trail; those whose number is known are passed over."""
        ...

    async def close(self) -> None: ...
