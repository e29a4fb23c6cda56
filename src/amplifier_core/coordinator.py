"""The session coordinator: the interface of modules, and the effects of what hooks answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from amplifier_core import events, payloads
from amplifier_core.answers import Outcome, describe_failure, describe_shadowed
from amplifier_core.approval import AnyApprovalSystem, ApprovalGate
from amplifier_core.cancellation import CancellationToken
from amplifier_core.compat import CompatInterface
from amplifier_core.dispatch import Answer, Dispatch, Watch
from amplifier_core.display import DisplaySystem, LoggingDisplay
from amplifier_core.errors import ApprovalError
from amplifier_core.events import DataT, EventOf
from amplifier_core.gatekeeper import Gatekeeper
from amplifier_core.handovers import Handovers
from amplifier_core.hooks import HookRegistry
from amplifier_core.host import ModuleHost
from amplifier_core.injection import (
    Drop,
    Injection,
    InjectionBudget,
    Injector,
    ToolCalls,
    gather_injections,
)
from amplifier_core.interfaces import Conversation
from amplifier_core.models import HookResult, Level
from amplifier_core.mount_plan import INJECTION_BUDGET_PER_TURN as INJECTION_BUDGET_PER_TURN
from amplifier_core.mount_plan import MAX_INJECTION_SIZE as MAX_INJECTION_SIZE
from amplifier_core.mount_plan import (
    InjectionLimits,
    copy_plan,
    read_approval_limit,
    read_calls_at_once,
    read_mode,
)
from amplifier_core.operation import KERNEL, Operations
from amplifier_core.output import Uncaptured
from amplifier_core.records import (
    AnswerIgnored,
    AnswerShadowed,
    ApprovalsForgotten,
    ConfigurationChanged,
    ErrorNoted,
    HookFailed,
    HookRegistered,
    HookUnregistered,
    OutputShown,
    OutputSuppressed,
    UserMessage,
)
from amplifier_core.registration import HookHandler
from amplifier_core.trail import AuditSink, Scrubber, Trail
from amplifier_core.utils import PATIENCE, describe_error, resolve
from amplifier_core.utils.calling import check_has
from amplifier_core.utils.conversation import replace_last_answer
from amplifier_core.utils.slots import Slots
from amplifier_core.utils.text import describe_cause, locate_failure

logger = logging.getLogger(__name__)

GO_ON = "A hook wants you to go on."


class SessionCoordinator(CompatInterface, ModuleHost):
    """Integrates hooks with a session: dispatches events and turns every answer into its effect.

    Everything is optional: without a context nothing is injected, without an approval system
    nothing gated is allowed, without a display messages go to the log.
    """

    def __init__(
        self,
        hooks: HookRegistry | None = None,
        context: Conversation | None = None,
        approval_system: AnyApprovalSystem | None = None,
        display_system: DisplaySystem | None = None,
        *,
        session: Any = None,
        config: Mapping[str, Any] | None = None,
        audit: AuditSink | None = None,
        session_id: str | None = None,
        parent_id: str | None = None,
        loader: Any = None,
    ) -> None:
        check_has("A context", context, "add_message")
        check_has("An approval system", approval_system, "request_approval", "decide")
        check_has("A display system", display_system, "show_message")
        self.session = session
        self.config = copy_plan(config or getattr(session, "config", None))
        self.session_id = session_id or getattr(session, "session_id", None)
        self.parent_id = parent_id or getattr(session, "parent_id", None)
        self.hooks = HookRegistry(mode=read_mode(self.config)) if hooks is None else hooks
        super().__init__(self.hooks, context)
        self.loader = loader
        self.display_system = display_system
        self.cancellation = CancellationToken()
        self._sealed = False
        self.mounting: Any = None
        """What is being mounted: the hooks that are registered meanwhile are its own."""
        self._trail = Trail(audit, self.session_id)
        self._gate = ApprovalGate(approval_system, read_approval_limit(self.config))
        self.handovers = Handovers(self._trail, self.notify, self.hooks.find_counts)
        """The questions that another program asks its own person."""
        gatekeeper = Gatekeeper(
            self._gate, self._trail, self.notify, self.handovers, self._find_tool
        )
        self._operations = Operations(self.hooks, gatekeeper, self._trail, self)
        # One for each tool call that may run at once, here and in sub-agents.
        self.slots = Slots(read_calls_at_once(self.config))
        self._named_handlers: dict[str, HookHandler] = {}
        budget = InjectionBudget(InjectionLimits.read(self.config.get("session") or {}))
        self._injector = Injector(self.mount_points, budget, self._trail, self._report_drops)
        self._shown_once: set[tuple[str, type | str, str]] = set()
        self.hooks.reporter = self.report_problems
        self._stop_listening = self.hooks.listen(self._record_registration)

    # Events

    async def execute_with_hooks(
        self, event: str, data: Mapping[str, Any] | None = None
    ) -> HookResult:
        """Dispatch an event, carry out every answer, and return the outcome.

        That is `continue` with the final data, a private copy, or `deny` with the reason.
        """
        name: Any = event
        return (await self.judge(name, data)).to_result()

    async def judge(self, event: EventOf[DataT], data: DataT) -> Outcome:
        """The same, with everything that is known of the outcome."""
        name: Any = event
        await self._injector.calls.place_parked()
        return await self._operations.judge(name, data)

    async def notify(self, event: EventOf[DataT], data: DataT) -> None:
        """Tell of something that has happened; nothing that a hook answers can undo it."""
        name: Any = event
        await self._operations.notify(name, data)

    def is_observed(self, event: str) -> bool:
        """Whether telling of an event would reach a hook, the trail or a person; else spare it."""
        return (
            self._trail.records
            or bool(self._trail.pending_messages)
            or self.hooks.has_listeners(event)
        )

    def watch_hooks(self, watch_with: Callable[[], Watch]) -> None:
        """Observe hooks while they run; `watch_with` makes an observer for each dispatch."""
        self._operations.watch_with = watch_with

    async def deny(self, event: str, hook: str, reason: str) -> Outcome:
        """Tell observers of a denied operation; returns what becomes of it."""
        violation = payloads.PolicyViolationData(event=event, hook=hook, reason=reason)
        await self.notify(events.POLICY_VIOLATION, violation)
        return Outcome(False, hook=hook, reason=reason)

    # Showing

    async def show(self, message: str, level: Level, source: str) -> None:
        """Show a text to the person; a display that fails or hangs costs the message only."""
        text = self._trail.scrub(message)
        with Uncaptured():
            try:
                screen = self.display_system or LoggingDisplay()
                await resolve(screen.show_message(text, level, source), PATIENCE)
            except Exception as error:
                logger.exception("The display failed; the message was: %s", text)
                self._trail.write(ErrorNoted(what="display", error=describe_error(error)))

    async def show_answers(
        self, event: str, answers: list[Answer], printed: Mapping[HookHandler, str]
    ) -> None:
        """Show what hooks printed, unless they hid it, and the messages of their answers."""
        results = {answer.handler: answer.result for answer in answers}
        for handler, text in printed.items():
            result = results.get(handler)
            hidden = result is not None and result.suppress_output
            body = OutputSuppressed(text=text) if hidden else OutputShown(text=text)
            self._trail.write(body, event=event, handler=handler)
            if not hidden:
                await self.show(text.rstrip("\n"), "info", f"hook:{handler.name}")
        for answer in answers:
            result = answer.result
            if result.user_message:
                message = UserMessage(text=result.user_message, level=result.user_message_level)
                self._trail.write(message, event=event, handler=answer.handler)
                await self.handle_user_message(result, answer.hook)

    async def report_problems(self, run: Dispatch) -> None:
        """Record each failure of a hook, and tell the person once of each cause.

        The same for what shadow mode kept from happening, each time, and for answers that an event
        cannot obey.
        """
        await self._report_failures(run)
        await self._report_shadowed(run)
        for answer in run.powerless_answers:
            action = answer.result.action
            said = answer.result.reason
            why = self._keep_working(run.event, answer.result)
            if why is not None:
                said = said or answer.result.approval_prompt
                await self.report_ignored(run.event, answer.handler, action, said, why)

    async def _report_failures(self, run: Dispatch) -> None:
        stats = self.get_capability("session.stats") or {}
        shadows = self.hooks.mode == "evaluate_only"
        for handler, error, advice in run.problems:
            if error is None:
                await self.show(advice, "warning", f"hook:{handler.name}")
                continue
            cause = describe_cause(error).removeprefix("InvalidHookResult: ")
            place = locate_failure(error, handler.handler)
            denies = handler.is_guard and not (shadows or handler.shadow)
            body = HookFailed(error=cause, at=place, denied=denies)
            self._trail.write(body, event=run.event, handler=handler)
            stats["hook_failures"] = stats.get("hook_failures", 0) + 1
            known = (handler.name, type(error), place or cause)
            if known not in self._shown_once:
                self._shown_once.add(known)
                text = describe_failure(run.event, cause, place, denies)
                await self.show(text, "error", f"hook:{handler.name}")

    async def _report_shadowed(self, run: Dispatch) -> None:
        for answer in run.shadow_answers:
            action = answer.result.action
            reason = answer.result.reason
            if would := describe_shadowed(run.event, answer.result):
                body = AnswerShadowed(action=action, reason=reason, would=would)
                self._trail.write(body, event=run.event, handler=answer.handler)
                if self.hooks.mode == "evaluate_only":
                    await self.show(f"shadow: {would}", "warning", f"hook:{answer.hook}")

    def _keep_working(self, event: str, result: HookResult) -> str | None:
        """Have the agent go on that a hook does not let stop; returns why not, if so."""
        if event not in events.stops or result.action != "deny":
            return "the event only tells what has happened"
        keep = self.get_capability("session.keep_working")
        if keep is None:
            return "nothing here can make the agent go on"
        why: str | None = keep(result.reason or GO_ON, event)
        return why

    async def report_ignored(
        self, event: str, handler: HookHandler, what: str, said: str | None, why: str
    ) -> None:
        """Record an answer of a hook that had no effect; the person is told once of each kind.

        `what` is its action, or `user_message`; `said` is the text that went with it.
        """
        body = AnswerIgnored(action=what, reason=said, why=why)
        self._trail.write(body, event=event, handler=handler)
        handler.counts.count_ignored(what)
        known = (handler.name, what, event)
        if known not in self._shown_once:
            self._shown_once.add(known)
            text = f"answered {what!r} to {event}, which had no effect: {why}"
            logger.warning("Hook '%s' %s", handler.name, text)
            await self.show(text, "warning", f"hook:{handler.name}")

    async def show_pending_messages(self) -> None:
        """Show the messages that came up where none could be shown."""
        news = self._trail.pending_messages
        self._trail.pending_messages = []
        for one in news:
            await self.show(*one)

    # Injecting

    async def inject_answers(
        self, event: str, answers: list[Answer], keep_ephemeral: bool = True
    ) -> list[Injection]:
        """Inject what the answers to an event bring; returns what was accepted."""
        wanted = gather_injections(event, answers)
        if wanted:
            return await self._place(wanted, keep_ephemeral)
        return []

    async def _place(
        self, wanted: Iterable[Injection], keep_ephemeral: bool = True
    ) -> list[Injection]:
        accepted, dropped = await self._injector.place(wanted, keep_ephemeral)
        await self._report_drops(dropped)
        if (self.config.get("session") or {}).get("debug"):
            for one in accepted:
                await self.show(f"Injected: {one.text}", "info", f"hook:{one.hook}")
        return accepted

    async def _report_drops(self, dropped: Iterable[Drop]) -> None:
        for drop in dropped:
            source = f"hook:{drop.injection.hook}"
            if drop.failed:
                await self.show(drop.injection.user_message or drop.why, "error", source)
            else:
                await self.show(drop.why, "warning", source)

    async def replace_answer(self, said: str, instead: str) -> None:
        """Have the conversation keep another text in place of the answer that it ends with."""
        history = await self._injector.read_history()
        changed = replace_last_answer(history, (said, self.scrub(said)), instead)
        try:
            if changed is not None:
                await resolve(self.mount_points["context"].set_messages(changed), PATIENCE)
        except Exception as error:
            logger.exception("The context could not replace an answer")
            cause = describe_error(error)
            why = f"The conversation still holds an answer that a hook took back: {cause}"
            self._trail.write(ErrorNoted(what="context", error=why))
            await self.show(why, "error", "session")

    def ephemeral_injections(self) -> list[dict[str, Any]]:
        """The last ephemeral injections, which no conversation keeps: for review."""
        return list(self._injector.reviewed)

    def take_ephemeral(self) -> list[dict[str, Any]]:
        """The ephemeral injections, used up: for a loop that makes its requests by itself."""
        return self._injector.use_ephemeral([])

    def tool_calls(self) -> ToolCalls:
        """While tool calls are under way, injections wait until their results are in place."""
        return self._injector.calls

    async def open_request(self, data: payloads.ProviderRequestData) -> Outcome:
        """Take a request to a model through its hooks; `data["messages"]` is what to send.

        What hooks of this very event inject is part of it; ephemeral injections are used up. If no
        messages are given, it is the conversation, in an order that models accept.
        """
        history = data.get("messages") or []
        if not history or self._injector.calls.parked:
            history = await self._injector.complete_history(history)
        messages = self._injector.use_ephemeral(history)
        asked: payloads.ProviderRequestData = {**data, "messages": messages}
        # A long conversation is copied only if a hook will see it.
        if not self.hooks.has_listeners(events.PROVIDER_REQUEST):
            await self._operations.record_only(events.PROVIDER_REQUEST, asked)
            return Outcome(True, cast("dict[str, Any]", asked))
        stored = len(await self._injector.read_history())
        asked["messages"] = [*messages]  # plain: a context's own kind would cost the slow copy
        outcome = await self.judge(events.PROVIDER_REQUEST, asked)
        if not outcome.allowed or outcome.data is None:
            return outcome
        kept = outcome.data.get("messages")
        if not isinstance(kept, list):
            why = f"a hook left {type(kept).__name__} instead of a list of messages"
            return await self.deny(events.PROVIDER_REQUEST, KERNEL, why)
        fresh = (await self._injector.read_history())[stored:]
        sent = self._injector.use_ephemeral([*kept, *fresh])
        return outcome._replace(data={**outcome.data, "messages": sent})

    def count_tokens_with(self, count: Callable[[str], int]) -> None:
        """Count injections as the provider does instead of four characters a token."""
        self._injector.budget.count = count

    def use_plan(self, plan: Mapping[str, Any]) -> None:
        """A hook has changed the mount plan: its settings hold from here on."""
        self.config = dict(plan)
        self._injector.budget.limits = InjectionLimits.read(plan.get("session") or {})
        self.slots = Slots(read_calls_at_once(plan))

    def reset_turn(self) -> None:
        """A new turn begins: the injection budget is whole again."""
        self._injector.budget.used = 0
        self._trail.turn += 1
        if self._injector.ephemeral:
            lost = self._injector.drop_old()
            self._count_unused(lost)
            self._trail.pending_messages += [
                (one.why, "warning", f"hook:{one.injection.hook}") for one in lost
            ]

    # The interface of modules

    def _find_tool(self, name: Any) -> Any:
        if isinstance(name, str):
            return self.mount_points["tools"].get(name)
        return None

    @property
    def approval_system(self) -> AnyApprovalSystem | None:
        return self._gate.system

    @approval_system.setter
    def approval_system(self, system: AnyApprovalSystem | None) -> None:
        if self._sealed:
            self._trail.write(ConfigurationChanged(what="approval_system", refused=True))
            raise ApprovalError("The approval system is fixed once the session has started")
        check_has("An approval system", system, "request_approval", "decide")
        self._gate.system = system

    def seal(self) -> None:
        """Refuse any change of the approval system from now on, because the session starts."""
        self._sealed = True

    @property
    def trail(self) -> Trail:
        """Writes the records of this session; hooks and tools cannot import what is behind it."""
        return self._trail

    def scrub(self, value: Any) -> Any:
        """The value as it may leave the session: every text in it passed through the scrubbers."""
        if self._trail.scrubbers:
            return self._trail.scrub(value)
        return value

    def register_scrubber(self, scrubber: Scrubber) -> Callable[[], None]:
        """Run over every text before it is displayed, injected or written to the trail."""
        scrubbers = self._trail.scrubbers
        scrubbers.append(scrubber)
        return lambda: scrubbers.remove(scrubber) if scrubber in scrubbers else None

    async def cleanup(self) -> None:
        """Undo everything in reverse order; one that fails does not stop the others."""
        try:
            await self.close_injections()
        finally:
            await self._clean_up()

    async def close_injections(self) -> None:
        """The agent is done: report what hooks told it and no request had."""
        lost = await self._injector.close()
        self._count_unused(lost)
        await self._report_drops(lost)

    def _count_unused(self, lost: list[Drop]) -> None:
        stats = self.get_capability("session.stats")
        if lost and stats is not None:
            stats["injections_unused"] = stats.get("injections_unused", 0) + len(lost)

    async def _clean_up(self) -> None:
        try:
            for failure in await self.run_cleanups():
                self._trail.write(ErrorNoted(what="clean-up", error=failure))
                await self.show(f"A clean-up failed: {failure}", "error", "session")
        finally:
            if forgotten := self._gate.forget():
                self._trail.write(ApprovalsForgotten(answers=forgotten))
            self._stop_listening()
            if self.hooks.reporter == self.report_problems:
                self.hooks.reporter = None

    async def request_cancel(self, immediate: bool = False) -> None:
        """Ask the run to stop, gracefully or at once."""
        token = self.cancellation
        if not (token.request_immediate() if immediate else token.request_graceful()):
            return
        wish = payloads.CancelRequestedData(immediate=immediate)
        await self.notify(events.CANCEL_REQUESTED, wish)
        await token.trigger_callbacks()

    def _record_registration(self, change: str, handler: HookHandler) -> None:
        handler.shadow = handler.shadow or getattr(self.mounting, "shadows", False)
        if self._trail.records:
            kind = HookRegistered if change == "registered" else HookUnregistered
            body = kind(
                priority=handler.priority,
                on_error=handler.on_error,
                timeout=handler.timeout,
                shadow=handler.shadow,
            )
            if self.mounting is not None:
                body.kind = self.mounting.kind
                body.module = self.mounting.id
            self._trail.write(body, event=handler.event, handler=handler)
        if change == "registered":
            advice = handler.advice.values()
            self._trail.pending_messages += [
                (text, "warning", f"hook:{handler.name}") for text in advice
            ]


class ModuleCoordinator(SessionCoordinator):
    """The coordinator of a session, constructed as authors of modules construct it."""

    def __init__(
        self,
        session: Any = None,
        approval_system: AnyApprovalSystem | None = None,
        display_system: DisplaySystem | None = None,
        *,
        hooks: HookRegistry | None = None,
        **more: Any,
    ) -> None:
        super().__init__(hooks, None, approval_system, display_system, session=session, **more)
