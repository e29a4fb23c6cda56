"""A session: it starts, takes prompts, calls tools, ends, and can be saved and resumed."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
import uuid
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Literal, Self

from amplifier_core.audit import AuditSink
from amplifier_core.coordinator import SessionCoordinator, denial_text
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
from amplifier_core.injector import add_to
from amplifier_core.message_models import ToolCall
from amplifier_core.models import ToolResult
from amplifier_core.mounting import ModuleLoader, Mounting
from amplifier_core.tool_call import call_tool
from amplifier_core.utils import describe_error, timestamp

logger = logging.getLogger(__name__)

EndReason = Literal["complete", "user_exit", "error", "timeout"]
STATE_VERSION = 1


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
        _check_plan(config)
        self._state = _checked_state(state)
        self.config = dict(config)
        self.session_id = session_id or self._state.get("session_id") or str(uuid.uuid4())
        self.parent_id = parent_id or self._state.get("parent_id")
        self.is_resumed = is_resumed or state is not None
        self.initialized = False
        self.status: Literal["idle", "running", "denied", "interrupted", "error", "ended"] = "idle"
        self.stats: dict[str, int] = {
            "total_messages": 0,
            "tool_invocations": 0,
            "total_tokens": 0,
            **self._state.get("stats", {}),
        }
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
        try:
            await self._start()
        except BaseException:
            await self._unmount()
            raise
        self.initialized = True

    async def _start(self) -> None:
        session = self.config["session"]
        await self._mount_required("context", session["context"])
        await self._restore()
        for entry in self.config.get("hooks") or ():
            await self.mounting.mount("hooks", entry)
        self.coordinator.seal()
        self.coordinator.trail.write(
            "session_started", {"resumed": self.is_resumed, "parent": self.parent_id}
        )
        plan = await self._announce()
        await self._mount_rest(plan)
        await self.mounting.ready()

    async def _announce(self) -> dict[str, Any]:
        source = "resume" if self.is_resumed else "startup"
        data = {"mount_plan": self.config, "source": source}
        result = await self.coordinator.execute_with_hooks(SESSION_START, data)
        if result.action == "deny":
            raise SessionDenied(denial_text(result))
        if self.is_resumed:
            count = len(await self._messages())
            resumed = {"mount_plan": self.config, "messages_count": count}
            await self.coordinator.notify(SESSION_RESUME, resumed)
        plan: dict[str, Any] = (result.data or {}).get("mount_plan") or self.config
        _check_plan(plan)
        return plan

    async def _mount_rest(self, plan: dict[str, Any]) -> None:
        if plan["session"]["context"] != self.config["session"]["context"]:
            messages = await self._messages()
            await self._mount_required("context", plan["session"]["context"])
            for message in messages:
                await add_to(self.context, message)
        self.config = self.coordinator.config = plan
        await self._mount_required("orchestrator", plan["session"]["orchestrator"])
        for kind in ("providers", "tools"):
            for entry in plan.get(kind) or ():
                await self.mounting.mount(kind, entry)

    async def _mount_required(self, kind: str, entry: Any) -> None:
        plan = {"module": entry} if isinstance(entry, str) else dict(entry)
        own = self.config.get(kind)
        if "config" not in plan and isinstance(own, Mapping):
            plan["config"] = own.get("config", own)
        await self.mounting.mount(kind, {**plan, "required": True})
        if self.coordinator.get(kind) is None:
            raise ModuleLoadError(f"Module '{plan.get('module')}' mounted no {kind}")

    async def _restore(self) -> None:
        self.coordinator.session_state.update(self._state.get("session_state", {}))
        for message in self._state.get("messages", ()):
            await add_to(self.context, message)

    # Turns

    def on_turn(self, callback: Callable[[], Any]) -> None:
        """Be called before each prompt is processed, when nothing else is going on."""
        self._before_turn.append(callback)

    async def execute(self, prompt: str, metadata: Mapping[str, Any] | None = None) -> str:
        """Process one prompt to the end; returns the agent's reply, or why there is none."""
        if not self.initialized:
            await self.initialize()
        if self.status == "ended":
            raise SessionStateError("The session has ended; resume it to go on")
        async with self._turn:
            await self._prepare_turn()
            submitted = {"prompt": prompt, "metadata": dict(metadata or {})}
            result = await self.coordinator.execute_with_hooks(PROMPT_SUBMIT, submitted)
            if result.action == "deny":
                self.status = "denied"
                return denial_text(result)
            wanted = (result.data or {}).get("prompt", prompt)
            reply = await self._run(wanted)
            await self._finish_turn(wanted, reply)
            return reply

    async def _prepare_turn(self) -> None:
        for callback in self._before_turn:
            outcome = callback()
            if inspect.isawaitable(outcome):
                await outcome
        self.coordinator.cancellation.reset()
        self.coordinator.reset_turn()
        self.status = "running"

    async def _run(self, prompt: str) -> str:
        seconds = self.config["session"].get("turn_timeout")
        token = self.coordinator.cancellation
        work = asyncio.current_task()
        stop = token.on_cancel(lambda: work.cancel() if work and token.is_immediate else None)
        try:
            async with asyncio.timeout(seconds):
                reply: str = await self._orchestrate(prompt)
        except asyncio.CancelledError:
            self.status = "interrupted"
            if not token.is_immediate or work is None:
                raise
            work.uncancel()
            reply = "Stopped at once, as requested."
        except Exception as error:
            self.status = "error"
            await self._tell_error(error)
            raise
        finally:
            stop()
        if token.is_cancelled:
            self.status = "interrupted"
            await self.coordinator.notify(CANCEL_COMPLETED, {"immediate": token.is_immediate})
        return reply

    async def _orchestrate(self, prompt: str) -> Any:
        points = self.coordinator.mount_points
        return await points["orchestrator"].execute(
            prompt,
            points["context"],
            points["providers"],
            points["tools"],
            self.coordinator.hooks,
            coordinator=self.coordinator,
        )

    async def _tell_error(self, error: Exception) -> None:
        details = {"type": type(error).__name__, "message": str(error)}
        self.coordinator.trail.write("error", {"what": "turn", "error": describe_error(error)})
        await self.coordinator.notify(ERROR_ORCHESTRATION, {"error": details})
        await self._notify_user("error", describe_error(error))

    async def _finish_turn(self, prompt: str, reply: str) -> None:
        if self.status == "running":
            self.status = "idle"
        data = {"prompt": prompt, "response": reply}
        await self.coordinator.notify(PROMPT_COMPLETE, data)
        await self._notify_user("awaiting_input", "The agent waits for the next prompt.")

    async def _notify_user(self, kind: str, message: str) -> None:
        data = {"notification_type": kind, "message": message, "metadata": {}}
        await self.coordinator.notify(USER_NOTIFICATION, data)

    async def execute_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        """Call a tool as the agent would: through every hook and gate."""
        if not self.initialized:
            await self.initialize()
        call = ToolCall(id=f"call_{uuid.uuid4().hex[:12]}", name=name, arguments=input)
        self.stats["tool_invocations"] += 1
        return await call_tool(self.coordinator, call)

    # State and end

    async def _messages(self) -> list[dict[str, Any]]:
        found = self.context.get_messages()
        return list(await found if inspect.isawaitable(found) else found)

    async def injections(self) -> list[dict[str, Any]]:
        """What hooks injected into the conversation, with their names: for review."""
        found = await self._messages()
        return [one for one in found if (one.get("metadata") or {}).get("source") == "hook"]

    async def state(self) -> dict[str, Any]:
        """Everything another process needs to go on: values that JSON can hold."""
        return {
            "version": STATE_VERSION,
            "session_id": self.session_id,
            "parent_id": self.parent_id,
            "created": self._created,
            "updated": timestamp(),
            "messages": await self._messages() if self.context is not None else [],
            "session_state": self.coordinator.session_state,
            "stats": dict(self.stats),
        }

    async def cleanup(self, reason: EndReason = "complete") -> None:
        """End the session: tell the hooks, then undo everything in reverse order."""
        if self.status == "ended":
            return
        started, self.status = self.initialized, "ended"
        if started:
            self.stats["total_messages"] = len(await self._messages())
            spent = int((time.monotonic() - self._started) * 1000)
            data = {"reason": reason, "duration_ms": spent, "stats": dict(self.stats)}
            await self.coordinator.notify(SESSION_END, data)
            self.coordinator.trail.write("session_ended", {"reason": reason, "stats": self.stats})
        self.initialized = False
        await self._unmount()

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


def _reason_for(kind: type[BaseException] | None) -> EndReason:
    if kind is None:
        return "complete"
    if issubclass(kind, TimeoutError):
        return "timeout"
    if issubclass(kind, KeyboardInterrupt | asyncio.CancelledError | SystemExit):
        return "user_exit"
    return "error"


def _check_plan(config: Any) -> None:
    if not isinstance(config, Mapping):
        raise TypeError(f"A session needs a mount plan, got {type(config).__name__}")
    session = config.get("session")
    for key in ("orchestrator", "context"):
        if not isinstance(session, Mapping) or not session.get(key):
            raise ValueError(
                f"The mount plan needs session.{key}, such as "
                f"{'loop-basic' if key == 'orchestrator' else 'context-simple'!r}"
            )


def _checked_state(state: Mapping[str, Any] | None) -> dict[str, Any]:
    if state is None:
        return {}
    version = state.get("version")
    if version != STATE_VERSION:
        raise SessionStateError(f"A saved state of version {version!r}; this is {STATE_VERSION}")
    return dict(state)
