"""The approvals of one operation: every hook that asked must be answered with yes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from amplifier_core import events, payloads
from amplifier_core.answers import explain_refusal
from amplifier_core.approval import (
    ApprovalGate,
    ApprovalQuestion,
    GateDecision,
    find_unclear_options,
    resolve_options,
)
from amplifier_core.dispatch import Answer, Dispatch
from amplifier_core.handovers import Handover, Handovers, Notify
from amplifier_core.models import find_problem
from amplifier_core.output import Uncaptured
from amplifier_core.records import (
    ApprovalCancelled,
    ApprovalDecided,
    ApprovalExpired,
    ApprovalHandedOver,
    ApprovalKept,
    ApprovalRemembered,
    ApprovalRequested,
    ApprovalShown,
    Body,
)
from amplifier_core.trail import Trail
from amplifier_core.utils import digest
from amplifier_core.utils.copying import detach
from amplifier_core.utils.slots import give_up_slot

logger = logging.getLogger(__name__)


# The questions that were answered with yes in this operation, by registration and prompt: what a
# person remembered, with the digest that it holds for; what they said now, with none.
Answered = dict[tuple[Any, str, str], str]

# What is being asked further up in this very stack: a hook may not ask itself in a circle.
_open: ContextVar[frozenset[tuple[int, str, str]]] = ContextVar(
    "amplifier_open_questions", default=frozenset()
)


@dataclass(frozen=True, slots=True)
class ApprovalResult:
    """Whether an operation may go on after its questions, and what was said about it."""

    allowed: bool = True
    hook: str = ""
    reason: str = ""
    comments: tuple[str, ...] = ()
    edited_input: dict[str, Any] | None = None
    digest: str = ""
    waited: bool = False  # for a person, and did not only remember what one said
    handed_over: bool = False  # another program asks its person; the answer is not known


UNASKED = ApprovalResult()


def digest_operation(event: str, data: Mapping[str, Any]) -> str:
    """What is compared between the question and the run: the operation, not the time of it."""
    if "tool_name" in data:
        about = {"tool": data["tool_name"], "input": data.get("tool_input")}
        return digest({**about, "result": data["tool_result"]} if "tool_result" in data else about)
    return digest({"event": event, **{k: v for k, v in data.items() if k != "timestamp"}})


class Gatekeeper:
    """Asks in priority order, records before and after, and stops at the first no."""

    def __init__(
        self,
        gate: ApprovalGate,
        trail: Trail,
        notify: Notify,
        handovers: Handovers,
        find_tool: Callable[[Any], Any] = lambda name: None,
    ) -> None:
        self.gate = gate
        self._trail = trail
        self._notify = notify
        self._handovers = handovers
        self._find_tool = find_tool

    async def approve(self, run: Dispatch, answered: Answered, unasked: str = "") -> ApprovalResult:
        """Put every question of the operation that has not been answered yet.

        `unasked` is why no more questions may be put: what is left to ask is then refused.
        """
        if run.denied:
            last = run.answers[-1]
            return ApprovalResult(False, last.hook, str(last.result.reason or ""))
        if not run.asking and not answered:
            return UNASKED
        return await self._ask_all(run, answered, unasked)

    async def withdraw(self, run: Dispatch) -> None:
        """The operation is denied, whatever another program was to ask about it."""
        await self._handovers.withdraw(run.event, str(run.data.get("tool_call_id") or ""))

    async def _ask_all(self, run: Dispatch, answered: Answered, unasked: str) -> ApprovalResult:
        shown = digest_operation(run.event, run.data)
        comments: list[str] = []
        waited = handed_over = False
        for answer in run.asking:
            if problem := find_problem(answer.result):
                return ApprovalResult(False, answer.hook, f"the question cannot be put: {problem}")
            question = self._write_question(answer, run, shown)
            # Not by registration: a function that was registered twice asks once.
            key = (answer.handler.identity, answer.hook, question.prompt)
            if answered.get(key) in ("", shown):
                continue
            decision = await self._decide(answer, question, unasked)
            if not decision.allowed:
                reason = explain_refusal(question.prompt, decision)
                waits = decision.how == "handed_over"
                return ApprovalResult(False, answer.hook, reason, handed_over=waits)
            answered[key] = shown if decision.how == "cache" else ""
            waited = waited or decision.how != "cache"
            handed_over = handed_over or decision.how == "handed_over"
            if decision.comment:
                comments.append(decision.comment)
            if (edited := decision.edited_input) is not None:
                return ApprovalResult(
                    True, answer.hook, "", tuple(comments), edited, shown, waited, handed_over
                )
        return ApprovalResult(
            comments=tuple(comments), digest=shown, waited=waited, handed_over=handed_over
        )

    def _write_question(self, answer: Answer, run: Dispatch, shown: str) -> ApprovalQuestion:
        result = answer.result
        tool_input = run.data.get("tool_input")
        return ApprovalQuestion(
            prompt=result.approval_prompt or "Allow this operation?",
            options=resolve_options(result.approval_options),
            timeout=result.approval_timeout,
            default=result.approval_default,
            hook=answer.hook,
            event=run.event,
            reason=result.reason,
            tool_name=run.data.get("tool_name"),
            tool_input=detach(tool_input) if isinstance(tool_input, dict) else {},
            digest=shown,
            session_id=self._trail.session_id,
            tool_call_id=str(run.data.get("tool_call_id") or ""),
            agent_id=str(run.data.get("agent_id") or ""),
        )

    async def _decide(
        self, answer: Answer, question: ApprovalQuestion, unasked: str
    ) -> GateDecision:
        handler = answer.handler
        tool = self._find_tool(question.tool_name)
        known = self.gate.recall(handler.id, question, tool)
        if known is None and unasked:
            return GateDecision(False, "invalid", detail=unasked)
        decision = known or await self._ask_once(answer, question)
        handler.counts.remembered += known is not None
        kept = known is None and self.gate.remember(handler.id, question, decision, tool)
        if known or kept:
            kind = ApprovalRemembered if known else ApprovalKept
            about = kind(prompt=question.prompt, decision=decision.decision, digest=question.digest)
            by = decision.by or ""
            about.by = by if by.startswith("rule:") else ""
            self._write(answer, question, about)
        if decision.how != "handed_over":
            await self._announce_decision(question, decision)
        return decision

    def _write(self, answer: Answer, question: ApprovalQuestion, body: Body) -> None:
        self._trail.write(body, event=question.event, handler=answer.handler)

    async def _write_ahead(
        self, answer: Answer, question: ApprovalQuestion, body: Body
    ) -> str | None:
        return await self._trail.write_ahead(body, event=question.event, handler=answer.handler)

    async def _ask_once(self, answer: Answer, question: ApprovalQuestion) -> GateDecision:
        """Ask, unless the same question is already being asked further up in this stack."""
        key = (answer.handler.id, question.prompt, question.digest)
        if key in _open.get():
            return GateDecision(False, "invalid", detail="the same question is being asked already")
        # What the front end prints, and hooks of the events told here, is not the asking hook's.
        token = _open.set(_open.get() | {key})
        try:
            with Uncaptured():
                return await self._ask(answer, question)
        except asyncio.CancelledError:
            self._write(answer, question, ApprovalCancelled(digest=question.digest))
            raise
        finally:
            _open.reset(token)

    async def _ask(self, answer: Answer, question: ApprovalQuestion) -> GateDecision:
        """Request on disk, then the person, then the decision on disk: or nothing is allowed."""
        pending = self._handovers.find(question)
        answer.handler.counts.asked += pending is None
        failure = await self._record_request(answer, question, again=pending is not None)
        await self._announce_request(answer, question)
        if failure is not None:
            return GateDecision(False, "error", detail=failure)
        if self.gate.system is not None:
            self._write(answer, question, ApprovalShown(digest=question.digest))
        give_up_slot()
        decision = await self.gate.ask(question)
        if decision.how == "handed_over":
            failure = await self._hand_over(answer, question, decision, pending)
        else:
            counts = (
                answer.handler.counts
            )  # not earlier: a hook may be removed while the person decides
            if pending is not None:
                self._handovers.forget(pending)
                counts.retract(pending.known if pending.counted else "")
            counts.count_decision(decision.allowed, decision.how)
            failure = await self._record_decision(answer, question, decision, pending)
        if failure is None:
            return decision
        return GateDecision(False, "error", detail=failure)

    async def _hand_over(
        self,
        answer: Answer,
        question: ApprovalQuestion,
        decision: GateDecision,
        pending: Handover | None,
    ) -> str | None:
        """Keep in mind that another program asks; returns why it cannot, if that is fatal."""
        handover = pending or self._handovers.add(
            question, decision.handed_to, goes_on=decision.allowed
        )
        if pending is None:
            answer.handler.counts.count_handover()
        body = ApprovalHandedOver(
            to=handover.to,
            goes_on=handover.goes_on,
            tool=handover.tool,
            id=handover.call,
            digest=handover.digest,
            again=pending is not None,
        )
        return await self._write_ahead(answer, question, body)

    # The trail

    async def _record_request(
        self, answer: Answer, question: ApprovalQuestion, *, again: bool
    ) -> str | None:
        body = ApprovalRequested(
            prompt=question.prompt,
            options=question.options,
            timeout=repr(question.timeout),
            default=question.default,
            reason=question.reason,
            tool=question.tool_name,
            id=question.tool_call_id,
            input=question.tool_input,
            digest=question.digest,
            again=again,
        )
        return await self._write_ahead(answer, question, body)

    async def _record_decision(
        self,
        answer: Answer,
        question: ApprovalQuestion,
        decision: GateDecision,
        pending: Handover | None,
    ) -> str | None:
        kind = ApprovalExpired if decision.how == "timeout" else ApprovalDecided
        body = kind(
            allowed=decision.allowed,
            how=decision.how,
            decision=decision.decision,
            by=decision.by,
            detail=decision.detail,
            comment=decision.comment,
            edited=decision.edited_input is not None,
            digest=question.digest,
        )
        if pending is not None:
            body.settles = pending.known
            body.id = pending.call
            body.handed_over_at = pending.at
        return await self._write_ahead(answer, question, body)

    # Events

    async def _announce_request(self, answer: Answer, question: ApprovalQuestion) -> None:
        if unclear := find_unclear_options(question.options):
            message = "Hook '%s' offers %s, which count as a refusal: neither a yes nor a plain no"
            logger.warning(message, answer.hook, unclear)
        required = payloads.ApprovalRequiredData(
            hook=question.hook,
            prompt=question.prompt,
            digest=question.digest,
            timeout=question.timeout,
            options=list(question.options),
            default=question.default,
            tool_name=question.tool_name,
        )
        await self._notify(events.APPROVAL_REQUIRED, required)
        notification = payloads.UserNotificationData(
            notification_type="approval_required",
            message=question.prompt,
            metadata={"hook": question.hook, "tool_name": question.tool_name},
        )
        await self._notify(events.USER_NOTIFICATION, notification)

    async def _announce_decision(self, question: ApprovalQuestion, decision: GateDecision) -> None:
        about: payloads.ApprovalDeniedData = {
            "hook": question.hook,
            "prompt": question.prompt,
            "digest": question.digest,
            "decision": decision.decision,
            "by": decision.by,
            "how": decision.how,
            "comment": decision.comment,
        }
        if decision.allowed:
            await self._notify(events.APPROVAL_GRANTED, payloads.ApprovalGrantedData(**about))
        else:
            await self._notify(events.APPROVAL_DENIED, about)
