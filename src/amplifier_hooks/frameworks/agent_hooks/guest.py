"""Our hooks as an interceptor: they judge in any host of the contract."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_hooks import AgentContext, InterceptionPoint, Verdict

from amplifier_core import events
from amplifier_core.answers import Outcome
from amplifier_core.approval import (
    AnyApprovalSystem,
    ApprovalAnswer,
    ApprovalQuestion,
    HandedOver,
    read_option,
)
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.display import DisplaySystem
from amplifier_core.errors import ApprovalError, SessionDenied
from amplifier_core.hooks import HookRegistry
from amplifier_core.operation import KERNEL
from amplifier_core.payloads import EndReason, PromptCompleteData, ProviderRequestData
from amplifier_core.session import AmplifierSession
from amplifier_core.trail import AuditSink
from amplifier_core.utils.copying import is_same
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.external.conversation import EventContext
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.opening import (
    BundleSource,
    CoordinatorSource,
    RegistrySource,
    Settings,
)
from amplifier_hooks.external.session import ExternalSession
from amplifier_hooks.external.verdicts import UNCHANGED
from amplifier_hooks.external.verdicts import Verdict as OurVerdict
from amplifier_hooks.frameworks.agent_hooks.translation import (
    CHANGED_AND_ASKED,
    find_change,
    name_reason,
    read_call,
    read_text,
    replace_text,
    show_reply,
    write_change,
    write_denial,
    write_permission,
    write_question,
)
from amplifier_hooks.frameworks.governing import Governable

_asked: ContextVar[list[ApprovalQuestion] | None] = ContextVar(
    "amplifier_agent_hooks_asked", default=None
)

HOST = "the host"
"""It does not act before its own resolver has said yes."""


@contextmanager
def note_questions() -> Iterator[list[ApprovalQuestion]]:
    """What hooks ask inside this block."""
    questions: list[ApprovalQuestion] = []
    token = _asked.set(questions)
    try:
        yield questions
    finally:
        _asked.reset(token)


class HandingOver:
    """An approval system that lets every gate be asked, for one denial that stands for them all."""

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | HandedOver:
        """Note the question; outside of an interception it is a no."""
        questions = _asked.get()
        yes = _find_yes(question.options)
        if questions is None or yes is None:
            return ApprovalAnswer("Deny", by="rule:the host asks nobody here")
        questions.append(question)
        return HandedOver(HOST, goes_on=True)


def _find_yes(options: tuple[str, ...]) -> str | None:
    """An option that allows this once, and nothing beyond it."""
    read = [(one, read_option(one)) for one in options]
    return next((one for one, found in read if found.allows and not found.remembered), None)


Data = dict[str, Any]

_SHOWN = (events.PROMPT_SUBMIT, events.PROVIDER_REQUEST, events.TOOL_PRE)
"""The host shows what comes of these: a request follows a prompt, a reply a request."""


class GuestTurn:
    """Keeps what one session of the host needs between its points."""

    def __init__(self, session: ExternalSession) -> None:
        self._session = session
        self._coordinator = session.coordinator
        self._context = session.context
        self._prompt = ""
        self._requests = 0
        self._lasting: list[Data] = []

    async def close(self, reason: EndReason) -> None:
        """The host's session has ended."""
        await self._coordinator.handovers.conclude("session end", among=_SHOWN)
        await self._session.end(reason)

    async def start(self, context: AgentContext) -> Verdict:
        """Our session was opened for this: its hooks have let it start."""
        return Verdict.allow()

    async def take_prompt(self, context: AgentContext) -> Verdict:
        """A new turn."""
        given = context["input"]
        prompt = read_text(given["content"])
        await self._coordinator.handovers.conclude("next prompt", among=_SHOWN)
        self._coordinator.reset_turn()
        self._requests = 0
        data: Data = {"prompt": prompt, "metadata": {"role": given.get("role")}}
        verdict, left = await self._judge(events.PROMPT_SUBMIT, data, "prompt")
        self._prompt = str(left)
        return _wrap(verdict, given, {**given, "content": replace_text(given["content"], left)})

    async def send_request(self, context: AgentContext) -> Verdict:
        """A request to a model, with what hooks have added to the conversation since the last."""
        await self._coordinator.handovers.learn_event(events.PROMPT_SUBMIT, "request")
        given = context["messages"]
        self._requests = self._requests + 1
        self._lasting += self._context.take()
        missing = [one for one in map(_strip, self._lasting) if one not in given]
        data = ProviderRequestData(
            provider=_name_provider(context),
            model=context["model"].get("id"),
            messages=[*given, *missing],
            tools=[str(one.get("name")) for one in context.get("tools") or ()],
            iteration=self._requests,
        )
        with note_questions() as asked:
            outcome = await self._coordinator.open_request(data)
        self._lasting += self._context.take()  # they are in the request already
        if not outcome.allowed:
            return write_denial(outcome)
        left = [_strip(one) for one in (outcome.data or {})["messages"]]
        if asked:
            return await self._hand_on(
                events.PROVIDER_REQUEST, asked, outcome, is_same(left, given)
            )
        return write_permission(given, left, outcome.answers)

    async def read_reply(self, context: AgentContext) -> Verdict:
        """What a model replied."""
        await self._coordinator.handovers.learn_event(events.PROVIDER_REQUEST, "reply")
        given = context["response"]
        response: Data = {
            "content": [{"type": "text", "text": read_text(given["content"])}],
            "tool_calls": [read_call(one) for one in given["tool_calls"]],
            "finish_reason": given["finish_reason"],
        }
        data: Data = {
            "provider": _name_provider(context),
            "model": context["model"].get("id"),
            "response": response,
            "usage": dict(context.get("usage") or {}),
            "duration_ms": 0,
        }
        verdict, left = await self._judge(events.PROVIDER_RESPONSE, data, "response")
        before = show_reply(response)
        shown = show_reply(left)
        changed = {key: one for key, one in shown.items() if one != before[key]}
        if "content" in changed:
            changed["content"] = replace_text(given["content"], changed["content"] or "")
        return _wrap(verdict, given, {**given, **changed})

    async def call_tool(self, context: AgentContext) -> Verdict:
        """A tool is about to run."""
        call = context["tool_call"]
        event = EventContext()
        told = _report_call(events.TOOL_PRE, call)
        with note_questions() as asked:
            verdict = await self._session.before_tool(told, event)
        outcome = event.outcome
        if outcome is None or verdict.decision == "deny":
            return write_denial(_find_denial(outcome, verdict))
        left = call["args"] if verdict.tool_input is None else verdict.tool_input
        if not asked:
            return write_permission(call["args"], left, event.answers)
        unchanged = verdict.tool_input is None
        if not unchanged:
            event.denied_by = asked[0].hook
            await self._session.tools.note_denial(told, event, CHANGED_AND_ASKED)
        return await self._hand_on(events.TOOL_PRE, asked, outcome, unchanged, call["id"])

    async def read_result(self, context: AgentContext) -> Verdict:
        """A tool has returned."""
        given = context["tool_result"]
        event = EventContext()
        value = given["value"]
        success = not given["is_error"]
        told = _report_call(
            events.TOOL_POST,
            context["tool_call"],
            tool_result={"success": success, "output": value, "error": None},
            duration_ms=int(given.get("duration_ms") or 0),
        )
        with note_questions() as asked:
            verdict = await self._session.after_tool(told, event)
        if verdict.withhold and event.outcome is not None:
            return write_denial(event.outcome)
        left = value if verdict.output is UNCHANGED else verdict.output
        if asked and event.outcome is not None:
            unchanged = verdict.output is UNCHANGED
            return await self._hand_on(events.TOOL_POST, asked, event.outcome, unchanged)
        return _wrap(write_permission(None, None, event.answers), value, left)

    async def hand_over(self, context: AgentContext) -> Verdict:
        """The answer is about to go out."""
        given = context["output"]
        text = read_text(given["content"])
        data: Data = {"prompt": self._prompt, "response": text, "streamed": False}
        verdict, left = await self._judge(events.PROMPT_ANSWER, data, "response")
        if verdict.decision.permits:
            complete = PromptCompleteData(prompt=self._prompt, response=left)
            await self._coordinator.notify(events.PROMPT_COMPLETE, complete)
        return _wrap(verdict, given, {**given, "content": replace_text(given["content"], left)})

    async def _judge(self, event: str, data: Data, key: str) -> tuple[Verdict, Any]:
        """The verdict without a change yet, and what the hooks left of one field."""
        judge: Any = self._coordinator.judge
        with note_questions() as asked:
            outcome: Outcome = await judge(event, data)
        given = data[key]
        if not outcome.allowed:
            return write_denial(outcome), given
        left = (outcome.data or {}).get(key)
        if type(left) is not type(given):
            why = f"a hook left no usable {key}: {type(left).__name__}"
            return write_denial(await self._coordinator.deny(event, KERNEL, why)), given
        if asked:
            return await self._hand_on(event, asked, outcome, is_same(left, given)), given
        return write_permission(None, None, outcome.answers), left

    async def _hand_on(
        self, event: str, asked: Any, outcome: Outcome, unchanged: bool, call_id: str = ""
    ) -> Verdict:
        """The questions for the host's resolver: it can lift a denial of what it shows."""
        if unchanged:
            return write_question(asked, outcome.answers)
        await self._coordinator.handovers.withdraw(event, call_id)
        return Verdict.deny(reason=name_reason(asked[0].hook), message=CHANGED_AND_ASKED)


