"""Clients of a server that stands in front of a store: for agents, and for people."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import quote

from amplifier_hooks.approvals.errors import StoreUnavailable, TooMany
from amplifier_hooks.approvals.http_connection import SECONDS, Connection, encode_body
from amplifier_hooks.approvals.link import Outcome
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    ApprovalPage,
    ApprovalRequest,
    Choice,
    Claim,
    ClaimAnswer,
    RuleAnswer,
    RuleList,
    SessionEntry,
    SessionRecord,
    StandingRule,
    Value,
)
from amplifier_hooks.approvals.retry import FIRST_PAUSE, LONGEST_PAUSE, retry

T = TypeVar("T")
V = TypeVar("V", bound=Value)

LARGEST = 1024 * 1024
"""Bytes of JSON in one request; servers take twice as much."""
MOST = 1000
BODY = 256 * 1024
"""Bytes of a record's body; the store keeps no more of one."""


def fit_transcript(messages: Sequence[Any], largest: int = LARGEST) -> list[Any]:
    """The newest messages that fit; a first entry says how many were left out."""
    kept: list[Any] = []
    size = 0
    for message in reversed(messages):
        size += _measure(message)
        if size > largest:
            break
        kept.append(message)
    if len(kept) < len(messages):
        kept.append({"left_out": len(messages) - len(kept)})
    return kept[::-1]


def split_records(
    records: Sequence[SessionRecord], largest: int = LARGEST
) -> Iterator[list[SessionRecord]]:
    """The records in portions that fit, in their order."""
    portion: list[SessionRecord] = []
    size = 0
    for record in map(_shorten, records):
        length = _measure(record)
        if portion and (size + length > largest or len(portion) == MOST):
            yield portion
            portion = []
            size = 0
        portion.append(record)
        size += length
    if portion:
        yield portion


def _shorten(record: SessionRecord) -> SessionRecord:
    length = _measure(record.body)
    if length <= BODY:
        return record
    return record.model_copy(update={"body": {"left_out": f"{length} bytes"}})


def _measure(value: Any) -> int:
    return len(encode_body(value)) + 1


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
        return await self._post("/agent/approvals", request, Approval, patience=request.timeout)

    async def wait(self, approval_id: str, seconds: float) -> Approval:
        """The approval as soon as it is no longer pending, or as it is after that time."""
        end = monotonic() + seconds
        path = f"/agent/approvals/{_quote(approval_id)}"
        while True:
            left = max(0.0, end - monotonic())
            approval = await _persist(lambda: _poll(self._connection, path, end), left)
            if approval.status != "pending" or monotonic() >= end:
                return approval

    async def withdraw(
        self, approval_id: str, *, by: str = "", option: str = "", reason: str = ""
    ) -> Approval:
        """Stop asking."""
        body = {"by": by, "option": option, "reason": reason}
        path = f"/agent/approvals/{_quote(approval_id)}/withdrawal"
        return await self._post(path, body, Approval)

    async def claim(
        self, session_id: str, tool_call_id: str, digest: str, lease: float
    ) -> Claim | None:
        """The right to run a call, once.

        If the answer to a claim gets lost, the next try is a Conflict: the call does not run.
        """
        body = {
            "session_id": session_id,
            "tool_call_id": tool_call_id,
            "digest": digest,
            "lease": lease,
        }
        return (await self._post("/agent/claims", body, ClaimAnswer)).claim

    async def renew(self, claim: Claim, lease: float) -> Claim:
        """Keep a claim while the call runs."""
        body = {"approvals": claim.approvals, "lease": lease}
        answer = await self._post(f"/agent/claims/{claim.fence}/renewal", body, ClaimAnswer)
        if answer.claim is None:
            raise StoreUnavailable(f"{self._connection.host} did not renew the claim")
        return answer.claim

    async def finish(self, claim: Claim, outcome: Outcome) -> None:
        """Record how the call ended."""
        body = {"approvals": claim.approvals, "outcome": outcome}
        await self._post(f"/agent/claims/{claim.fence}/result", body, Value)

    async def find_rule(self, request: ApprovalRequest) -> StandingRule | None:
        """The standing rule that allows this."""
        return (await self._post("/agent/rules/match", request, RuleAnswer)).rule

    async def save_session(
        self, entry: SessionEntry, transcript: Sequence[Mapping[str, Any]] | None = None
    ) -> None:
        """Put a session into the index, or renew it there."""
        messages = None if transcript is None else fit_transcript(transcript)
        await self._post("/agent/sessions", {**dict(entry), "transcript": messages}, Value)

    async def publish(self, session_id: str, records: Sequence[SessionRecord]) -> None:
        """Add records of a session's trail."""
        path = f"/agent/sessions/{_quote(session_id)}/records"
        for portion in split_records(records):
            await self._post(path, {"records": portion}, Value)

    async def close(self) -> None:
        """End all connections."""
        await self._connection.close()

    async def _post(
        self, path: str, body: Any, kind: type[V], *, patience: float | None = None
    ) -> V:
        seconds = self._patience if patience is None else patience
        return await _persist(lambda: self._connection.post(path, body, kind), seconds)


