"""One event to all the external hooks that want it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from amplifier_core import events
from amplifier_core.models import HookResult
from amplifier_core.utils import describe_error
from amplifier_foundation.hooks.shell import effect
from amplifier_foundation.hooks.shell.config import Config
from amplifier_foundation.hooks.shell.dialects import DIALECTS
from amplifier_foundation.hooks.shell.handler import Call, Handler
from amplifier_foundation.hooks.shell.matcher import allowed_by_rule
from amplifier_foundation.hooks.shell.run import ask
from amplifier_foundation.hooks.shell.verdict import Verdict, combined, failed
from amplifier_foundation.machine.background import BackgroundTasks
from amplifier_foundation.modules.subscription import get_working_dir, is_own_event

logger = logging.getLogger(__name__)

NAME = "hooks-shell"
Follower = Callable[[str, dict[str, Any]], Awaitable[HookResult]]
_MOST_PENDING = 256
KEPT_WORKING = "stop_hook"  # the source of a prompt that a blocked stop became
# A sub-agent's own start, prompt and stop are told as the spawn and the end of a sub-agent.
_OF_THE_SESSION = frozenset(
    {
        events.SESSION_START,
        events.SESSION_END,
        events.PROMPT_SUBMIT,
        events.ORCHESTRATOR_COMPLETE,
    }
)
_STOPS = frozenset({events.ORCHESTRATOR_COMPLETE, events.AGENT_COMPLETE})


class Dispatcher:
    """Holds the handlers and what a session's hooks have to remember."""

    def __init__(
        self,
        coordinator: Any,
        config: Config,
        handlers: Iterable[Handler],
        notices: Iterable[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._coordinator = coordinator
        self._config = config
        self._notices = list(notices)
        self._env = dict(env or {})
        self._by_event: dict[str, list[Handler]] = {}
        for handler in handlers:
            for occasion in DIALECTS[handler.dialect].events[handler.native]:
                self._by_event.setdefault(occasion.event, []).append(handler)
        self._spent: set[str] = set()
        self._blocked_stops = 0
        self._late: list[Verdict] = []
        self._pending: dict[tuple[str, str, str], list[HookResult]] = {}
        self._inputs: dict[str, dict[str, Any]] = {}
        self._background = BackgroundTasks(NAME)

    @property
    def events(self) -> dict[str, bool]:
        """The events to listen to, and whether a failure there must block."""
        wanted = {event: self._is_guard(found) for event, found in self._by_event.items()}
        if events.APPROVAL_REQUIRED in wanted:
            wanted.setdefault(events.TOOL_PRE, False)
        if self._notices:
            wanted.setdefault(events.SESSION_START, False)
        if any(h.background for found in self._by_event.values() for h in found):
            wanted.setdefault(events.PROMPT_SUBMIT, False)
        return wanted

    def _is_guard(self, handlers: list[Handler]) -> bool:
        return any(self._fails_closed(handler) for handler in handlers)

    def _fails_closed(self, handler: Handler) -> bool:
        if handler.fail_closed or self._config.fail_closed:
            return True
        is_gate = handler.native in ("preToolUse", "PreToolUse") and handler.url is None
        return is_gate and handler.dialect.startswith("copilot")

    async def close(self) -> None:
        """End what still runs in the background."""
        await self._background.close(grace=0.5)

    # Answers

    async def on_event(self, event: str, data: dict[str, Any]) -> HookResult:
        """The first answer; what else there is to say waits for the follow-up handlers."""
        canonical = events.canonical(event)
        verdict = self._kept_working(canonical, await self._verdict(canonical, data))
        answers = effect.results(canonical, data, verdict)
        await self._carry_out(canonical, verdict)
        self._remember(_key(canonical, data), answers[1:])
        return answers[0] if answers else HookResult(action="continue")

    def follow_up(self, number: int) -> Follower:
        """One HookResult has one action: the second and third go out through these.

        Asked again about the same call, a follower gives the same answer: the kernel asks a guard
        once more after a person has allowed.
        """

        async def follow(event: str, data: dict[str, Any]) -> HookResult:
            waiting = self._pending.get(_key(events.canonical(event), data), [])
            return waiting[number] if number < len(waiting) else HookResult(action="continue")

        return follow

    def _remember(self, key: tuple[str, str, str], answers: list[HookResult]) -> None:
        self._pending.pop(key, None)
        if answers:
            self._pending[key] = answers
        while len(self._pending) > _MOST_PENDING:
            del self._pending[next(iter(self._pending))]

    async def _verdict(self, event: str, data: dict[str, Any]) -> Verdict:
        collected = self._before(event, data)
        if event == events.APPROVAL_REQUIRED:
            return combined(collected + await self._told_of_question(data))
        if self._concerns(event, data):
            collected += await self._run(self._wanted(event, data), event, data)
        verdict = combined(collected)
        if event == events.TOOL_PRE and verdict.decision in ("ask", "defer"):
            verdict = await self._ask_hooks_first(data, verdict)
        return self._guard_against_loops(event, verdict)

    def _concerns(self, event: str, data: dict[str, Any]) -> bool:
        """Whether the hooks' own agent would have had such an event here."""
        metadata = data.get("metadata")
        if isinstance(metadata, Mapping) and metadata.get("source") == KEPT_WORKING:
            return event != events.PROMPT_SUBMIT
        return event not in _OF_THE_SESSION or is_own_event(self._coordinator, data)

    def _before(self, event: str, data: dict[str, Any]) -> list[Verdict]:
        """What waited for an occasion to be told, and what later events will need."""
        if event == events.TOOL_PRE and events.APPROVAL_REQUIRED in self._by_event:
            given = data.get("tool_input")
            self._inputs[str(data.get("tool_name"))] = dict(given) if given else {}
        waiting, self._late = self._late, []
        if event == events.SESSION_START and self._notices:
            waiting.append(Verdict(warnings=tuple(self._notices)))
            self._notices = []
        return waiting

    async def _carry_out(self, event: str, verdict: Verdict) -> None:
        if verdict.title:
            rename = self._coordinator.get_capability("session.rename")
            if rename is not None:
                rename(verdict.title, "")
        if verdict.stop is not None:
            cancel = getattr(self._coordinator, "request_cancel", None)
            if cancel is not None:
                await cancel()

    def _kept_working(self, event: str, verdict: Verdict) -> Verdict:
        """A blocked stop: where the session can go on by itself, it does, with the reason."""
        keep = self._coordinator.get_capability("session.keep_working")
        if event != events.ORCHESTRATOR_COMPLETE or verdict.decision != "deny" or keep is None:
            return verdict
        keep(verdict.reason or "A hook wants you to go on.")
        return replace(verdict, decision=None, reason=None)

    def _guard_against_loops(self, event: str, verdict: Verdict) -> Verdict:
        if event not in _STOPS:
            return verdict
        if verdict.decision != "deny":
            self._blocked_stops = 0
            return verdict
        self._blocked_stops += 1
        limit = min((handler.loop_limit for handler in self._by_event[event]), default=8)
        if self._blocked_stops <= limit:
            return verdict
        self._blocked_stops = 0
        sentence = f"Stop hooks blocked {limit} times in a row; the agent may stop now"
        return replace(verdict, decision=None, warnings=(*verdict.warnings, sentence))

    async def _ask_hooks_first(self, data: dict[str, Any], verdict: Verdict) -> Verdict:
        """PermissionRequest hooks may answer the question that other shell hooks raised."""
        event = events.APPROVAL_REQUIRED
        answers = await self._run(self._wanted(event, data), event, data)
        given = combined(answers)
        if given.decision not in ("allow", "deny"):
            return combined([verdict, *answers])
        asked = replace(verdict, decision=None, reason=None)
        return combined([asked, *answers])

    async def _told_of_question(self, data: dict[str, Any]) -> list[Verdict]:
        """Of another hook's question they only learn: what grants it is out of a hook's reach."""
        if data.get("hook") == NAME:
            return []
        event = events.APPROVAL_REQUIRED
        answers = await self._run(self._wanted(event, data), event, data)
        decided = combined(answers).decision
        if decided is None:
            return answers
        sentence = f"A PermissionRequest hook said {decided!r}; {data.get('hook')} asks a person"
        return [*answers, Verdict(warnings=(sentence,))]

    # Running

    def _wanted(self, event: str, data: dict[str, Any]) -> list[tuple[Handler, Call]]:
        if event == events.APPROVAL_REQUIRED:
            data = self._with_input(data)
        found = []
        for handler in self._by_event.get(event, ()):
            dialect = DIALECTS[handler.dialect]
            fits = any(o.event == event and o.fits(data) for o in dialect.events[handler.native])
            call = self._call(event, handler, data)
            if fits and handler.where not in self._spent and self._matches(handler, call):
                found.append((handler, call))
        return found

    def _with_input(self, data: dict[str, Any]) -> dict[str, Any]:
        known = self._inputs.get(str(data.get("tool_name")))
        return data if known is None or "tool_input" in data else {**data, "tool_input": known}

    def _matches(self, handler: Handler, call: Call) -> bool:
        dialect = DIALECTS[handler.dialect]
        values = dialect.matched(call)
        if values and not dialect.matches(handler.matcher, values):
            return False
        names = (call.tool, dialect.tool(call.tool))
        return not call.tool or allowed_by_rule(handler.condition, names, call.input, call.cwd)

    def _call(self, event: str, handler: Handler, data: dict[str, Any]) -> Call:
        own = str(self._coordinator.session_id or data.get("session_id") or "")
        session = str(data.get("session_id") or own)
        return Call(
            event=event,
            native=handler.native,
            data=data,
            session_id=own,
            cwd=self._config.project_dir or get_working_dir(self._coordinator),
            transcript=str(self._coordinator.get_capability("session.transcript_path") or ""),
            agent_id=session if session != own else None,
            blocked_stops=self._blocked_stops,
        )

    async def _run(
        self, wanted: list[tuple[Handler, Call]], event: str, data: dict[str, Any]
    ) -> list[Verdict]:
        """All lanes at once; the verdicts in the order in which they came in."""
        verdicts: list[Verdict] = []
        lanes: dict[str, list[tuple[Handler, Call]]] = {}
        for handler, call in wanted:
            if handler.once:
                self._spent.add(handler.where)
            if handler.background:
                self._background.start(self._later(handler, call))
            else:
                lanes.setdefault(handler.lane or handler.where, []).append((handler, call))
        await asyncio.gather(*(self._lane(lane, verdicts) for lane in lanes.values()))
        return verdicts

    async def _lane(self, lane: list[tuple[Handler, Call]], verdicts: list[Verdict]) -> None:
        changed: dict[str, Any] | None = None
        for handler, call in lane:
            verdict = await self._one(handler, replace(call, tool_input=changed))
            verdicts.append(verdict)
            if handler.dialect == "gemini" and verdict.tool_input is not None:
                changed = verdict.tool_input
            if verdict.decision == "deny":
                return

    async def _one(self, handler: Handler, call: Call) -> Verdict:
        dialect = DIALECTS[handler.dialect]
        closed = self._fails_closed(handler)
        try:
            env = {**self._env, **dialect.environment(call)}
            limited = self._limited(handler)
            limit = self._config.output_limit
            reply = await ask(limited, dialect.payload(call), env, call.cwd, limit)
            return dialect.answer(limited, call, reply)
        except Exception as error:
            # One broken hook must not silence the others.
            logger.warning("%s: %s failed", NAME, handler.where, exc_info=True)
            sentence = f"Hook {handler.label!r} failed: {describe_error(error)}"
            return failed(sentence, fail_closed=closed)

    def _limited(self, handler: Handler) -> Handler:
        most = self._config.timeout
        timeout = handler.timeout if most is None else min(most, handler.timeout)
        closed = handler.fail_closed or self._config.fail_closed
        return replace(handler, timeout=timeout, fail_closed=closed)

    async def _later(self, handler: Handler, call: Call) -> None:
        """An asynchronous hook decides nothing any more; what it has to say waits its turn."""
        verdict = await self._one(handler, call)
        told = replace(verdict, decision=None, tool_input=None, stop=None)
        if verdict.decision == "deny" and verdict.reason:
            told = replace(told, context=(*told.context, verdict.reason))
        self._late.append(told)


def _key(event: str, data: Mapping[str, Any]) -> tuple[str, str, str]:
    return event, str(data.get("session_id") or ""), str(data.get("tool_call_id") or "")