def _report_call(event: str, call: Mapping[str, Any], **more: Any) -> Incoming:
    """The call, in the terms of our events."""
    data = {"tool_name": call["name"], "tool_input": call["args"], "tool_call_id": call["id"]}
    return Incoming(event, {**data, **more}, event, "", call_id=call["id"])


def _find_denial(outcome: Outcome | None, verdict: OurVerdict) -> Outcome:
    """Why a call must not run: hooks denied it, or it cannot run as they left it."""
    if outcome is not None and not outcome.allowed:
        return outcome
    return Outcome(False, hook="agent-hooks", reason=verdict.reason or "")


def _wrap(verdict: Verdict, before: Any, left: Any) -> Verdict:
    """The verdict with the change, if it permits one."""
    if not verdict.decision.permits or is_same(left, before):
        return verdict
    path, value = find_change(before, left)
    return write_change(path, value, verdict.warnings)


def _strip(message: Mapping[str, Any]) -> Data:
    """A message without what only our sessions keep of it."""
    return {key: one for key, one in message.items() if key not in ("metadata", "timestamp")}


def _name_provider(context: AgentContext) -> str:
    return str(context["model"].get("vendor") or context["agent"]["framework"])


JUDGES: dict[InterceptionPoint, Callable[[GuestTurn, AgentContext], Awaitable[Verdict]]] = {
    InterceptionPoint.AGENT_STARTUP: GuestTurn.start,
    InterceptionPoint.INPUT: GuestTurn.take_prompt,
    InterceptionPoint.PRE_MODEL_CALL: GuestTurn.send_request,
    InterceptionPoint.POST_MODEL_CALL: GuestTurn.read_reply,
    InterceptionPoint.PRE_TOOL_CALL: GuestTurn.call_tool,
    InterceptionPoint.POST_TOOL_CALL: GuestTurn.read_result,
    InterceptionPoint.OUTPUT: GuestTurn.hand_over,
}
"""What is asked of our hooks at each point but the last."""


