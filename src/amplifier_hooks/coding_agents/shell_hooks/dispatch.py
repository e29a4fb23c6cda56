"""One event to all the external hooks that want it, and their verdict back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from amplifier_core import events
from amplifier_core.interfaces import Host
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.dialects.answer import combine
from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.shell_hooks.config import NAME, Config
from amplifier_hooks.coding_agents.shell_hooks.effect import build_answers
from amplifier_hooks.coding_agents.shell_hooks.runner import Runner
from amplifier_hooks.coding_agents.shell_hooks.selector import Selector
from amplifier_hooks.external.verdicts import Verdict
from amplifier_hooks.modules.registration import is_own_event

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
