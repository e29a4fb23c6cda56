"""Follows the turns of a session, shows how they go, and stops one that goes in circles."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from amplifier_core.events import (
    ORCHESTRATOR_COMPLETE,
    PROMPT_SUBMIT,
    PROVIDER_REQUEST,
    SESSION_END,
    TOOL_ERROR,
    TOOL_POST,
    TOOL_PRE,
)
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards.policy.tool_calls import read_success
from amplifier_hooks.guards.progress_monitor.calls import (
    Call,
    describe_call,
    get_tool_name,
    identify_call,
    read_call,
)
from amplifier_hooks.guards.progress_monitor.concern import (
    ADVICE,
    Concern,
    Kind,
    describe_concern,
    find_concern,
    write_nudge,
)
from amplifier_hooks.guards.progress_monitor.config import NAME, Config
from amplifier_hooks.machine.text import count_noun
from amplifier_hooks.modules.clock import find_clock
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.subscription import get_session_id, is_own_event, subscribe

_LAST = 3


@dataclass(slots=True)
class Run:
    """What is known of the turn under way in one session."""

    started: float
    shown_at: float
    calls: deque[Call]
    tools: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    warned: dict[Kind, int] = field(default_factory=dict)
    pending: Concern | None = None
    asked: tuple[str, Any] | None = None

    def forgive(self) -> None:
        """A person allowed it: begin to count anew."""
        self.calls.clear()
        self.warned.clear()
        self.pending = self.asked = None

    def settle(self, concern: Concern | None) -> None:
        """Remember what to say next; a worry that is over may come back as gently as before."""
        if concern is None:
            self.warned.clear()
        elif concern.stage > self.warned.get(concern.kind, 0):
            self.warned[concern.kind] = concern.stage
            self.pending = concern


class ProgressMonitor:
    """Follows the turns of a session and of its sub-agents, each for itself."""

    def __init__(
        self, coordinator: Host, config: Config, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._coordinator = coordinator
        self._config = config
        self._clock = clock
        self._runs: dict[str, Run] = {}

    def _get_run(self, data: dict[str, Any]) -> Run:
        session = get_session_id(self._coordinator, data)
        run = self._runs.get(session)
        return run if run is not None else self._begin(session)

    def _begin(self, session: str) -> Run:
        now = self._clock()
        calls: deque[Call] = deque(maxlen=self._config.history)
        self._runs[session] = run = Run(now, now, calls)
        return run

    async def on_prompt(self, event: str, data: dict[str, Any]) -> HookResult:
        self._begin(get_session_id(self._coordinator, data))
        return HookResult(action="continue")

    async def on_end(self, event: str, data: dict[str, Any]) -> HookResult:
        self._runs.pop(get_session_id(self._coordinator, data), None)
        return HookResult(action="continue")

    async def on_call(self, event: str, data: dict[str, Any]) -> HookResult:
        run = self._get_run(data)
        call = read_call(data)
        concern = find_concern([*run.calls, call], self._config)
        if concern is not None and concern.stage >= _LAST and self._config.last_resort != "none":
            return self._stop(run, data, concern)
        run.calls.append(call)
        run.settle(concern)
        return HookResult(action="continue")

    def _stop(self, run: Run, data: dict[str, Any], concern: Concern) -> HookResult:
        """The call is not remembered, so this stays the last stage until the agent does another."""
        reason = f"{describe_concern(concern)}. {ADVICE[concern.kind]}"
        message = f"The agent seems to be stuck: {describe_concern(concern)}."
        if self._config.last_resort == "deny":
            return HookResult(
                action="deny", reason=reason, user_message=message, user_message_level="warning"
            )
        run.asked = identify_call(data)
        return HookResult(
            action="ask_user",
            reason=reason,
            approval_prompt=f"{message} Let it go on?",
            approval_timeout=self._config.approval_timeout,
            approval_default="deny",
        )

    async def on_result(self, event: str, data: dict[str, Any]) -> HookResult:
        run = self._get_run(data)
        if run.asked is not None and run.asked == identify_call(data):
            run.forgive()
        run.tools[get_tool_name(data)] += 1
        run.failed += read_success(data) is False
        return self._answer(run, self._describe_progress(run, data))

    async def on_request(self, event: str, data: dict[str, Any]) -> HookResult:
        return self._answer(self._get_run(data), None)

    def _answer(self, run: Run, progress: str | None) -> HookResult:
        """The nudge that is due, and the progress line that is due."""
        concern, run.pending = run.pending, None
        if concern is None:
            return HookResult(user_message=progress) if progress else HookResult()
        warning = (
            f"The agent may be stuck: {describe_concern(concern)}."
            if concern.stage > 1
            else progress
        )
        return HookResult(
            action="inject_context",
            context_injection=write_nudge(concern),
            ephemeral=self._config.ephemeral,
            user_message=warning,
            user_message_level="warning" if concern.stage > 1 else "info",
        )

    def _describe_progress(self, run: Run, data: dict[str, Any]) -> str | None:
        now = self._clock()
        if not self._config.show or now - run.shown_at < self._config.interval:
            return None
        run.shown_at = now
        return f"{summarize_run(run, now)}; last {describe_call(data)}"

    async def on_complete(self, event: str, data: dict[str, Any]) -> HookResult:
        run = self._get_run(data)
        now = self._clock()
        self._runs.pop(get_session_id(self._coordinator, data), None)
        brief = now - run.started < self._config.interval
        shown = self._config.show and is_own_event(self._coordinator, data)
        if not shown or brief or not run.tools:
            return HookResult(action="continue")
        return HookResult(user_message=f"Finished: {summarize_run(run, now)}")


def summarize_run(run: Run, now: float) -> str:
    """`12 tool calls in 42 s (7 Read, 5 Edit), 1 failed`."""
    kinds = ", ".join(f"{count} {tool}" for tool, count in run.tools.most_common(5))
    text = f"{count_noun(run.tools.total(), 'tool call')} in {now - run.started:.0f} s ({kinds})"
    return f"{text}, {run.failed} failed" if run.failed else text


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen."""
    settings = await parse_known(coordinator, Config, config, NAME)
    monitor = ProgressMonitor(coordinator, settings, find_clock(coordinator))
    handlers = [
        (PROMPT_SUBMIT, monitor.on_prompt),
        (TOOL_PRE, monitor.on_call),
        (TOOL_POST, monitor.on_result),
        (TOOL_ERROR, monitor.on_result),
        (PROVIDER_REQUEST, monitor.on_request),
        (ORCHESTRATOR_COMPLETE, monitor.on_complete),
        (SESSION_END, monitor.on_end),
    ]
    return subscribe(coordinator, NAME, settings.priority, handlers)