_ENDS: dict[str, EndReason] = {"completed": "complete", "cancelled": "user_exit"}


@dataclass(slots=True)
class _Guest:
    """One session of the host: opened once, by whichever point comes first."""

    turn: GuestTurn | None = None
    refusal: str = ""
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)


class AmplifierInterceptor:
    """Our hooks in front of an agent that any host of the contract runs.

    `hooks` is the path of a bundle, a Bundle, a registry, a session or coordinator made by hand, or
    a Governor. A question of a hook is a denial that the host's resolver may lift; with `approval`,
    with a Governor, and with a session that has its own approval system, people are asked here
    instead, so give the host no time limit for its interceptors then.
    """

    def __init__(
        self,
        hooks: Governable,
        *,
        approval: AnyApprovalSystem | None = None,
        display: DisplaySystem | None = None,
        audit: AuditSink | None = None,
        folder: str | Path | None = None,
    ) -> None:
        place = None if folder is None else Path(folder)
        self._source = _find_source(
            hooks, Settings(approval or HandingOver(), display, audit, place)
        )
        self._guests: dict[str, _Guest] = {}

    async def intercept(self, context: AgentContext, /) -> Verdict:
        """What our hooks say of what the host is about to do."""
        session_id = str(context["session"]["id"])
        point = InterceptionPoint(context["interception_point"])
        guest = self._guests.setdefault(session_id, _Guest())
        async with guest.opening:
            await self._open(guest)
        if point is InterceptionPoint.AGENT_SHUTDOWN:
            await self._end(session_id, str(context["summary"].get("reason")))
            return Verdict.allow()
        if guest.turn is None:
            return Verdict.deny(reason=name_reason("session"), message=guest.refusal)
        return await JUDGES[point](guest.turn, context)

    async def _open(self, guest: _Guest) -> None:
        if guest.turn is not None or guest.refusal:
            return
        try:
            guest.turn = GuestTurn(await self._source.open(HOST))
        except SessionDenied as error:
            guest.refusal = str(error)

    async def _end(self, session_id: str, reason: str) -> None:
        guest = self._guests.pop(session_id, None)
        if guest is not None and guest.turn is not None:
            await guest.turn.close(_ENDS.get(reason, "error"))

    async def close(self) -> None:
        """End the sessions that their host did not end."""
        for session_id in list(self._guests):
            await self._end(session_id, "completed")


def _find_source(hooks: Any, settings: Settings) -> Any:
    if isinstance(hooks, Governor):
        return hooks._source  # of the same house: it opens what its other adapters open
    if isinstance(hooks, AmplifierSession):
        hooks = hooks.coordinator
    if isinstance(hooks, SessionCoordinator):
        if hooks.approval_system is None:
            with suppress(ApprovalError):  # one that has started: a question is a plain denial
                hooks.approval_system = settings.approval
        return CoordinatorSource(hooks)
    if isinstance(hooks, HookRegistry):
        return RegistrySource(hooks, settings)
    if isinstance(hooks, Bundle):
        return BundleSource(hooks, settings)
    if isinstance(hooks, str | Path):
        return BundleSource.load(hooks, settings)
    raise TypeError(
        "AmplifierInterceptor takes the path of a bundle, a Bundle, a HookRegistry, a coordinator, "
        f"a session or a Governor, got {type(hooks).__name__}"
    )
