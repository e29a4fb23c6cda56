"""The session coordinator: carries out what hooks answer."""

from __future__ import annotations

import inspect
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from amplifier_core import display, output
from amplifier_core.approval import ApprovalGate
from amplifier_core.approval.passage import Gates, Passage, digest_operation
from amplifier_core.cancellation import CancellationToken
from amplifier_core.contributions import Contributions
from amplifier_core.errors import ApprovalError
from amplifier_core.events import (
    CANCEL_REQUESTED,
    POLICY_VIOLATION,
    PROVIDER_REQUEST,
    is_notification,
)
from amplifier_core.hooks import (
    Answer,
    Dispatch,
    HookHandler,
    HookRegistry,
    Plan,
    Steps,
    dispatch_of,
    normalize_data,
)
from amplifier_core.injection.limits import (
    INJECTION_BUDGET_PER_TURN,
    MAX_INJECTION_SIZE,
    Injection,
    InjectionBudget,
    InjectionLimits,
    messages,
)
from amplifier_core.injection.placing import Injector
from amplifier_core.isolation import detach
from amplifier_core.models import HookResult, Level, continue_with, replace_fields
from amplifier_core.mount_points import MountPoints
from amplifier_core.precedence import list_injections
from amplifier_core.trail import AuditSink, Scrubber, Trail
from amplifier_core.utils import describe_error, run_with_timeout

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

HOLDS_THE_LOOP = 0.1
"""Seconds; a hook that lets nothing else run for longer is named in a warning."""

MOST_ROUNDS = 8
"""How often one operation may be edited or re-judged before it is denied."""

_now = time.perf_counter
_listen = output.running.set

REVIEWED = 200
"""Ephemeral injections that are kept for review."""

