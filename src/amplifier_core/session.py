"""A session: it starts, takes prompts, calls tools, ends, and can be saved and resumed."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Any, Literal, Self

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ModuleLoadError, SessionDenied, SessionStateError
from amplifier_core.events import (
    CANCEL_COMPLETED,
    ERROR_ORCHESTRATION,
    PROMPT_COMPLETE,
    PROMPT_SUBMIT,
    SESSION_END,
    SESSION_RESUME,
    SESSION_START,
    USER_NOTIFICATION,
)
from amplifier_core.hooks import HookRegistry
from amplifier_core.injection.placing import add_message
from amplifier_core.message_models import ToolCall
from amplifier_core.models import ToolResult
from amplifier_core.mounting import ModuleLoader, Mounting
from amplifier_core.mounting.plan import ModuleEntry, MountPlan, check_plan
from amplifier_core.mounting.provider import resolve_provider
from amplifier_core.tool_call import call_tool, read_result_limit
from amplifier_core.trail import AuditSink
from amplifier_core.utils import describe_error, timestamp

logger = logging.getLogger(__name__)

EndReason = Literal["complete", "user_exit", "error", "timeout"]
STATE_VERSION = 1

STOPPED_AT_ONCE = "Stopped at once, as requested."


@dataclass(slots=True)
class _Turn:
    """One prompt on its way."""

    prompt: str
    accepted: bool = False
    reply: str = ""


_NO_STATS = {"total_messages": 0, "tool_invocations": 0, "total_tokens": 0}


class AmplifierSession:
    """One conversation with an agent. Everything it does goes through its coordinator's hooks."""

    def __init__(
        self,
        config: Mapping[str, Any],
        loader: ModuleLoader | None = None,
        session_id: str | None = None,
        parent_id: str | None = None,
        approval_system: Any = None,
        display_system: Any = None,
        is_resumed: bool = False,
        *,
        audit: AuditSink | None = None,
        parent_hooks: HookRegistry | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        check_plan(config)
        read_result_limit(config)
        self._state = _checked_state(state)
        self.config = dict(config)
        self.session_id = session_id or self._state.get("session_id") or str(uuid.uuid4())
        self.parent_id = parent_id or self._state.get("parent_id")
        self.is_resumed = is_resumed or state is not None
        self.initialized = False
        self.status: Literal["idle", "running", "denied", "interrupted", "error", "ended"] = "idle"
        self.stats: dict[str, int] = {**_NO_STATS, **self._state.get("stats", {})}
        self.coordinator = SessionCoordinator(
            HookRegistry(parent=parent_hooks),
            None,
            approval_system,
            display_system,
            session=self,
            audit=audit,
            loader=loader,
        )
        self.mounting = Mounting(self.coordinator, loader)
        self.coordinator.register_capability("session.stats", self.stats)
        self._before_turn: list[Callable[[], Any]] = []
        self._turn = asyncio.Lock()
        self._starting = asyncio.Lock()
        self._starter: asyncio.Task[Any] | None = None
        self._worker: asyncio.Task[Any] | None = None
        self._counts: Any = None
        self._started = time.monotonic()
        self._created = self._state.get("created") or timestamp()
        fields = {"session_id": self.session_id}
        if self.parent_id:
            fields["parent_id"] = self.parent_id
        self.coordinator.hooks.set_default_fields(**fields)

    @property
    def context(self) -> Any:
        """The conversation."""
        return self.coordinator.context

    # Start

    async def initialize(self) -> None:
        """Mount the plan and start; a hook may change the plan or refuse the start."""
        if self.initialized:
            return
        if self._starter is _this_task():
            raise SessionStateError("The session is still starting; it cannot work yet")
        async with self._starting:
            if not self.initialized:
                await self._started_up()

    async def _started_up(self) -> None:
        self._check_not_ended()
        self._starter = _this_task()
        try:
            await self._start()
        except BaseException as error:
            reason = "denied" if isinstance(error, SessionDenied) else "error"
            self.coordinator.trail.write("session_ended", {"reason": reason})
            await self._unmount()
            raise
        finally:
            self._starter = None

    async def _start(self) -> None:
        plan = MountPlan.parse(self.config)
        await self._mount_needed("context", plan.session.context)
        await self._restore()
        await self._mount_hooks(plan)
        self.coordinator.seal()
        self.coordinator.trail.write(
            "session_started", {"resumed": self.is_resumed, "parent": self.parent_id}
        )
        await self._announce()
        await self._mount_rest(plan.session.context, MountPlan.parse(self.config))
        self.initialized = True
        await self.mounting.ready()

    async def _mount_hooks(self, plan: MountPlan) -> None:
        """Mount the hooks of a plan that are not mounted yet, and take away those it has not."""
        wanted = list(plan.hooks)
        for mounted in [one for one in self.mounting.mounted if one.kind == "hooks"]:
            if mounted.entry in wanted:
                wanted.remove(mounted.entry)
            else:
                await self.mounting.unmount(mounted)
        for entry in wanted:
            await self.mounting.mount("hooks", entry)

    async def _announce(self) -> None:
        """Tell of the start; the plan that the hooks leave is the plan of this session."""
        source = "resume" if self.is_resumed else "startup"
        data = {"mount_plan": self.config, "source": source}
        outcome = await self.coordinator.judge(SESSION_START, data)
        if not outcome.allowed:
            raise SessionDenied(outcome.denial)
        if self.is_resumed:
            count = len(await self._messages())
            resumed = {"mount_plan": self.config, "messages_count": count}
            await self.coordinator.notify(SESSION_RESUME, resumed)
        plan: dict[str, Any] = (outcome.data or {}).get("mount_plan") or self.config
        check_plan(plan)
        read_result_limit(plan)
        self.config = plan

    async def _mount_rest(self, context: ModuleEntry, plan: MountPlan) -> None:
        if plan.session.context != context:
            messages = await self._messages()
            await self._mount_needed("context", plan.session.context)
            for message in messages:
                await add_message(self.context, message)
        await self._mount_hooks(plan)
        self.coordinator.use_plan(self.config)
        await self._mount_needed("orchestrator", plan.session.orchestrator)
        for entry in plan.providers:
            await self.mounting.mount("providers", entry)
        for entry in plan.tools:
            await self.mounting.mount("tools", entry)

    async def _mount_needed(self, kind: str, entry: ModuleEntry) -> None:
        await self.mounting.mount(kind, entry)
        if self.coordinator.get(kind) is None:
            raise ModuleLoadError(
                f"Module '{entry.module}' mounted no {kind}", module_id=entry.module
            )

    async def _restore(self) -> None:
        self.coordinator.session_state.update(self._state.get("session_state", {}))
        for message in self._state.get("messages", ()):
            await add_message(self.context, message)

    # Turns

    def on_turn(self, callback: Callable[[], Any]) -> None:
        """Be called before each prompt is processed, when nothing else is going on."""
        self._before_turn.append(callback)

    async def execute(self, prompt: str, metadata: Mapping[str, Any] | None = None) -> str:
        """Process one prompt to the end; returns the agent's reply, or why there is none."""
        if not isinstance(prompt, str):
            raise TypeError(f"A prompt is a text, got {type(prompt).__name__}")
        if not self.initialized:
            await self.initialize()
        task = _this_task()
        if self._worker is task:
            raise SessionStateError("A turn is under way; its own hooks cannot start another")
        async with self._turn:
            self._check_not_ended()
            self._worker = task
            try:
                return await self._take_turn(prompt, dict(metadata or {}))
            finally:
                self._worker = None

    def _check_not_ended(self) -> None:
        if self.status == "ended":
            raise SessionStateError("The session has ended; resume it to go on")

    async def _take_turn(self, prompt: str, metadata: dict[str, Any]) -> str:
        await self._prepare_turn()
        turn, token = _Turn(prompt), self.coordinator.cancellation
        stopped = await self._interruptible(self._process(turn, metadata))
        if stopped:
            turn.reply = STOPPED_AT_ONCE
        if token.is_cancelled:
            self.status = "interrupted"
            await self.coordinator.notify(CANCEL_COMPLETED, {"immediate": token.is_immediate})
        if turn.accepted:
            await self._finish_turn(turn.prompt, turn.reply)
        return turn.reply

    async def _prepare_turn(self) -> None:
        for callback in self._before_turn:
            outcome = callback()
            if inspect.isawaitable(outcome):
                await outcome
        self.coordinator.cancellation.reset()
        self.coordinator.reset_turn()
        self._count_as_the_provider_does()
        self.status = "running"

    def _count_as_the_provider_does(self) -> None:
        points = self.coordinator.mount_points
        provider = resolve_provider(points["providers"], points["orchestrator"])
        if provider is self._counts:
            return
        self._counts = provider
        count = getattr(provider, "count_tokens", None)
        if callable(count) and not inspect.iscoroutinefunction(count):
            self.coordinator.count_tokens_with(count)
            take = getattr(self.context, "count_tokens_with", None)
            if take is not None:
                take(count)

    async def _interruptible(self, work: Awaitable[None]) -> bool:
        """Wait for the work; True if somebody asked for an immediate stop of it."""
        task, token, stopped = _this_task(), self.coordinator.cancellation, False

        def stop() -> None:
            nonlocal stopped
            if token.is_immediate and not stopped:
                stopped = task.cancel()

        forget = token.on_cancel(stop)
        try:
            await work
            return False
        except asyncio.CancelledError:
            self.status = "interrupted"
            # A second cancellation is somebody else's, who waits for it.
            if not stopped or task.cancelling() > 1:
                raise
            return True
        finally:
            forget()
            if stopped:
                task.uncancel()

    async def _process(self, turn: _Turn, metadata: dict[str, Any]) -> None:
        submitted = {"prompt": turn.prompt, "metadata": metadata}
        outcome = await self.coordinator.judge(PROMPT_SUBMIT, submitted)
        if not outcome.allowed:
            self.status, turn.reply = "denied", outcome.denial
            return
        wanted = (outcome.data or {}).get("prompt", turn.prompt)
        if not isinstance(wanted, str):
            self.status = "denied"
            turn.reply = f"A hook left no usable prompt: {type(wanted).__name__}"
            return
        turn.prompt, turn.accepted = wanted, True
        turn.reply = await self._run(wanted)

    async def _run(self, prompt: str) -> str:
        seconds = self.config["session"].get("turn_timeout")
        try:
            if seconds is None:
                reply = await self._orchestrate(prompt)
            else:
                async with asyncio.timeout(seconds):
                    reply = await self._orchestrate(prompt)
        except Exception as error:
            self.status = "error"
            await self._tell_error(error)
            raise
        return reply if isinstance(reply, str) else "" if reply is None else str(reply)

    async def _orchestrate(self, prompt: str) -> Any:
        points = self.coordinator.mount_points
        execute = points["orchestrator"].execute
        takes_hooks, takes_coordinator = _what_it_takes(getattr(execute, "__func__", execute))
        given = [points["context"], points["providers"], points["tools"]]
        if takes_hooks:
            given.append(self.coordinator.hooks)
        more = {"coordinator": self.coordinator} if takes_coordinator else {}
        return await execute(prompt, *given, **more)

    async def _tell_error(self, error: Exception) -> None:
        details = {"type": type(error).__name__, "message": str(error)}
        self.coordinator.trail.write("error", {"what": "turn", "error": describe_error(error)})
        await self.coordinator.notify(ERROR_ORCHESTRATION, {"error": details})
        await self._notify_user("error", describe_error(error))

    async def _finish_turn(self, prompt: str, reply: str) -> None:
        if self.status == "running":
            self.status = "idle"
        if self.coordinator.reaches_anybody(PROMPT_COMPLETE):
            data = {"prompt": prompt, "response": reply}
            await self.coordinator.notify(PROMPT_COMPLETE, data)
        await self._notify_user("awaiting_input", "The agent waits for the next prompt.")

    async def _notify_user(self, kind: str, message: str) -> None:
        if self.coordinator.reaches_anybody(USER_NOTIFICATION):
            data = {"notification_type": kind, "message": message, "metadata": {}}
            await self.coordinator.notify(USER_NOTIFICATION, data)

    async def execute_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        """Call a tool as the agent would: through every hook and gate."""
        if not self.initialized:
            await self.initialize()
        call = ToolCall(id=f"call_{uuid.uuid4().hex[:12]}", name=name, arguments=input)
        return await call_tool(self.coordinator, call)

    # State and end

    async def _messages(self) -> list[dict[str, Any]]:
        if self.context is None:
            return []
        found = self.context.get_messages()
        return list(await found if inspect.isawaitable(found) else found)

    async def injections(self) -> list[dict[str, Any]]:
        """What hooks injected, with their names, the ephemeral ones included: for review."""
        found = await self._messages()
        stored = [one for one in found if (one.get("metadata") or {}).get("source") == "hook"]
        passing = self.coordinator.ephemeral_injections()
        return sorted([*stored, *passing], key=lambda one: str(one["metadata"].get("timestamp")))

    async def state(self) -> dict[str, Any]:
        """Everything another process needs to go on: values that JSON can hold."""
        return {
            "version": STATE_VERSION,
            "session_id": self.session_id,
            "parent_id": self.parent_id,
            "created": self._created,
            "updated": timestamp(),
            "messages": await self._messages(),
            "session_state": dict(self.coordinator.session_state),
            "stats": dict(self.stats),
        }

    async def cleanup(self, reason: EndReason = "complete") -> None:
        """End the session: tell the hooks, then undo everything in reverse order."""
        if self.status == "ended":
            return
        started, self.status = self.initialized, "ended"
        self.initialized = False
        try:
            if started:
                await self._tell_end(reason)
        finally:
            await self._unmount()

    async def _tell_end(self, reason: EndReason) -> None:
        try:
            self.stats["total_messages"] = len(await self._messages())
        except Exception as error:  # noqa: BLE001 - a broken context must not keep it from ending
            logger.warning("The context cannot say what it holds: %s", describe_error(error))
        spent = int((time.monotonic() - self._started) * 1000)
        data = {"reason": reason, "duration_ms": spent, "stats": dict(self.stats)}
        await self.coordinator.notify(SESSION_END, data)
        self.coordinator.trail.write("session_ended", {"reason": reason, "stats": self.stats})

    async def _unmount(self) -> None:
        await self.mounting.unmount_all()
        await self.coordinator.cleanup()

    async def __aenter__(self) -> Self:
        await self.initialize()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.cleanup(_reason_for(kind))


def _this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


@lru_cache(maxsize=64)
def _what_it_takes(execute: Any) -> tuple[bool, bool]:
    """Whether a loop takes hooks, and a coordinator; the oldest ones take neither."""
    try:
        found = inspect.signature(execute).parameters
    except (TypeError, ValueError):
        return True, True
    kinds = {one.kind for one in found.values()}
    takes_hooks = "hooks" in found or inspect.Parameter.VAR_POSITIONAL in kinds
    takes_coordinator = "coordinator" in found or inspect.Parameter.VAR_KEYWORD in kinds
    return takes_hooks, takes_coordinator


def _reason_for(kind: type[BaseException] | None) -> EndReason:
    if kind is None:
        return "complete"
    if issubclass(kind, TimeoutError):
        return "timeout"
    if issubclass(kind, KeyboardInterrupt | asyncio.CancelledError | SystemExit):
        return "user_exit"
    return "error"


def _checked_state(state: Mapping[str, Any] | None) -> dict[str, Any]:
    if state is None:
        return {}
    version = state.get("version")
    if version != STATE_VERSION:
        raise SessionStateError(f"A saved state of version {version!r}; this is {STATE_VERSION}")
    return dict(state)
