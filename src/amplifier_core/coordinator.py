"""The session coordinator: carries out what hooks answer."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from amplifier_core import display, output
from amplifier_core.approval import ApprovalGate
from amplifier_core.audit import AuditSink
from amplifier_core.cancellation import CancellationToken
from amplifier_core.contributions import Contributions
from amplifier_core.errors import ApprovalError
from amplifier_core.events import (
    CANCEL_REQUESTED,
    POLICY_VIOLATION,
    PROVIDER_REQUEST,
    is_notification,
)
from amplifier_core.gates import Gates, Passage
from amplifier_core.hooks import Answer, Dispatch, HookHandler, HookRegistry, dispatch_of
from amplifier_core.injection import (
    INJECTION_BUDGET_PER_TURN,
    MAX_INJECTION_SIZE,
    Injection,
    InjectionBudget,
    InjectionLimits,
)
from amplifier_core.injector import Injector
from amplifier_core.isolation import detached
from amplifier_core.models import HookResult, Level, continued, replaced
from amplifier_core.mount_points import MountPoints
from amplifier_core.precedence import injections
from amplifier_core.trail import Scrubber, Trail
from amplifier_core.utils import describe_error

__all__ = [
    "INJECTION_BUDGET_PER_TURN",
    "MAX_INJECTION_SIZE",
    "ModuleCoordinator",
    "SessionCoordinator",
    "denial_text",
]

logger = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds that a display may take for one message."""

MOST_ROUNDS = 8
"""How often one operation may be edited or re-judged before it is denied."""

_Drops = list[tuple[Injection, str]]


def denial_text(result: HookResult) -> str:
    """What the agent reads of a denied operation."""
    hook = result.__dict__.get("_denied_by") or "a hook"
    return f"Operation denied by {hook}: {result.reason or 'no reason given'}"


