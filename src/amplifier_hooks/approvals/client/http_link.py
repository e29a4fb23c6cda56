"""An agent's link to a server on this or another machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any
from urllib.parse import quote

from amplifier_hooks.approvals.client.connection import SECONDS, Connection
from amplifier_hooks.approvals.client.patience import persist
from amplifier_hooks.approvals.client.portions import fit_transcript, split_records
from amplifier_hooks.approvals.stores.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.link import Outcome
from amplifier_hooks.approvals.stores.values.approval import Approval, ApprovalRequest, Claim
from amplifier_hooks.approvals.stores.values.plain import read_approval, read_plain, to_plain
from amplifier_hooks.approvals.stores.values.rule import StandingRule
from amplifier_hooks.approvals.stores.values.session import SessionEntry, SessionRecord

POLL_SECONDS = 25.0
"""How long one long poll lasts: shorter than what proxies cut off."""
PATIENCE = 30.0
"""For how long a server that does not answer is tried again."""


class HttpLink:
    """AgentLink over HTTP. A token with the scope `agent` is all it has: it cannot decide."""

    def __init__(self, url: str, token: str, *, patience: float = PATIENCE) -> None:
        self._connection = Connection(url, token)
        self._patience = patience

    async def request(self, request: ApprovalRequest) -> Approval:
        """Put a question; tried again until its time is over, which its key makes harmless."""
        body = to_plain(request)
        answer = await persist(lambda: self._post("/agent/approvals", body), request.timeout)
        return self._read(answer)

    async def wait(self, approval_id: str, seconds: float) -> Approval:
        """The approval as soon as it is no longer pending, or as it is after that time."""
        end = monotonic() + seconds
        while True:
            left = max(0.0, end - monotonic())
            approval = await persist(lambda: self._poll(approval_id, end), left)
            if approval.status != "pending" or monotonic() >= end:
                return approval

    async def _poll(self, approval_id: str, end: float) -> Approval:
        wait = min(max(0.0, end - monotonic()), POLL_SECONDS)
        path = f"/agent/approvals/{_quote(approval_id)}"
        return self._read(
            await self._connection.get(path, wait=round(wait, 3), seconds=wait + SECONDS)
        )

    async def withdraw(
        self, approval_id: str, *, by: str = "", option: str = "", reason: str = ""
    ) -> Approval:
        """Stop asking."""
        body = {"by": by, "option": option, "reason": reason}
        path = f"/agent/approvals/{_quote(approval_id)}/withdrawal"
        return self._read(await self._persist(path, body))

    async def claim(
        self, session_id: str, tool_call_id: str, digest: str, lease: float
    ) -> Claim | None:
        """The right to run a call, once.

        If the answer to a claim gets lost, the next try is a Conflict: the call does not run.
        """
        body = {"tool_call_id": tool_call_id, "digest": digest, "lease": lease}
        answer = await self._persist("/agent/claims", {"session_id": session_id, **body})
        return _read_claim(answer)

    async def renew(self, claim: Claim, lease: float) -> Claim:
        """Keep a claim while the call runs."""
        body = {"approvals": list(claim.approvals), "lease": lease}
        renewed = _read_claim(await self._persist(f"/agent/claims/{claim.fence}/renewal", body))
        if renewed is None:
            raise StoreUnavailable(f"{self._connection.host} did not renew the claim")
        return renewed

    async def finish(self, claim: Claim, outcome: Outcome) -> None:
        """Record how the call ended."""
        body = {"approvals": list(claim.approvals), "outcome": outcome}
        await self._persist(f"/agent/claims/{claim.fence}/result", body)

    async def find_rule(self, request: ApprovalRequest) -> StandingRule | None:
        """The standing rule that allows this."""
        answer = await self._persist("/agent/rules/match", to_plain(request))
        found = answer.get("rule")
        return read_plain(StandingRule, found) if isinstance(found, dict) else None

    async def save_session(
        self, entry: SessionEntry, transcript: Sequence[Mapping[str, Any]] | None = None
    ) -> None:
        """Put a session into the index, or renew it there."""
        messages = None if transcript is None else fit_transcript(to_plain(list(transcript)))
        await self._persist("/agent/sessions", {**to_plain(entry), "transcript": messages})

    async def publish(self, session_id: str, records: Sequence[SessionRecord]) -> None:
        """Add records of a session's trail."""
        path = f"/agent/sessions/{_quote(session_id)}/records"
        for portion in split_records(to_plain(list(records))):
            await self._persist(path, {"records": portion})

    async def close(self) -> None:
        """End all connections."""
        await self._connection.close()

    async def _persist(self, path: str, body: Mapping[str, Any]) -> Any:
        return await persist(lambda: self._post(path, body), self._patience)

    async def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        return await self._connection.post(path, body)

    def _read(self, answer: Any) -> Approval:
        try:
            return read_approval(answer)
        except (KeyError, TypeError, ValueError) as error:
            raise StoreUnavailable(
                f"{self._connection.host} answered with something else than an approval"
            ) from error


def _read_claim(answer: Mapping[str, Any]) -> Claim | None:
    try:
        # Null says that nobody was asked; an answer without a word on it says nothing.
        claim = answer["claim"]
        if claim is None:
            return None
        return Claim(int(claim["fence"]), tuple(claim["approvals"]), float(claim["lease_until"]))
    except (KeyError, TypeError, ValueError) as error:
        raise StoreUnavailable("The server answered with something else than a claim") from error


def _quote(text: str) -> str:
    return quote(text, safe="")
