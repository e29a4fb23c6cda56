"""Takes an operation through its gates: every hook that asked must be answered with yes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from amplifier_core import output
from amplifier_core.approval import (
    ApprovalGate,
    ApprovalQuestion,
    Verdict,
    find_unclear_options,
    resolve_options,
)
from amplifier_core.events import (
    APPROVAL_DENIED,
    APPROVAL_GRANTED,
    APPROVAL_REQUIRED,
    USER_NOTIFICATION,
)
from amplifier_core.hooks import Answer, Dispatch
from amplifier_core.isolation import detach
from amplifier_core.models import find_problem
from amplifier_core.trail import Trail
from amplifier_core.utils import digest

logger = logging.getLogger(__name__)

Notify = Callable[[str, dict[str, Any]], Awaitable[None]]

_open: ContextVar[frozenset[tuple[int, str, str]]] = ContextVar(
    "amplifier_open_questions", default=frozenset()
)
"""What is being asked further up in this very stack: a hook may not ask itself in a circle."""


@dataclass(frozen=True, slots=True)
class Passage:
    """How an operation came through its gates."""

    allowed: bool = True
    hook: str = ""
    reason: str = ""
    comments: tuple[str, ...] = ()
    edited_input: dict[str, Any] | None = None
    digest: str = ""


def digest_operation(event: str, data: dict[str, Any]) -> str:
    """What is compared between the question and the run: the operation, not the time of it."""
    if "tool_name" in data:
        return digest({"tool": data["tool_name"], "input": data.get("tool_input")})
    return digest({"event": event, **{k: v for k, v in data.items() if k != "timestamp"}})


class Gates:
    """Asks in priority order, records before and after, and stops at the first no."""

    def __init__(
        self,
        gate: ApprovalGate,
        trail: Trail,
        notify: Notify,
        tool_of: Callable[[Any], Any] = lambda name: None,
    ) -> None:
        self.gate = gate
        self._trail = trail
        self._notify = notify
        self._tool_of = tool_of

    async def passage(self, run: Dispatch, answered: set[tuple[int, str]]) -> Passage:
        """Put every question that this operation has not been asked yet."""
        event, data = run.event, run.data
        comments: list[str] = []
        shown = digest_operation(event, data)
        asking = [one for one in run.spoken if one.result.action == "ask_user"]
        for answer in asking:
            if problem := find_problem(answer.result):
                return Passage(False, answer.hook, f"the question cannot be put: {problem}")
            question = self._question(answer, event, data, shown)
            if (answer.handler.id, question.prompt) in answered:
                continue
            verdict = await self._verdict(answer, question)
            if not verdict.allowed:
                return Passage(False, answer.hook, _refusal(question, verdict))
            answered.add((answer.handler.id, question.prompt))
            if verdict.comment:
                comments.append(verdict.comment)
            if verdict.edited_input is not None:
                return Passage(True, answer.hook, "", tuple(comments), verdict.edited_input)
        return Passage(comments=tuple(comments), digest=shown)

    def _question(
        self, answer: Answer, event: str, data: dict[str, Any], shown: str
    ) -> ApprovalQuestion:
        result = answer.result
        tool_input = data.get("tool_input")
        return ApprovalQuestion(
            prompt=result.approval_prompt or "Allow this operation?",
            options=resolve_options(result.approval_options),
            timeout=result.approval_timeout,
            default=result.approval_default,
            hook=answer.hook,
            event=event,
            reason=result.reason,
            tool_name=data.get("tool_name"),
            tool_input=detach(tool_input) if isinstance(tool_input, dict) else {},
            digest=shown,
            session_id=self._trail.session_id,
        )

    async def _verdict(self, answer: Answer, question: ApprovalQuestion) -> Verdict:
        source: dict[str, Any] = {"event": question.event, "handler": answer.handler}
        tool = self._tool_of(question.tool_name)
        verdict = self.gate.cached(answer.handler.id, question, tool)
        if verdict is not None:
            body = {"prompt": question.prompt, "decision": verdict.decision}
            body["digest"] = question.digest
            self._trail.write("approval_cache_hit", body, **source)
        else:
            verdict = await self._asked_once(answer, question, source)
            if self.gate.remember(answer.handler.id, question, verdict, tool):
                body = {"prompt": question.prompt, "decision": verdict.decision}
                self._trail.write("approval_cache_stored", body, **source)
        await self._tell_outcome(question, verdict)
        return verdict

    async def _asked_once(
        self, answer: Answer, question: ApprovalQuestion, source: dict[str, Any]
    ) -> Verdict:
        """Ask, unless the same question is what somebody further up is waiting for."""
        key = (answer.handler.id, question.prompt, question.digest)
        if key in _open.get():
            return Verdict(False, "invalid", detail="the same question is being asked already")
        token, printing = _open.set(_open.get() | {key}), output.release()
        try:
            failure = await self._announce(answer, question)
            if failure is not None:
                return Verdict(False, "error", detail=failure)
            if self.gate.system is not None:
                self._trail.write("approval_shown", {"digest": question.digest}, **source)
            verdict = await self.gate.ask(question)
            failure = await self._record(question, verdict, source)
            return verdict if failure is None else Verdict(False, "error", detail=failure)
        except asyncio.CancelledError:
            self._trail.write("approval_cancelled", {"digest": question.digest}, **source)
            raise
        finally:
            output.restore(printing)
            _open.reset(token)

    async def _record(
        self, question: ApprovalQuestion, verdict: Verdict, source: dict[str, Any]
    ) -> str | None:
        body = {
            "allowed": verdict.allowed,
            "how": verdict.how,
            "decision": verdict.decision,
            "by": verdict.by,
            "detail": verdict.detail,
            "comment": verdict.comment,
            "edited": verdict.edited_input is not None,
            "digest": question.digest,
        }
        kind = "approval_expired" if verdict.how == "timeout" else "approval_decided"
        return await self._trail.write_ahead(kind, body, **source)

    async def _announce(self, answer: Answer, question: ApprovalQuestion) -> str | None:
        unclear = find_unclear_options(question.options)
        if unclear:
            logger.warning(
                "Hook '%s' offers %s, which count as a refusal: neither a yes nor a plain no",
                answer.hook,
                unclear,
            )
        body = {
            "prompt": question.prompt,
            "options": list(question.options),
            "timeout": repr(question.timeout),
            "default": question.default,
            "reason": question.reason,
            "tool": question.tool_name,
            "input": question.tool_input,
            "digest": question.digest,
        }
        failure = await self._trail.write_ahead(
            "approval_requested", body, event=question.event, handler=answer.handler
        )
        await self._tell(APPROVAL_REQUIRED, question, timeout=question.timeout)
        await self._notify(
            USER_NOTIFICATION,
            {
                "notification_type": "approval_required",
                "message": question.prompt,
                "metadata": {"hook": question.hook, "tool_name": question.tool_name},
            },
        )
        return failure

    async def _tell_outcome(self, question: ApprovalQuestion, verdict: Verdict) -> None:
        event = APPROVAL_GRANTED if verdict.allowed else APPROVAL_DENIED
        await self._tell(event, question, decision=verdict.decision, by=verdict.by, how=verdict.how)

    async def _tell(self, event: str, question: ApprovalQuestion, **more: Any) -> None:
        data = {"hook": question.hook, "prompt": question.prompt, "digest": question.digest, **more}
        if event == APPROVAL_REQUIRED:
            data |= {
                "options": list(question.options),
                "default": question.default,
                "tool_name": question.tool_name,
            }
        await self._notify(event, data)


def _refusal(question: ApprovalQuestion, verdict: Verdict) -> str:
    if verdict.how == "timeout":
        return f"Timeout - denied by default: {question.prompt}"
    if verdict.how in ("person", "cache"):
        said = f" ({verdict.comment})" if verdict.comment else ""
        return f"User denied: {question.prompt}{said}"
    return f"Not approved, {verdict.detail}: {question.prompt}"
