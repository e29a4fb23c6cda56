"""What a person does at a server from a shell: look, decide, take rules back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from time import monotonic
from typing import Any
from urllib.parse import quote

from amplifier_hooks.approvals.client.connection import SECONDS, Connection
from amplifier_hooks.approvals.client.patience import FIRST_PAUSE, LONGEST_PAUSE
from amplifier_hooks.approvals.stores.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.values.approval import Approval, ApprovalFilter, Choice
from amplifier_hooks.approvals.stores.values.plain import read_approval, read_plain, to_plain
from amplifier_hooks.approvals.stores.values.rule import StandingRule

POLL_SECONDS = 25.0
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


def _quote(text: str) -> str:
    return quote(text, safe="")
