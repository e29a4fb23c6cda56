"""One event to all the external hooks that want it, and what their verdict means there."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from amplifier_core import events
from amplifier_core.interfaces import Host
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.dialects.answer import combine
from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.shell_hooks.config import NAME, Config
from amplifier_hooks.coding_agents.shell_hooks.runner import Runner
from amplifier_hooks.coding_agents.shell_hooks.selector import Selector
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict
from amplifier_hooks.modules.registration import is_own_event

_REFUSES = frozenset(
    {
        events.TOOL_PRE,
        events.PROMPT_SUBMIT,
        events.PROVIDER_REQUEST,
        events.PROVIDER_RESPONSE,
        events.CONTEXT_PRE_COMPACT,
    }
)
_TELLS_AGENT = frozenset(
    {events.TOOL_POST, events.TOOL_ERROR, events.ORCHESTRATOR_COMPLETE, events.AGENT_COMPLETE}
)
_TELLS_USER = frozenset({events.SESSION_START, events.AGENT_SPAWN})
_STOPPABLE = _REFUSES | {events.SESSION_START}
_SHOWN_INPUT = 2000


def build_answers(event: str, data: Mapping[str, Any], verdict: Verdict) -> list[HookResult]:
    """The answers to give, one per action, so that none hides another."""
    refusal = _find_refusal(event, verdict)
    if refusal is not None:
        return [HookResult(action="deny", reason=refusal, **_tell_user("", verdict))]
    found = (_modify(event, data, verdict), _inject(event, verdict), _ask(event, data, verdict))
    answers = [fields for fields in found if fields is not None]
    told = _tell_user(event, verdict)
    if not answers and not told:
        return []
    first, *rest = answers or [{}]
    return [HookResult(**first, **told), *(HookResult(**fields) for fields in rest)]


def _find_refusal(event: str, verdict: Verdict) -> str | None:
    """Why the operation is refused, if it is and can be at this event."""
    if verdict.stop is not None and event in _STOPPABLE:
        return verdict.stop
    if verdict.decision == "deny" and _can_refuse(event, verdict):
        return verdict.reason or "Blocked by a hook."
    return None


def _can_refuse(event: str, verdict: Verdict) -> bool:
    return event in _REFUSES or (event == events.TOOL_POST and verdict.withhold)


def _modify(event: str, data: Mapping[str, Any], verdict: Verdict) -> dict[str, Any] | None:
    changed: dict[str, Any] = {}
    if event == events.TOOL_PRE and verdict.tool_input is not None:
        changed["tool_input"] = verdict.tool_input
    if event == events.TOOL_POST and verdict.output is not UNCHANGED:
        result = data.get("tool_result")
        known = dict(result) if isinstance(result, Mapping) else {"success": True, "error": None}
        changed["tool_result"] = {**known, "output": verdict.output}
    if event == events.PROVIDER_REQUEST and verdict.messages is not None:
        changed["messages"] = verdict.messages
    return {"action": "modify", "data": {**data, **changed}} if changed else None


def _inject(event: str, verdict: Verdict) -> dict[str, Any] | None:
    texts = list(verdict.context)
    if verdict.decision == "deny" and event in _TELLS_AGENT and verdict.reason:
        texts.append(verdict.reason)
    if not texts:
        return None
    return {"action": "inject_context", "context_injection": "\n\n".join(texts)}


def _ask(event: str, data: Mapping[str, Any], verdict: Verdict) -> dict[str, Any] | None:
    if verdict.decision not in ("ask", "defer") or event not in _REFUSES:
        return None
    return {
        "action": "ask_user",
        "approval_prompt": _word_question(data, verdict),
        "reason": verdict.reason,
    }


def _word_question(data: Mapping[str, Any], verdict: Verdict) -> str:
    """The reason, and the input that would run: that is what a person decides about."""
    tool = data.get("tool_name")
    lines = [verdict.reason or "A shell hook wants a person to decide."]
    if tool:
        given = data.get("tool_input") if verdict.tool_input is None else verdict.tool_input
        shown = json.dumps(given, ensure_ascii=False, default=str)
        lines.append(f"{tool}: {shown[:_SHOWN_INPUT]}")
    return "\n".join(lines)


def _tell_user(event: str, verdict: Verdict) -> dict[str, Any]:
    """What the person is told, whatever was decided."""
    told = [*verdict.notes, *verdict.warnings]
    if verdict.decision == "deny" and event in _TELLS_USER and verdict.reason:
        told.append(verdict.reason)
    if verdict.stop is not None:
        told.append(verdict.stop)
    fields: dict[str, Any] = {"suppress_output": True} if verdict.quiet else {}
    if told:
        fields["user_message"] = "\n".join(told)
        fields["user_message_level"] = "warning" if verdict.warnings else "info"
    return fields


Follower = Callable[[str, dict[str, Any]], Awaitable[HookResult]]
_MOST_PENDING = 256
_KEPT_WORKING = "stop_hook"  # the source of a prompt that a blocked stop became
# A sub-agent's own start, prompt and stop are told as the spawn and the end of a sub-agent.
_OF_THE_SESSION = frozenset(
    {
        events.SESSION_START,
        events.SESSION_END,
        events.PROMPT_SUBMIT,
        events.ORCHESTRATOR_COMPLETE,
    }
)
_STOPS = events.stops


class Dispatcher:
    """Asks the hooks and answers the session; keeps what they have to remember between events."""

    def __init__(
        self,
        host: Host,
        config: Config,
        handlers: Iterable[Handler],
        notices: Iterable[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._host = host
        self._selector = Selector(host, config, handlers)
        self._runner = Runner(config, env or {})
        self._notices = list(notices)
        self._blocked_stops = 0
        self._pending: dict[tuple[str, str, str], list[HookResult]] = {}

    @property
    def events(self) -> dict[str, bool]:
        """The events to listen to, and whether a failure there must block."""
        by_event = self._selector.by_event
        wanted = {
            event: any(self._runner.fails_closed(handler) for handler in handlers)
            for event, handlers in by_event.items()
        }
        if events.APPROVAL_REQUIRED in wanted:
            wanted.setdefault(events.TOOL_PRE, False)
        if self._notices:
            wanted.setdefault(events.SESSION_START, False)
        if any(handler.background for handlers in by_event.values() for handler in handlers):
            wanted.setdefault(events.PROMPT_SUBMIT, False)
        return wanted

    async def close(self) -> None:
        """End what still runs in the background."""
        await self._runner.close()

    # Answers

    async def on_event(self, event: str, data: dict[str, Any]) -> HookResult:
        """The first answer; what else there is to say waits for the follow-up handlers."""
        canonical = events.canonical(event)
        verdict = self._keep_working(canonical, await self._judge(canonical, data))
        answers = build_answers(canonical, data, verdict)
        await self._carry_out(verdict)
        self._remember(_get_key(canonical, data), answers[1:])
        return answers[0] if answers else HookResult(action="continue")

    def make_follower(self, number: int) -> Follower:
        """One HookResult has one action: the second and third go out through these.

        Asked again about the same call, a follower gives the same answer: the kernel asks a guard
        once more after a person has allowed.
        """

        async def follow(event: str, data: dict[str, Any]) -> HookResult:
            waiting = self._pending.get(_get_key(events.canonical(event), data), [])
            return waiting[number] if number < len(waiting) else HookResult(action="continue")

        return follow

    def _remember(self, key: tuple[str, str, str], answers: list[HookResult]) -> None:
        self._pending.pop(key, None)
        if answers:
            self._pending[key] = answers
        while len(self._pending) > _MOST_PENDING:
            del self._pending[next(iter(self._pending))]

    async def _carry_out(self, verdict: Verdict) -> None:
        """What no HookResult can say."""
        rename = self._host.get_capability("session.rename") if verdict.title else None
        if rename is not None:
            rename(verdict.title, "")
        if verdict.stop is not None:
            await self._host.request_cancel()

    # Verdicts

    async def _judge(self, event: str, data: dict[str, Any]) -> Verdict:
        collected = self._runner.take_late() + self._take_notices(event)
        if event == events.TOOL_PRE:
            self._selector.remember_input(data)
        if event == events.APPROVAL_REQUIRED:
            return combine(collected + await self._tell_of_question(data))
        if self._concerns(event, data):
            collected += await self._run(event, data)
        verdict = combine(collected)
        if event == events.TOOL_PRE and verdict.decision in ("ask", "defer"):
            verdict = await self._ask_hooks_first(data, verdict)
        return self._limit_stops(event, verdict)

    async def _run(self, event: str, data: dict[str, Any]) -> list[Verdict]:
        return await self._runner.run(self._selector.select(event, data, self._blocked_stops))

    def _take_notices(self, event: str) -> list[Verdict]:
        """What was wrong in the files is told once, when the session starts."""
        if event != events.SESSION_START or not self._notices:
            return []
        notices = self._notices
        self._notices = []
        return [Verdict(warnings=tuple(notices))]

    def _concerns(self, event: str, data: dict[str, Any]) -> bool:
        """Whether the hooks' own agent would have had such an event here."""
        metadata = data.get("metadata")
        if isinstance(metadata, Mapping) and metadata.get("source") == _KEPT_WORKING:
            return event != events.PROMPT_SUBMIT
        return event not in _OF_THE_SESSION or is_own_event(self._host, data)

    async def _ask_hooks_first(self, data: dict[str, Any], verdict: Verdict) -> Verdict:
        """PermissionRequest hooks may answer the question that other shell hooks raised."""
        answers = await self._run(events.APPROVAL_REQUIRED, data)
        if combine(answers).decision in ("allow", "deny"):
            verdict = replace(verdict, decision=None, reason=None)
        return combine([verdict, *answers])

    async def _tell_of_question(self, data: dict[str, Any]) -> list[Verdict]:
        """Of another hook's question they only learn: what grants it is out of a hook's reach."""
        if data.get("hook") == NAME:
            return []
        answers = await self._run(events.APPROVAL_REQUIRED, data)
        decided = combine(answers).decision
        if decided is None:
            return answers
        sentence = f"A PermissionRequest hook said {decided!r}; {data.get('hook')} asks a person"
        return [*answers, Verdict(warnings=(sentence,))]

    # Blocked stops

    def _keep_working(self, event: str, verdict: Verdict) -> Verdict:
        """A blocked stop: where the session can go on by itself, it does, with the reason."""
        keep = self._host.get_capability("session.keep_working")
        if event not in _STOPS or verdict.decision != "deny" or keep is None:
            return verdict
        why = keep(verdict.reason or "A hook wants you to go on.", event)
        if why is None:
            return replace(verdict, decision=None, reason=None)
        # Its reason is injected, and so reaches the model with the next request.
        return replace(verdict, warnings=(*verdict.warnings, f"A stop was not blocked: {why}"))

    def _limit_stops(self, event: str, verdict: Verdict) -> Verdict:
        """A hook that blocks every stop must not keep the agent working for ever."""
        if event not in _STOPS:
            return verdict
        if verdict.decision != "deny":
            self._blocked_stops = 0
            return verdict
        self._blocked_stops += 1
        handlers = self._selector.by_event[event]
        limit = min(handler.loop_limit for handler in handlers)
        if self._blocked_stops <= limit:
            return verdict
        self._blocked_stops = 0
        sentence = f"Stop hooks blocked {limit} times in a row; the agent may stop now"
        return replace(verdict, decision=None, warnings=(*verdict.warnings, sentence))


def _get_key(event: str, data: Mapping[str, Any]) -> tuple[str, str, str]:
    return event, str(data.get("session_id") or ""), str(data.get("tool_call_id") or "")