UNKNOWN = "unknown"
"""The hook of a result that somebody handed over without saying whose it is."""

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
        self._gates = Gates(
            ApprovalGate(approval_system), self._trail, self.notify, self._mounted_tool
        )
        self._loop_holders = LoopHolders()
        limits = InjectionLimits.read(self.config.get("session") or {})
        self._injector = Injector(self._get_context, InjectionBudget(limits), self._trail)
        self._passing: deque[dict[str, Any]] = deque(maxlen=REVIEWED)
        self._stop_listening = self.hooks.listen(self._registry_changed)

    # Dispatching

    async def execute_with_hooks(
        self, event: str, data: Mapping[str, Any] | None = None
    ) -> HookResult:
        """Dispatch an event, carry out every answer, and return the outcome.

        That is `continue` with the final data, a copy nobody else holds, or `deny` with the reason.
        """
        given = detach(data if type(data) is dict else normalize_data(data))
        if is_notification(event):
            await self.notify(event, given)
            return continue_with({**self.hooks.default_fields, **given})
        if not self.hooks.hears(event):
            await self._unheard(event, given)
            return await self.hooks.emit(event, given)
        run = await self._dispatched(event, given)
        if not run.spoken:
            return continue_with(run.data)
        return await self._operation(run, given)

    def reaches_anybody(self, event: str) -> bool:
        """Whether telling of an event would reach a hook or the trail; if not, spare it."""
        return self.hooks.hears(event) or self._trail.sink is not None

    async def notify(self, event: str, data: Mapping[str, Any]) -> None:
        """Tell of something that has happened; nothing that a hook answers can undo it."""
        if not self.hooks.hears(event):
            await self._unheard(event, data)
            return
        run = await self._dispatched(event, data)
        if run.spoken:
            await self._inject(event, run.spoken)

    async def _operation(self, run: Dispatch, given: dict[str, Any]) -> HookResult:
        """Ask for what the hooks left of it; again, if it or the policy is changed meanwhile."""
        answered: set[tuple[int, str]] = set()
        comments: tuple[str, ...] = ()
        for _ in range(MOST_ROUNDS):
            passage = _settled(run, answered) or await self._gates.passage(run, answered)
            comments += passage.comments
            if passage.edited_input is not None:
                # From here on this is the operation: nothing goes back to what was edited away.
                given = {**run.data, "tool_input": detach(passage.edited_input)}
                run = await self._dispatched(run.event, given)
            elif passage.allowed and answered and await self._changed_meanwhile(run):
                run = await self._dispatched(run.event, given)
                if digest_operation(run.event, run.data) != passage.digest:
                    answered.clear()  # the person has not seen this
            else:
                await self._inject(run.event, run.spoken)
                return await self._outcome(run, passage, answered, comments)
        return await self._denied(
            run.event, "kernel", f"the operation was changed more than {MOST_ROUNDS} times"
        )

    async def _dispatched(self, event: str, data: Mapping[str, Any]) -> Dispatch:
        trail = self._trail
        watch = _Ears(self._loop_holders) if trail.sink is None else _Eyes(self, event)
        if not output.ready():
            output.install()
        before = output.running.get()
        try:
            run = await self.hooks.dispatch(event, data, watch)
        finally:
            output.running.set(before)
        if run.spoken or watch.printed:
            await self._show_all(run, watch.printed)
        if trail.sink is not None:
            trail.dispatched(run, watch.durations, run.fold())
            await self._tell_of_trail()
        return run

    async def _unheard(self, event: str, data: Mapping[str, Any]) -> None:
        if self._trail.sink is not None:
            self._trail.unheard(event, data)
            await self._tell_of_trail()

    async def _tell_of_trail(self) -> None:
        """A trail that fails is the person's business, whatever the operation was."""
        if news := self._trail.news():
            await self.show(news, "error", "audit")

    async def _changed_meanwhile(self, run: Dispatch) -> bool:
        """Whether the hooks, or what an asking guard has to say, changed while a person thought."""
        if self.hooks.handlers_for(run.event) != [handler for _, _, handler in run.plan]:
            return True
        asking = [one for one in run.spoken if one.result.action == "ask_user"]
        for answer in asking:
            if answer.handler.on_error == "deny" and await self._says_something_else(answer, run):
                return True
        return False

    async def _says_something_else(self, answer: Answer, run: Dispatch) -> bool:
        guard, before, held = answer.handler, output.running.get(), output.Holder()
        output.running.set(held)
        try:
            now = await run_with_timeout(guard.execute(run.event, detach(run.data)), None)
        except Exception as error:  # noqa: BLE001 - judged like any failing guard
            logger.warning("Guard '%s' failed: %s", guard.name, describe_error(error))
            return True
        finally:
            output.end(held)
            output.running.set(before)
        return now.action == "deny" or now.approval_prompt != answer.result.approval_prompt

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
            return denied if data is None else replace_fields(denied, data=data)
        result = continue_with(run.data)
        if not answered:
            return result
        reason = "; ".join(comments) or None
        return replace_fields(result, reason=reason, _gated=passage.digest)

    async def _denied(self, event: str, hook: str, reason: str) -> HookResult:
        await self.notify(POLICY_VIOLATION, {"event": event, "hook": hook, "reason": reason})
        return replace_fields(HookResult(action="deny", reason=reason), _denied_by=hook)

    # Carrying out single answers, for loops that emit by themselves

    async def process_hook_result(
        self, result: HookResult, event: str = "", hook_name: str = UNKNOWN
    ) -> HookResult:
        """Carry out a result that `emit` returned, with every answer behind it."""
        run = dispatch_of(result) or self._stranger_run(result, event, hook_name)
        await self._show_all(run, {})
        if is_notification(run.event):
            await self._inject(run.event, run.spoken)
            return continue_with(run.data)
        answered: set[tuple[int, str]] = set()
        passage = _settled(run, answered) or await self._gates.passage(run, answered)
        await self._inject(run.event, run.spoken)
        return await self._outcome(run, passage, answered, passage.comments)

    def _stranger_run(self, result: HookResult, event: str, hook_name: str) -> Dispatch:
        handler = self._strangers.setdefault(hook_name, HookHandler(_silent, name=hook_name))
        run = Dispatch(event, Plan(), dict(result.data or {}), None)
        run.denied = result.action == "deny"
        run.spoken.append(Answer(handler, result))
        return run

    def handle_context_injection(
        self, result: HookResult, hook_name: str = UNKNOWN, event: str = ""
    ) -> Awaitable[None]:
        """Inject what a result brings. Too large is a ValueError at once; await it for the rest."""
        wanted = _injections_of(result, hook_name, event)
        for one in wanted:
            self._injector.budget.check_size(one)
        return self._place(wanted, {})

    async def handle_approval_request(
        self, result: HookResult, hook_name: str = UNKNOWN, event: str = ""
    ) -> HookResult:
        """Put a result's question to the person; returns `continue` or `deny`."""
        asking = replace_fields(result, action="ask_user")
        run = self._stranger_run(asking, event, hook_name)
        answered: set[tuple[int, str]] = set()
        passage = _settled(run, answered) or await self._gates.passage(run, answered)
        return await self._outcome(run, passage, answered, passage.comments)

    async def handle_user_message(self, result: HookResult, hook_name: str = UNKNOWN) -> None:
        """Show a result's message to the person."""
        if result.user_message:
            source = result.user_message_source or f"hook:{hook_name}"
            await self.show(result.user_message, result.user_message_level, source)

    async def show(self, message: str, level: Level, source: str) -> None:
        """Show a text to the person; a display that fails or hangs costs the message only."""
        text = self._trail.scrubbed(message)
        printing = output.release()
        try:
            screen = self.display_system or display.LoggingDisplay()
            shown = screen.show_message(text, level, source)
            if inspect.isawaitable(shown):
                await run_with_timeout(shown, PATIENCE)
        except Exception as error:
            logger.exception("The display failed; the message was: %s", text)
            self._trail.write("error", {"what": "display", "error": describe_error(error)})
        finally:
            output.restore(printing)

    async def _show_all(self, run: Dispatch, printed: Mapping[HookHandler, str]) -> None:
        spoken = {answer.handler: answer.result for answer in run.spoken}
        for handler, text in printed.items():
            result = spoken.get(handler)
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
        said = {one.hook: one.result.user_message for one in answers}
        await self._place(wanted, said)

    async def _place(
        self, wanted: Iterable[Injection], user_messages: Mapping[str, str | None]
    ) -> None:
        scrubbed = [
            Injection(**{**_fields(one), "text": self._trail.scrubbed(one.text)}) for one in wanted
        ]
        dropped = await self._injector.place(scrubbed)
        await self._report(dropped, user_messages)
        gone = {id(one) for one, _ in dropped}
        for one in scrubbed:
            if id(one) not in gone:
                await self._review(one)

    async def _review(self, accepted: Injection) -> None:
        """Keep what is never stored, and in debug mode show the person what a hook said."""
        if accepted.ephemeral:
            self._passing.extend(messages([accepted]))
        if (self.config.get("session") or {}).get("debug"):
            await self.show(f"Injected: {accepted.text}", "info", f"hook:{accepted.hook}")

    def ephemeral_injections(self) -> list[dict[str, Any]]:
        """The last ephemeral injections, which no conversation keeps: for review."""
        return list(self._passing)

    async def _report(self, dropped: _Drops, user_messages: Mapping[str, str | None]) -> None:
        for one, why in dropped:
            failed = why.startswith("Context injection failed")
            message = user_messages.get(one.hook) if failed else None
            level: Level = "error" if failed else "warning"
            await self.show(message or why, level, f"hook:{one.hook}")

    def tool_calls(self) -> ToolCalls:
        """While tool calls are under way, injections wait until their results are in place."""
        return ToolCalls(self._injector, self._report)

    async def open_request(self, data: Mapping[str, Any]) -> HookResult:
        """Take a request to a model through its hooks; `data["messages"]` is what to send.

        What hooks of this very event inject is part of it; ephemeral injections are used up.
        """
        history = await self._injector.history()
        stored = len(history)
        asked = {**data, "messages": self._injector.for_one_request(history)}
        if not self.hooks.hears(PROVIDER_REQUEST):
            await self._unheard(PROVIDER_REQUEST, asked)
            return continue_with(asked)
        result = await self.execute_with_hooks(PROVIDER_REQUEST, asked)
        if result.action == "deny" or result.data is None:
            return result
        kept = result.data.get("messages")
        if not isinstance(kept, list):
            why = f"a hook left {type(kept).__name__} instead of a list of messages"
            return await self._denied(PROVIDER_REQUEST, "kernel", why)
        fresh = (await self._injector.history())[stored:]
        sent = self._injector.for_one_request([*kept, *fresh])
        return replace_fields(result, data={**result.data, "messages": sent})

    @property
    def injection_budget(self) -> int:
        """Tokens that hooks injected in this turn."""
        return self._injector.budget.used

    @injection_budget.setter
    def injection_budget(self, used: int) -> None:
        self._injector.budget.used = used

    @property
    def injection_budget_per_turn(self) -> int | None:
        return self._injector.budget.limits.budget

    @property
    def injection_size_limit(self) -> int | None:
        return self._injector.budget.limits.size

    def count_tokens_with(self, count: Callable[[str], int]) -> None:
        """Count injections as the provider does instead of four characters a token."""
        self._injector.budget.count = count

    def use_plan(self, plan: Mapping[str, Any]) -> None:
        """A hook has changed the mount plan: its settings hold from here on."""
        self.config = dict(plan)
        self._injector.budget.limits = InjectionLimits.read(plan.get("session") or {})

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

    def _mounted_tool(self, name: Any) -> Any:
        return self._mounts.points["tools"].get(name) if isinstance(name, str) else None

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

    def scrub(self, value: Any) -> Any:
        """The value as it may leave the session: every text in it passed through the scrubbers."""
        return self._trail.scrubbed(value)

    def register_scrubber(self, scrubber: Scrubber) -> Callable[[], None]:
        """Run over every text before it is displayed, injected or written to the trail."""
        scrubbers = self._trail.scrubbers
        scrubbers.append(scrubber)
        return lambda: scrubbers.remove(scrubber) if scrubber in scrubbers else None

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
        try:
            while self._cleanups:
                await self._undo(self._cleanups.pop())
        finally:
            forgotten = self._gates.gate.clear()
            if forgotten:
                self._trail.write("approval_cache_cleared", {"answers": forgotten})
            self._injector.forget()
            self._stop_listening()

    async def _undo(self, undo: Callable[[], Any]) -> None:
        try:
            outcome = undo()
            if inspect.isawaitable(outcome):
                await run_with_timeout(outcome, PATIENCE)
        except Exception as error:
            logger.exception("A clean-up failed")
            self._trail.write("error", {"what": "clean-up", "error": describe_error(error)})

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