class SessionCoordinator:
    """Integrates hooks with a session: dispatches events and turns every answer into its effect.

    Everything is optional: without a context nothing is injected, without an approval system
    nothing gated is allowed, without a display messages go to the log.
    """

    def __init__(
        self,
        hooks: HookRegistry | None = None,
        context: Any = None,
        approval_system: Any = None,
        display_system: Any = None,
        *,
        session: Any = None,
        config: Mapping[str, Any] | None = None,
        audit: AuditSink | None = None,
        session_id: str | None = None,
        parent_id: str | None = None,
        loader: Any = None,
    ) -> None:
        output.install()
        self.session = session
        self.config: dict[str, Any] = dict(config or getattr(session, "config", None) or {})
        self.session_id = session_id or getattr(session, "session_id", None)
        self.parent_id = parent_id or getattr(session, "parent_id", None)
        self.hooks = HookRegistry() if hooks is None else hooks
        self.loader = loader
        self.display_system = display_system
        self.session_state: dict[str, Any] = {}
        self.cancellation = CancellationToken()
        self._mounts = MountPoints(self.hooks)
        self._mounts.points["context"] = context
        self._capabilities: dict[str, Any] = {}
        self._contributions = Contributions()
        self._cleanups: list[Callable[[], Any]] = []
        self._strangers: dict[str, HookHandler] = {}
        self._sealed = False
        self._trail = Trail(audit, self.session_id)
        self._gates = Gates(ApprovalGate(approval_system), self._trail, self.notify)
        limits = InjectionLimits.read(self.config.get("session") or {})
        self._injector = Injector(self._get_context, InjectionBudget(limits), self._trail)
        self._stop_listening = self.hooks.listen(self._registry_changed)

    # Dispatching

    async def execute_with_hooks(
        self, event: str, data: dict[str, Any] | None = None
    ) -> HookResult:
        """Dispatch an event, carry out every answer, and return the outcome.

        That is `continue` with the final data, a copy nobody else holds, or `deny` with the reason.
        """
        if not self.hooks.hears(event) and not self._trail.normal:
            return await self.hooks.emit(event, detached(data or {}))
        if is_notification(event):
            await self.notify(event, data or {})
            return continued(data or {})
        return await self._operation(event, detached(data or {}))

    async def notify(self, event: str, data: dict[str, Any]) -> None:
        """Tell of something that has happened; nothing that a hook answers can undo it."""
        if not self.hooks.hears(event) and not self._trail.normal:
            return
        run = await self._dispatched(event, data)
        await self._inject(event, run.spoken)

    async def _operation(self, event: str, data: dict[str, Any]) -> HookResult:
        answered: set[tuple[int, str]] = set()
        comments: tuple[str, ...] = ()
        for _ in range(MOST_ROUNDS):
            before = self.hooks.handlers_for(event)
            run = await self._dispatched(event, data)
            passage = await self._passage(run, answered)
            comments += passage.comments
            if passage.edited_input is not None:
                data = {**run.data, "tool_input": detached(passage.edited_input)}
            elif passage.allowed and answered and await self._changed_meanwhile(run, before):
                data = run.data
            else:
                await self._inject(event, run.spoken)
                return await self._outcome(run, passage, answered, comments)
        return await self._denied(
            event, "kernel", f"the operation was changed more than {MOST_ROUNDS} times"
        )

    async def _dispatched(self, event: str, data: dict[str, Any]) -> Dispatch:
        eyes = _Eyes(self._trail, event)
        run = await self.hooks.dispatch(event, data, eyes)
        if run.spoken or eyes.printed:
            await self._show_all(run, eyes.printed)
        if self._trail.sink is not None:
            self._trail.dispatched(run, eyes.durations, run.fold())
        return run

    async def _passage(self, run: Dispatch, answered: set[tuple[int, str]]) -> Passage:
        if run.denied:
            last = run.spoken[-1]
            return Passage(False, last.hook, last.result.reason or "")
        asking = [one for one in run.spoken if one.result.action == "ask_user"]
        if not asking and not answered:
            return Passage()
        return await self._gates.passage(asking, run.event, run.data, answered)

    async def _changed_meanwhile(self, run: Dispatch, before: list[HookHandler]) -> bool:
        """Whether the hooks, or what an asking guard has to say, changed while a person thought."""
        if self.hooks.handlers_for(run.event) != before:
            return True
        for answer in run.spoken:
            guard = answer.handler
            if answer.result.action != "ask_user" or guard.on_error != "deny":
                continue
            try:
                now = await guard.execute(run.event, detached(run.data))
            except Exception as error:  # noqa: BLE001 - judged like any failing guard
                logger.warning("Guard '%s' failed: %s", guard.name, describe_error(error))
                return True
            if now.action == "deny" or now.approval_prompt != answer.result.approval_prompt:
                return True
        return False

    async def _outcome(
        self,
        run: Dispatch,
        passage: Passage,
        answered: set[tuple[int, str]],
        comments: tuple[str, ...],
    ) -> HookResult:
        if not passage.allowed:
            denied = await self._denied(run.event, passage.hook, passage.reason)
            data = run.spoken[-1].result.data if run.denied else None
            return denied if data is None else replaced(denied, data=data)
        result = continued(run.data)
        if not answered:
            return result
        reason = "; ".join(comments) or None
        return replaced(result, reason=reason, _gated=passage.digest)

    async def _denied(self, event: str, hook: str, reason: str) -> HookResult:
        await self.notify(POLICY_VIOLATION, {"event": event, "hook": hook, "reason": reason})
        return replaced(HookResult(action="deny", reason=reason), _denied_by=hook)

    # Carrying out single answers, for loops that emit by themselves

    async def process_hook_result(
        self, result: HookResult, event: str = "", hook_name: str = "unknown"
    ) -> HookResult:
        """Carry out a result that `emit` returned, with every answer behind it."""
        run = dispatch_of(result) or self._stranger_run(result, event, hook_name)
        await self._show_all(run, {})
        if is_notification(run.event):
            await self._inject(run.event, run.spoken)
            return continued(run.data)
        answered: set[tuple[int, str]] = set()
        passage = await self._passage(run, answered)
        await self._inject(run.event, run.spoken)
        return await self._outcome(run, passage, answered, passage.comments)

    def _stranger_run(self, result: HookResult, event: str, hook_name: str) -> Dispatch:
        handler = self._strangers.setdefault(hook_name, HookHandler(_silent, name=hook_name))
        run = Dispatch(event, (), dict(result.data or {}), None)
        run.denied = result.action == "deny"
        run.spoken.append(Answer(handler, result))
        return run

    def handle_context_injection(
        self, result: HookResult, hook_name: str = "unknown", event: str = ""
    ) -> Awaitable[None]:
        """Inject what a result brings. Too large is a ValueError at once; await it for the rest."""
        wanted = _injections_of(result, hook_name, event)
        for one in wanted:
            self._injector.budget.check_size(one)
        return self._place(wanted, {})

    async def handle_approval_request(
        self, result: HookResult, hook_name: str = "unknown", event: str = ""
    ) -> HookResult:
        """Put a result's question to the person; returns `continue` or `deny`."""
        asking = replaced(result, action="ask_user")
        run = self._stranger_run(asking, event, hook_name)
        passage = await self._passage(run, set())
        return await self._outcome(run, passage, set(), passage.comments)

    async def handle_user_message(self, result: HookResult, hook_name: str = "unknown") -> None:
        """Show a result's message to the person."""
        if result.user_message:
            source = result.user_message_source or f"hook:{hook_name}"
            await self.show(result.user_message, result.user_message_level, source)

    async def show(self, message: str, level: Level, source: str) -> None:
        """Show a text to the person; a display that fails or hangs costs the message only."""
        text = self._trail.scrubbed(message)
        try:
            screen = self.display_system or display.LoggingDisplay()
            shown = screen.show_message(text, level, source)
            if inspect.isawaitable(shown):
                async with asyncio.timeout(PATIENCE):
                    await shown
        except Exception as error:
            logger.exception("The display failed; the message was: %s", text)
            self._trail.write("error", {"what": "display", "error": describe_error(error)})

    async def _show_all(self, run: Dispatch, printed: Mapping[int, str]) -> None:
        spoken = {answer.handler.id: answer.result for answer in run.spoken}
        for handler_id, text in printed.items():
            handler = next(record for _, _, record in run.plan if record.id == handler_id)
            result = spoken.get(handler_id)
            hidden = result is not None and result.suppress_output
            kind = "output_suppressed" if hidden else "output_shown"
            self._trail.write(kind, {"text": text}, event=run.event, handler=handler)
            if not hidden:
                await self.show(text.rstrip("\n"), "info", f"hook:{handler.name}")
        for answer in run.spoken:
            if answer.result.user_message:
                body = {
                    "text": answer.result.user_message,
                    "level": answer.result.user_message_level,
                }
                self._trail.write("user_message", body, event=run.event, handler=answer.handler)
                await self.handle_user_message(answer.result, answer.hook)

    # Injection

    async def _inject(self, event: str, spoken: Iterable[Answer]) -> None:
        answers = [one for one in spoken if one.result.action == "inject_context"]
        if not answers:
            return
        wanted = [part for one in answers for part in _injections_of(one.result, one.hook, event)]
        messages = {one.hook: one.result.user_message for one in answers}
        await self._place(wanted, messages)

    async def _place(
        self, wanted: Iterable[Injection], user_messages: Mapping[str, str | None]
    ) -> None:
        scrubbed = [
            Injection(**{**_fields(one), "text": self._trail.scrubbed(one.text)}) for one in wanted
        ]
        await self._report(await self._injector.place(scrubbed), user_messages)

    async def _report(self, dropped: _Drops, user_messages: Mapping[str, str | None]) -> None:
        for one, why in dropped:
            failed = why.startswith("Context injection failed")
            message = user_messages.get(one.hook) if failed else None
            level: Level = "error" if failed else "warning"
            await self.show(message or why, level, f"hook:{one.hook}")

    @asynccontextmanager
    async def tool_calls(self) -> AsyncIterator[None]:
        """While tool calls are under way, injections wait until their results are in place."""
        self._injector.begin_calls()
        try:
            yield
        finally:
            await self._report(await self._injector.end_calls(), {})

    async def open_request(self, data: dict[str, Any]) -> HookResult:
        """Take a request to a model through its hooks; `data["messages"]` is what to send.

        What hooks of this very event inject is part of it; ephemeral injections are used up.
        """
        history = await self._injector.history()
        stored = len(history)
        asked = {**data, "messages": self._injector.for_one_request(history)}
        if not self.hooks.hears(PROVIDER_REQUEST) and not self._trail.normal:
            return continued(asked)
        result = await self.execute_with_hooks(PROVIDER_REQUEST, asked)
        if result.action == "deny" or result.data is None:
            return result
        fresh = (await self._injector.history())[stored:]
        messages = self._injector.for_one_request([*result.data.get("messages", []), *fresh])
        return replaced(result, data={**result.data, "messages": messages})

    @property
    def injection_budget(self) -> int:
        """Tokens that hooks injected in this turn."""
        return self._injector.budget.used

    @property
    def injection_budget_per_turn(self) -> int | None:
        return self._injector.budget.limits.budget

    @property
    def injection_size_limit(self) -> int | None:
        return self._injector.budget.limits.size

    def count_tokens_with(self, count: Callable[[str], int]) -> None:
        """Count injections as the provider does instead of four characters a token."""
        self._injector.budget.count = count

    def reset_turn(self) -> None:
        """A new turn begins: the injection budget is whole again."""
        self._injector.budget.reset()
        self._trail.turn += 1

    # The face that modules see

    @property
    def context(self) -> Any:
        return self._mounts.points["context"]

    @context.setter
    def context(self, context: Any) -> None:
        self._mounts.points["context"] = context

    def _get_context(self) -> Any:
        return self._mounts.points["context"]

    @property
    def approval_system(self) -> Any:
        return self._gates.gate.system

    @approval_system.setter
    def approval_system(self, system: Any) -> None:
        if self._sealed:
            body = {"what": "approval_system", "refused": True}
            self._trail.write("configuration_changed", body)
            raise ApprovalError("The approval system is fixed once the session has started")
        self._gates.gate.system = system

    def seal(self) -> None:
        """The session starts: from here on nobody replaces what grants approval."""
        self._sealed = True

    @property
    def trail(self) -> Trail:
        """The pen of this session; hooks and tools cannot import what it writes to."""
        return self._trail

    def register_scrubber(self, scrubber: Scrubber) -> Callable[[], None]:
        """Run over every text before it is displayed, injected or written to the trail."""
        self._trail.scrubbers.append(scrubber)
        return lambda: self._trail.scrubbers.remove(scrubber)

    @property
    def mount_points(self) -> dict[str, Any]:
        return self._mounts.points

    async def mount(self, mount_point: str, module: Any, name: str | None = None) -> None:
        """Put a module in its place."""
        self._mounts.mount(mount_point, module, name)

    async def unmount(self, mount_point: str, name: str | None = None) -> None:
        """Take a module away again."""
        self._mounts.unmount(mount_point, name)

    def get(self, mount_point: str, name: str | None = None) -> Any:
        """What is mounted there."""
        return self._mounts.get(mount_point, name)

    def register_capability(self, name: str, value: Any) -> None:
        """Offer something to other modules by name."""
        self._capabilities[name] = value

    def get_capability(self, name: str) -> Any:
        """What was offered under that name, or None."""
        return self._capabilities.get(name)

    def register_contributor(
        self, channel: str, name: Any, callback: Callable[[], Any] | None = None
    ) -> None:
        """`(channel, callback)` or `(channel, name, callback)`."""
        if callback is None:
            name, callback = getattr(name, "__name__", type(name).__name__), name
        self._contributions.register(channel, name, callback)

    async def collect_contributions(self, channel: str) -> list[Any]:
        """What all contributors of a channel have to say."""
        return await self._contributions.collect(channel)

    @property
    def channels(self) -> dict[str, list[dict[str, Any]]]:
        return self._contributions.channels

    def register_cleanup(self, cleanup: Callable[[], Any]) -> None:
        """Run when the session ends, the last one registered first."""
        if callable(cleanup):
            self._cleanups.append(cleanup)

    async def cleanup(self) -> None:
        """Undo everything in reverse order; one that fails does not stop the others."""
        while self._cleanups:
            undo = self._cleanups.pop()
            try:
                outcome = undo()
                if inspect.isawaitable(outcome):
                    await outcome
            except Exception:
                logger.exception("A clean-up failed")
        forgotten = self._gates.gate.clear()
        if forgotten:
            self._trail.write("approval_cache_cleared", {"answers": forgotten})
        self._injector.forget()
        self._stop_listening()

    async def request_cancel(self, immediate: bool = False) -> None:
        """Ask the run to stop, gracefully or at once."""
        token = self.cancellation
        if not (token.request_immediate() if immediate else token.request_graceful()):
            return
        await self.notify(CANCEL_REQUESTED, {"immediate": immediate})
        await token.trigger_callbacks()

    def to_dict(self) -> dict[str, Any]:
        """A summary for logs and debugging."""
        points = self._mounts.points
        return {
            "session_id": self.session_id,
            "parent_id": self.parent_id,
            "orchestrator": points["orchestrator"] is not None,
            "context": points["context"] is not None,
            "providers": sorted(points["providers"]),
            "tools": sorted(points["tools"]),
            "hooks": self.hooks.list_handlers(),
            "capabilities": sorted(self._capabilities),
            "channels": sorted(self.channels),
        }

    def _registry_changed(self, change: str, handler: HookHandler) -> None:
        if self._trail.sink is not None:
            body = {
                "priority": handler.priority,
                "on_error": handler.on_error,
                "timeout": handler.timeout,
            }
            self._trail.write(f"hook_{change}", body, event=handler.event, handler=handler)


