"""Clients of a server that stands in front of a store: for agents, and for people."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any
from urllib.parse import quote

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.http_connection import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    SECONDS,
    Connection,
    persist,
)
from amplifier_hooks.approvals.link import Outcome
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    ApprovalRequest,
    Choice,
    Claim,
    SessionEntry,
    SessionRecord,
    StandingRule,
    read_approval,
    read_plain,
    to_plain,
)

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
    records: Sequence[Mapping[str, Any]], largest: int = LARGEST
) -> Iterator[list[Mapping[str, Any]]]:
    """The records in portions that fit, in their order."""
    portion: list[Mapping[str, Any]] = []
    size = 0
    for record in map(_shorten, records):
        length = _measure(record)
        if portion and (size + length > largest or len(portion) == MOST):
            yield portion
            portion, size = [], 0
        portion.append(record)
        size += length
    if portion:
        yield portion


def _shorten(record: Mapping[str, Any]) -> Mapping[str, Any]:
    length = _measure(record["body"])
    return record if length <= BODY else {**record, "body": {"left_out": f"{length} bytes"}}


def _measure(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":"))) + 1


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


Found = list[Approval]  # within the class, `list` is a method
Rules = list[StandingRule]


class PeopleClient:
    """A person's token at a server; who decides is what the token says."""

    def __init__(self, url: str, token: str) -> None:
        self._connection = Connection(url, token)

    async def get_me(self) -> dict[str, Any]:
        """The name and the scopes of the token."""
        found: dict[str, Any] = await self._connection.get("/me")
        return found

    async def list(self, wanted: ApprovalFilter) -> tuple[Found, str]:
        """Approvals, and where the next ones begin."""
        answer = await self._connection.get(
            "/approvals",
            status=list(wanted.status) or None,
            session=wanted.session_id,
            machine=wanted.machine,
            hook=wanted.hook,
            tool=wanted.tool,
            order="new" if wanted.newest_first else "old",
            limit=wanted.limit,
            after=wanted.after,
        )
        return [read_approval(one) for one in answer["approvals"]], str(answer["next"])

    async def get(self, approval_id: str) -> Approval:
        """One approval."""
        return read_approval(await self._connection.get(f"/approvals/{_quote(approval_id)}"))

    async def wait(self, approval_id: str, seconds: float) -> Approval:
        """One approval, as soon as it is no longer pending."""
        end = monotonic() + seconds
        while True:
            wait = min(max(0.0, end - monotonic()), POLL_SECONDS)
            path = f"/approvals/{_quote(approval_id)}"
            answer = await self._connection.get(path, wait=round(wait, 3), seconds=wait + SECONDS)
            approval = read_approval(answer)
            if approval.status != "pending" or monotonic() >= end:
                return approval

    async def decide(self, approval_id: str, choice: Choice) -> Approval:
        """Decide; Conflict if somebody was first."""
        body = {key: value for key, value in to_plain(choice).items() if value is not None}
        path = f"/approvals/{_quote(approval_id)}/decision"
        return read_approval(await self._connection.post(path, body))

    async def list_rules(self, *, include_ended: bool = False) -> Rules:
        """The standing rules."""
        ended = "true" if include_ended else None
        answer = await self._connection.get("/rules", ended=ended)
        return [read_plain(StandingRule, one) for one in answer["rules"]]

    async def revoke_rule(self, rule_id: str) -> StandingRule:
        """Take a rule back."""
        path = f"/rules/{_quote(rule_id)}/revocation"
        return read_plain(StandingRule, await self._connection.post(path, {}))

    async def watch(self) -> AsyncIterator[Approval]:
        """Every pending approval, then each one that changes; comes back after an interruption."""
        pause = FIRST_PAUSE
        while True:
            try:
                async for line in self._connection.stream("/approvals/stream"):
                    pause = FIRST_PAUSE
                    if line.startswith("data: "):
                        yield read_approval(_parse(line.removeprefix("data: ")))
            except StoreUnavailable:
                if pause >= LONGEST_PAUSE:
                    raise
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def close(self) -> None:
        """End all connections."""
        await self._connection.close()


def _parse(text: str) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = json.loads(text)
    except ValueError as error:
        raise StoreUnavailable("The server sent an event that is not JSON") from error
    return found


__all__ = ["HttpLink", "PeopleClient"]