class ToolCalls:
    """`async with`: what hooks inject is parked, and laid behind the results at the end."""

    __slots__ = ("_injector", "_report")

    def __init__(
        self, injector: Injector, report: Callable[[_Drops, Mapping[str, None]], Awaitable[None]]
    ) -> None:
        self._injector = injector
        self._report = report

    async def __aenter__(self) -> None:
        self._injector.begin_calls()

    async def __aexit__(self, *_: object) -> None:
        dropped = await self._injector.end_calls()
        if dropped:
            await self._report(dropped, {})


class LoopHolders:
    """Finds the hooks that hold the event loop, and names each in one warning.

    A hook that took long may only have waited, which is its right. It is timed step by step when
    it runs again, and a step is what nothing else can run beside.
    """

    def __init__(self) -> None:
        self.suspects: set[int] = set()
        self._cleared: set[int] = set()

    def took_long(self, handler: HookHandler) -> None:
        """A hook ran for long, perhaps waiting."""
        if handler.id not in self._cleared:
            self.suspects.add(handler.id)

    def held(self, handler: HookHandler, seconds: float) -> None:
        """A hook let nothing else run for so long."""
        self.suspects.discard(handler.id)
        self._cleared.add(handler.id)
        if seconds > HOLDS_THE_LOOP:
            logger.warning(
                "Hook '%s' on '%s' held the event loop for %d ms; nothing else could run. "
                "Await what is slow, or move it to a thread with asyncio.to_thread",
                handler.name,
                handler.event,
                seconds * 1000,
            )