ModuleCoordinator = SessionCoordinator


class _Eyes:
    """Watches hooks run: catches what they print, takes their time, notes it at full level."""

    __slots__ = ("_before", "_event", "_started", "_trail", "durations", "printed")

    def __init__(self, trail: Trail, event: str) -> None:
        self._trail = trail
        self._event = event
        self.durations: dict[int, float] = {}
        self.printed: dict[int, str] = {}

    def begin(self, handler: HookHandler) -> None:
        if self._trail.full:
            self._trail.write("hook_started", {}, event=self._event, handler=handler)
        self._before = output.begin()
        self._started = time.perf_counter()

    def end(self, handler: HookHandler) -> None:
        seconds = time.perf_counter() - self._started
        self.durations[handler.id] = seconds
        text = output.end(self._before)
        if text:
            self.printed[handler.id] = text
        if self._trail.full:
            body = {"ms": round(seconds * 1000, 3)}
            self._trail.write("hook_finished", body, event=self._event, handler=handler)


async def _silent(_event: str, _data: dict[str, Any]) -> None:
    """Stands for a hook that is known by name only."""


def _injections_of(result: HookResult, hook: str, event: str) -> list[Injection]:
    return [
        Injection(
            hook=one.hook_name or hook,
            event=one.event or event,
            text=one.content,
            role=one.role,
            ephemeral=one.ephemeral,
            append_to_last_tool_result=one.append_to_last_tool_result,
        )
        for one in injections(result)
    ]


def _fields(one: Injection) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Injection.__slots__}
