"""A session: it starts, takes prompts, calls tools, ends, and can be saved and resumed."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Literal, Self, cast

from amplifier_core import events, payloads
from amplifier_core.approval import AnyApprovalSystem
from amplifier_core.coordinator import ModuleCoordinator
from amplifier_core.display import DisplaySystem
from amplifier_core.errors import ModuleLoadError, SessionDenied, SessionStateError
from amplifier_core.events import DataT
from amplifier_core.hook_counts import list_figures
from amplifier_core.hooks import HookRegistry
from amplifier_core.interfaces import ContextManager
from amplifier_core.loader import ModuleLoader
from amplifier_core.message_models import ToolCall
from amplifier_core.models import ToolResult
from amplifier_core.mount_plan import (
    EXAMPLES,
    MountPlan,
    check_locks,
    check_plan,
    may_ask,
    read_mode,
)
from amplifier_core.mounting import Mounted, Mounting, resolve_provider
from amplifier_core.payloads import EndReason
from amplifier_core.prompt import PromptRun
from amplifier_core.records import SessionEnded, SessionStarted
from amplifier_core.tool_call import call_tool
from amplifier_core.trail import AuditSink
from amplifier_core.utils import describe_error, get_current_task, resolve, timestamp
from amplifier_core.utils.conversation import add_message, arrange_messages
from amplifier_core.utils.slots import Slots
from amplifier_core.utils.truncate import redact_secrets

STATE_VERSION = 1

OPEN_CALLS = "open_calls"
"""The key of the session's state under which a resumed session names the calls to be run."""


def read_state(state: Mapping[str, Any] | None) -> dict[str, Any]:
    """A saved state as a dict of one's own, empty if there is none; refuses another version."""
    if state is None:
        return {}
    version = state.get("version")
    if version != STATE_VERSION:
        raise SessionStateError(f"A saved state of version {version!r}; this is {STATE_VERSION}")
    return dict(state)


def read_end_reason(kind: type[BaseException] | None, status: str) -> EndReason:
    """The reason for an exception of this class, or for a session of this status."""
    if kind is None:
        if status == "interrupted":
            return "user_exit"
        return "complete"
    if issubclass(kind, TimeoutError):
        return "timeout"
    if issubclass(kind, KeyboardInterrupt | asyncio.CancelledError | SystemExit):
        return "user_exit"
    return "error"


logger = logging.getLogger(__name__)

SHADOW = "Shadow mode: hooks are evaluated and recorded, but they stop, change and ask nothing."