class _Ears:
    """Listens while hooks run: catches what each of them prints."""

    __slots__ = ("_holder", "_holders", "_longest", "_started", "printed")

    durations: Mapping[int, float] = {}

    def __init__(self, holders: LoopHolders) -> None:
        self._holders = holders
        self.printed: dict[HookHandler, str] = {}
        self._longest: float | None = None

    def begin(self, handler: HookHandler) -> Steps | None:
        self._holder: output.Holder = []
        _listen(self._holder)
        self._started = _now()
        if self._holders.suspects and handler.id in self._holders.suspects:
            self._longest = 0.0
            return self._step
        return None

    def end(self, handler: HookHandler) -> None:
        seconds = _now() - self._started
        if seconds > HOLDS_THE_LOOP:
            self._took_long(handler, seconds)
        if self._holder:
            self.printed[handler] = output.end(self._holder)
        else:
            self._holder.append(None)

    def _step(self, seconds: float) -> None:
        self._longest = max(self._longest or 0.0, seconds)

    def _took_long(self, handler: HookHandler, seconds: float) -> None:
        if self._longest is None:
            self._holders.took_long(handler)
        else:
            # A plain function has no steps: all of its time was one.
            self._holders.held(handler, self._longest or seconds)
            self._longest = None


class _Eyes(_Ears):
    """Watches as well: takes each hook's time, and notes its start and end at full level."""

    __slots__ = ("_event", "_trail", "durations")

    def __init__(self, coordinator: SessionCoordinator, event: str) -> None:
        super().__init__(coordinator._loop_holders)
        self._trail = coordinator.trail
        self._event = event
        self.durations: dict[int, float] = {}

    def begin(self, handler: HookHandler) -> Steps | None:
        if self._trail.full:
            self._trail.write("hook_started", {}, event=self._event, handler=handler)
        return super().begin(handler)

    def end(self, handler: HookHandler) -> None:
        seconds = self.durations[handler.id] = _now() - self._started
        super().end(handler)
        if self._trail.full:
            body = {"ms": round(seconds * 1000, 3)}
            self._trail.write("hook_finished", body, event=self._event, handler=handler)


def _settled(run: Dispatch, answered: set[tuple[int, str]]) -> Passage | None:
    """How a dispatch came through its gates, if nobody has to be asked for that."""
    if run.denied:
        last = run.spoken[-1]
        return Passage(False, last.hook, str(last.result.reason or ""))
    if answered or any(one.result.action == "ask_user" for one in run.spoken):
        return None
    return Passage()


async def _silent(_event: str, _data: dict[str, Any]) -> None:
    """Stands for a hook that is known by name only."""


def _injections_of(result: HookResult, hook: str, event: str) -> list[Injection]:
    return [
        Injection(
            # Under its own name, whatever it says of itself; a caller may not know it.
            hook=hook if hook != UNKNOWN else one.hook_name or hook,
            event=event or one.event or "",
            text=one.content,
            role=one.role,
            ephemeral=one.ephemeral,
            append_to_last_tool_result=one.append_to_last_tool_result,
        )
        for one in list_injections(result)
    ]


def _fields(one: Injection) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Injection.__slots__}