Found = list[Approval]  # within the class, `list` is a method
Rules = list[StandingRule]


class PeopleClient:
    """A person's token at a server; who decides is what the token says."""

    def __init__(self, url: str, token: str) -> None:
        self._connection = Connection(url, token)

    async def list(self, wanted: ApprovalFilter) -> tuple[Found, str]:
        """Approvals, and where the next ones begin."""
        page = await self._connection.get(
            "/approvals",
            ApprovalPage,
            status=list(wanted.status) or None,
            session=wanted.session_id,
            machine=wanted.machine,
            hook=wanted.hook,
            tool=wanted.tool,
            order="new" if wanted.newest_first else "old",
            limit=wanted.limit,
            after=wanted.after,
        )
        return [*page.approvals], page.next

    async def get(self, approval_id: str) -> Approval:
        """One approval."""
        return await self._connection.get(f"/approvals/{_quote(approval_id)}", Approval)

    async def wait(self, approval_id: str, seconds: float) -> Approval:
        """One approval, as soon as it is no longer pending."""
        end = monotonic() + seconds
        while True:
            approval = await _poll(self._connection, f"/approvals/{_quote(approval_id)}", end)
            if approval.status != "pending" or monotonic() >= end:
                return approval

    async def decide(self, approval_id: str, choice: Choice) -> Approval:
        """Decide; Conflict if somebody was first."""
        body = {key: value for key, value in choice if value is not None}
        return await self._connection.post(
            f"/approvals/{_quote(approval_id)}/decision", body, Approval
        )

    async def list_rules(self, *, include_ended: bool = False) -> Rules:
        """The standing rules."""
        ended = "true" if include_ended else None
        return (await self._connection.get("/rules", RuleList, ended=ended)).rules

    async def revoke_rule(self, rule_id: str) -> StandingRule:
        """Take a rule back."""
        path = f"/rules/{_quote(rule_id)}/revocation"
        return await self._connection.post(path, {}, StandingRule)

    async def watch(self) -> AsyncIterator[Approval]:
        """Every pending approval, then each one that changes; comes back after an interruption."""
        pause = FIRST_PAUSE
        while True:
            try:
                async for approval in self._connection.stream("/approvals/stream", Approval):
                    pause = FIRST_PAUSE
                    if approval is not None:
                        yield approval
            except StoreUnavailable:
                if pause >= LONGEST_PAUSE:
                    raise
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def close(self) -> None:
        """End all connections."""
        await self._connection.close()


async def _persist(attempt: Callable[[], Awaitable[T]], seconds: float) -> T:
    return await retry(attempt, seconds, errors=(StoreUnavailable, TooMany))


async def _poll(connection: Connection, path: str, end: float) -> Approval:
    """One long poll, which ends at that time at the latest."""
    wait = min(max(0.0, end - monotonic()), POLL_SECONDS)
    return await connection.get(path, Approval, wait=round(wait, 3), seconds=wait + SECONDS)


def _quote(text: str) -> str:
    return quote(text, safe="")


__all__ = ["HttpLink", "PeopleClient"]
