"""Requests to a model and its replies, as the hooks of a run judge them."""

from __future__ import annotations

from typing import Any

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.message_models import ChatResponse
from amplifier_core.operation import KERNEL
from amplifier_core.payloads import ProviderRequestData, ProviderResponseData
from amplifier_core.utils import describe_error
from amplifier_core.utils.copying import is_same
from amplifier_hooks.coverage import Coverage
from amplifier_hooks.external.conversation import ExternalContext
from amplifier_hooks.external.messages import (
    Plain,
    find_problem,
    is_unchanged,
    place_messages,
)
from amplifier_hooks.external.verdicts import Reply, ReplyVerdict, RequestVerdict


async def refuse_change(
    coordinator: SessionCoordinator, coverage: Coverage | None, event: str
) -> str | None:
    """The denial of a change that the program cannot be given, by its table; None if it can."""
    if coverage is None or coverage.allows(event, "modify"):
        return None
    why = f"a hook changed {event}, which cannot be done: {coverage.explain(event, 'modify')}"
    return (await coordinator.deny(event, KERNEL, why)).denial


class ModelSide:
    """Keeps what hooks have added for good to a conversation that the framework holds."""

    def __init__(
        self, coordinator: SessionCoordinator, context: ExternalContext, coverage: Coverage | None
    ) -> None:
        self._coordinator = coordinator
        self._context = context
        self._coverage = coverage
        self._kept: list[tuple[int, Plain]] = []
        self._requests = 0

    async def request(
        self,
        messages: list[Plain],
        provider: str,
        model: str | None,
        tools: list[str],
        keeps: bool,
    ) -> RequestVerdict:
        """Judge a request; see `Run.request`."""
        self._requests += 1
        lasting = self._context.take()
        asked = ProviderRequestData(
            provider=provider,
            model=model,
            messages=[*self._add_kept(messages), *lasting],
            tools=tools,
            iteration=self._requests,
        )
        outcome = await self._coordinator.open_request(asked)
        lasting += self._context.take()
        if not keeps:
            self._kept += [(len(messages), one) for one in lasting]
        if not outcome.allowed or outcome.data is None:
            return RequestVerdict(False, outcome.denial, lasting=lasting, hook=outcome.hook)
        sent = outcome.data["messages"]
        if (problem := find_problem(sent)) is not None:
            denied = await self._coordinator.deny(events.PROVIDER_REQUEST, KERNEL, problem)
            return RequestVerdict(False, denied.denial, lasting=lasting, hook=KERNEL)
        placed = place_messages(messages, sent)
        changed = not is_unchanged(placed, len(messages))
        if changed and not self._can_change_request(messages, sent):
            reason = await self._refuse_change(events.PROVIDER_REQUEST)
            return RequestVerdict(False, reason or "", lasting=lasting, hook=KERNEL)
        return RequestVerdict(True, placed=placed, lasting=lasting, changed=changed)

    async def _refuse_change(self, event: str) -> str | None:
        return await refuse_change(self._coordinator, self._coverage, event)

    def _add_kept(self, messages: list[Plain]) -> list[Plain]:
        """The conversation with what hooks have added to it for good, each in its place."""
        merged = list(messages)
        for position, message in reversed(self._kept):
            merged.insert(min(position, len(messages)), message)
        return merged

    def _can_change_request(self, before: list[Plain], after: list[Plain]) -> bool:
        table = self._coverage
        if table is None or table.allows(events.PROVIDER_REQUEST, "modify"):
            return True
        kept = [one for one in after if (one.get("metadata") or {}).get("source") != "hook"]
        return kept == before

    async def review(self, reply: Reply, provider: str) -> ReplyVerdict:
        """Judge a reply."""
        if not self._coordinator.is_observed(events.PROVIDER_RESPONSE):
            return ReplyVerdict(True)
        described = _describe_reply(reply)
        data = ProviderResponseData(
            provider=provider,
            model=reply.model,
            response=described,
            usage=reply.usage,
            duration_ms=reply.duration_ms,
        )
        outcome = await self._coordinator.judge(events.PROVIDER_RESPONSE, data)
        if not outcome.allowed:
            return ReplyVerdict(False, outcome.denial, hook=outcome.hook)
        seen = (outcome.data or {}).get("response", described)
        if is_same(seen, described):
            return ReplyVerdict(True)
        if refused := await self._refuse_change(events.PROVIDER_RESPONSE):
            return ReplyVerdict(False, refused, hook=KERNEL)
        return _read_reply(reply, described, seen)


def _describe_reply(reply: Reply) -> dict[str, Any]:
    response = ChatResponse.model_validate(
        {
            "content": [{"type": "text", "text": reply.text}] if reply.text else [],
            "tool_calls": reply.calls or None,
            "finish_reason": reply.finish_reason,
        }
    )
    return response.model_dump()


def _read_reply(reply: Reply, given: dict[str, Any], seen: Any) -> ReplyVerdict:
    try:
        left = ChatResponse.model_validate(seen)
    except ValueError as error:
        why = f"A hook left no usable reply: {describe_error(error)}"
        return ReplyVerdict(False, why, hook=KERNEL)
    calls = [call.model_dump() for call in left.tool_calls or ()]
    before = list(given.get("tool_calls") or ())
    return ReplyVerdict(
        True,
        text=None if left.text == reply.text else left.text,
        calls=None if is_same(calls, before) else calls,
    )