class AmplifierSession:
    """One conversation with an agent. Everything it does goes through its coordinator's hooks."""

    def __init__(
        self,
        config: Mapping[str, Any],
        loader: ModuleLoader | None = None,
        session_id: str | None = None,
        parent_id: str | None = None,
        approval_system: AnyApprovalSystem | None = None,
        display_system: DisplaySystem | None = None,
        is_resumed: bool = False,
        *,
        audit: AuditSink | None = None,
        parent_hooks: HookRegistry | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        check_plan(config)
        self._state = read_state(state)
        self.config = config if isinstance(config, dict) else dict(config)
        self.session_id = session_id or self._state.get("session_id") or str(uuid.uuid4())
        self.parent_id = parent_id or self._state.get("parent_id")
        self.is_resumed = is_resumed or state is not None
        self.initialized = False
        self._announced = False
        self._ended = False
        self._run: PromptRun | None = None
        self.stats = payloads.SessionStats(
            total_messages=0, tool_invocations=0, total_tokens=0, hook_failures=0
        )
        self.stats.update(self._state.get("stats", {}))
        self.coordinator = ModuleCoordinator(
            self,
            approval_system if may_ask(config) else None,
            display_system,
            hooks=HookRegistry(parent_hooks, read_mode(config)),
            audit=audit,
        )
        self.loader = self.coordinator.loader = loader or ModuleLoader(self.coordinator)
        self.mounting = Mounting(self.coordinator, self.loader)
        self.coordinator.register_capability("session.stats", self.stats)
        self._before_turn: list[Callable[[], Any]] = []
        self._turn = Slots(1)
        self._starting = asyncio.Lock()
        self._starter: asyncio.Task[Any] | None = None
        self._worker: asyncio.Task[Any] | None = None
        self._counts: Any = None
        self._started = time.monotonic()
        self._created = self._state.get("created") or timestamp()
        self.coordinator.hooks.set_default_fields(
            session_id=self.session_id, parent_id=self.parent_id
        )

    @property
    def _initialized(self) -> bool:
        """The older name, which tests of existing modules set."""
        return self.initialized

    @_initialized.setter
    def _initialized(self, value: bool) -> None:
        self.initialized = value

    @property
    def status(self) -> Literal["idle", "running", "denied", "interrupted", "error", "ended"]:
        """What became of the last prompt, or that the session has ended."""
        if self._ended:
            return "ended"
        if self._run is None:
            return "idle"
        return self._run.status

    @property
    def context(self) -> ContextManager | None:
        """The conversation."""
        return self.coordinator.context

    # Start

    async def initialize(self) -> None:
        """Mount the plan, hooks last, and tell the modules that want to know that all is there."""
        if not self.initialized:
            await self._begin(lambda: self.initialized, self._mount)

    async def start(self) -> None:
        """Announce the session, once; a hook may change the plan or refuse the start.

        The first prompt or tool call does it; who wants to know before then calls it.
        """
        await self.initialize()
        if not self._announced:
            await self._begin(lambda: self._announced, self._announce)

    async def _begin(
        self, is_done: Callable[[], bool], step: Callable[[], Awaitable[None]]
    ) -> None:
        """Take a step of the start, once; a session whose start fails is undone."""
        if self._starter is get_current_task():
            raise SessionStateError("The session is still starting; it cannot work yet")
        async with self._starting:
            if is_done():
                return
            self._check_not_ended()
            self._starter = get_current_task()
            try:
                await step()
            except BaseException as error:
                await self._end("denied" if isinstance(error, SessionDenied) else "error")
                raise
            finally:
                self._starter = None

    async def _mount(self) -> None:
        await self._mount_difference(MountPlan.parse(self.config))
        self.coordinator.session_state.update(self._state.get("session_state", {}))
        saved = self._state.pop("messages", ())  # the context's from here on
        # A call that was cut off has no result, and models refuse a conversation without one.
        left_open = self.coordinator.session_state.get(OPEN_CALLS) or ()
        for message in arrange_messages(saved, left_open):
            await add_message(self.context, message)
        self.initialized = True
        await self.mounting.ready()
        if self.parent_id and self.coordinator.hooks.parent is None:  # else the parent tells of it
            fork = payloads.SessionForkData(
                child_id=self.session_id, agent_name="", parent=self.parent_id
            )
            await self.coordinator.notify(events.SESSION_FORK, self._add_metadata(fork))

    async def _mount_difference(self, plan: MountPlan) -> list[Mounted]:
        """Mount what a plan has and is not mounted yet, and take away what it has not."""
        wanted = list(plan.entries())
        before = self.context
        messages = await self._read_messages()
        for one in list(self.mounting.mounted):
            if (one.kind, one.entry) in wanted:
                wanted.remove((one.kind, one.entry))
            else:
                await self.mounting.unmount(one)
        fresh = [await self.mounting.mount(kind, entry) for kind, entry in wanted]
        for one in fresh:
            if one.kind in EXAMPLES and self.coordinator.get(one.kind) is None:
                why = f"Module '{one.id}' mounted no {one.kind}"
                raise ModuleLoadError(why, module_id=one.id)
        for message in messages if self.context is not before else ():
            await add_message(self.context, message)
        return fresh

    async def _announce(self) -> None:
        """Tell of the start; the plan that the hooks leave is the plan of this session."""
        self.coordinator.seal()
        shadow = self.coordinator.hooks.mode == "evaluate_only"
        self.coordinator.trail.write(
            SessionStarted(resumed=self.is_resumed, parent=self.parent_id, shadow=shadow)
        )
        if shadow and self.coordinator.hooks.parent is None:
            await self.coordinator.show(SHADOW, "warning", "session")
        source: payloads.StartSource = "resume" if self.is_resumed else "startup"
        starts = payloads.SessionStartData(mount_plan=self.config, source=source)
        outcome = await self.coordinator.judge(events.SESSION_START, self._add_metadata(starts))
        if not outcome.allowed:
            raise SessionDenied(outcome.denial)
        if self.is_resumed:
            count = len(await self._read_messages())
            resumed = payloads.SessionResumeData(mount_plan=self.config, messages_count=count)
            await self.coordinator.notify(events.SESSION_RESUME, self._add_metadata(resumed))
        if self.config["session"].get("raw"):
            config = {"raw": redact_secrets(self.config)}
            await self.coordinator.hooks.emit("session:config", config)
        self._announced = True
        plan = (outcome.data or {}).get("mount_plan")
        if plan and plan != self.config:
            parsed = MountPlan.parse(plan)
            check_locks(self.config, parsed)
            self.config = plan
            self.coordinator.use_plan(plan)
            await self.mounting.ready(await self._mount_difference(parsed))

    def _add_metadata(self, data: DataT) -> DataT:
        """What the plan says under session.metadata travels with the start."""
        metadata = self.config["session"].get("metadata")
        if metadata:
            return cast(DataT, {**data, "metadata": metadata})
        return data

    # Turns

    def on_turn(self, callback: Callable[[], Any]) -> None:
        """Be called before each prompt is processed, when nothing else is going on."""
        self._before_turn.append(callback)

    async def execute(self, prompt: str, metadata: Mapping[str, Any] | None = None) -> str:
        """Process one prompt to the end; returns the agent's reply, or why there is none."""
        if not isinstance(prompt, str):
            raise TypeError(f"A prompt is a text, got {type(prompt).__name__}")
        if not self._announced:
            await self.start()
        task = get_current_task()
        if self._worker is task:
            raise SessionStateError("A turn is under way; its own hooks cannot start another")
        if self._turn.free:
            self._turn.free = 0
        else:
            await self._turn.wait()
        try:
            self._check_not_ended()
            self._worker = task
            for callback in self._before_turn:
                await resolve(callback())
            self._prepare_turn()
            self._run = run = PromptRun(self.coordinator, prompt, task)
            limit = self.config["session"].get("turn_timeout")
            return await run.execute(dict(metadata) if metadata else {}, limit)
        finally:
            self._worker = None
            self._turn.release()

    def _check_not_ended(self) -> None:
        if self._ended:
            raise SessionStateError("The session has ended; resume it to go on")

    def _prepare_turn(self) -> None:
        if self._run is not None:  # a sub-agent's first turn heeds a stop that came before it
            self.coordinator.cancellation.reset()
        self.coordinator.reset_turn()
        points = self.coordinator.mount_points
        if points["orchestrator"] is None or points["context"] is None or not points["providers"]:
            missing = [one for one in ("orchestrator", "context") if points[one] is None]
            raise SessionStateError(f"No {[*missing, 'providers'][0]} mounted")
        provider = resolve_provider(points["providers"], points["orchestrator"])
        if provider is not self._counts:
            self._use_token_counter(provider)

    def _use_token_counter(self, provider: Any) -> None:
        """Count tokens as the provider does."""
        self._counts = provider
        count = getattr(provider, "count_tokens", None)
        if callable(count) and not inspect.iscoroutinefunction(count):
            self.coordinator.count_tokens_with(count)
            take = getattr(self.context, "count_tokens_with", None)
            if take is not None:
                take(count)

    async def execute_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        """Call a tool as the agent would: through every hook and gate."""
        self._check_not_ended()
        if not self._announced:
            await self.start()
        call = ToolCall(id=f"call_{uuid.uuid4().hex[:12]}", name=name, arguments=input)
        return await call_tool(self.coordinator, call)

    # State and end

    async def _read_messages(self) -> list[dict[str, Any]]:
        if self.context is None:
            return []
        return list(await resolve(self.context.get_messages()))

    async def injections(self) -> list[dict[str, Any]]:
        """What hooks injected, with their names, the ephemeral ones included: for review."""
        found = await self._read_messages()
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
            "messages": await self._read_messages(),
            "session_state": {
                key: value
                for key, value in self.coordinator.session_state.items()
                if key != OPEN_CALLS
            },
            "stats": dict(self.stats),
        }

    async def cleanup(self, reason: payloads.EndReason = "complete") -> None:
        """End the session: tell the hooks, then undo everything in reverse order."""
        if self._ended:
            return
        self._ended = True
        await self._end(reason, has_begun=self.initialized)

    async def _end(self, reason: payloads.EndReason, has_begun: bool = True) -> None:
        self.initialized = False
        try:
            if has_begun:
                await self._announce_end(reason)
        finally:
            await self._unmount()

    async def _announce_end(self, reason: payloads.EndReason) -> None:
        await self.coordinator.close_injections()
        try:
            self.stats["total_messages"] = len(await self._read_messages())
        except Exception as error:  # noqa: BLE001 - a broken context must not keep it from ending
            logger.warning("The context cannot say what it holds: %s", describe_error(error))
        hooks = list_figures(self.coordinator.hooks.count())
        stats: payloads.SessionStats = {**self.stats, "hooks": hooks}
        spent = int((time.monotonic() - self._started) * 1000)
        ended = payloads.SessionEndData(reason=reason, duration_ms=spent, stats=stats)
        await self.coordinator.notify(events.SESSION_END, ended)
        self.coordinator.trail.write(SessionEnded(reason=reason, stats=stats))

    async def _unmount(self) -> None:
        await self.mounting.unmount_all()
        try:
            await self.coordinator.cleanup()
        finally:
            clean_up = getattr(self.loader, "cleanup", None)
            if clean_up is not None:
                await resolve(clean_up())

    async def __aenter__(self) -> Self:
        await self.initialize()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.cleanup(read_end_reason(kind, self.status))
