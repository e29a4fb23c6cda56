"""Sub-agents as hooks of their parent see them, and a net for those without the middleware."""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from amplifier_core import events
from amplifier_core.answers import Outcome, describe_denial
from amplifier_core.errors import AmplifierError
from amplifier_core.operation import KERNEL
from amplifier_core.payloads import AgentCompleteData, AgentSpawnData, EndReason, Status
from amplifier_core.tool_call import start_call
from amplifier_core.utils import describe_error
from amplifier_hooks.coverage import LANGCHAIN
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import Run, inside
from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.langchain.messages import read_result

UNNAMED = "agent"


class Spawning:
    """One sub-agent, as hooks of its parent see it; without a parent, nobody is asked."""

    def __init__(self, governor: Governor, agent: str) -> None:
        self._parent = find_parent(governor)
        self._agent = agent or UNNAMED
        self._task = ""
        self._started = time.monotonic()

    async def ask(self, task: str) -> TextVerdict:
        """Whether it may start, and with which task."""
        if self._parent is None:
            return TextVerdict(True, task)
        outcome = await self._parent.ask(events.AGENT_SPAWN, dict(self._describe(task)))
        return self._judge(task, outcome)

    def ask_sync(self, task: str) -> TextVerdict:
        """The same for a thread."""
        if self._parent is None:
            return TextVerdict(True, task)
        asking = self._parent.ask(events.AGENT_SPAWN, dict(self._describe(task)))
        return self._judge(task, self._parent.home.run_sync(asking))

    async def complete(self, reason: EndReason, response: str) -> None:
        """Tell hooks of the parent that it is done."""
        if self._parent is not None:
            done = self._describe_end(reason, response)
            await self._parent.tell(events.AGENT_COMPLETE, dict(done))

    def complete_sync(self, reason: EndReason, response: str) -> None:
        """The same for a thread."""
        if self._parent is not None:
            done = self._describe_end(reason, response)
            self._parent.tell_sync(events.AGENT_COMPLETE, dict(done))

    @property
    def _parent_id(self) -> str:
        return str(self._parent.coordinator.session_id) if self._parent is not None else ""

    def _describe(self, task: str) -> AgentSpawnData:
        return AgentSpawnData(
            parent_session_id=self._parent_id,
            agent_name=self._agent,
            task=task,
            config_override={},
        )

    def _judge(self, task: str, outcome: Outcome) -> TextVerdict:
        if not outcome.allowed:
            return TextVerdict(False, outcome.denial)
        wanted = (outcome.data or {}).get("task", task)
        if not isinstance(wanted, str):
            kind = type(wanted).__name__
            return TextVerdict(False, f"A hook left no task for {self._agent}: {kind}")
        self._task = wanted
        return TextVerdict(True, wanted, wanted != task)

    def _describe_end(self, reason: EndReason, response: str) -> AgentCompleteData:
        return AgentCompleteData(
            parent_session_id=self._parent_id,
            agent_name=self._agent,
            task=self._task,
            result={"response": response},
            duration_ms=int((time.monotonic() - self._started) * 1000),
            status=_read_status(reason),
        )


def find_parent(governor: Governor) -> Run | None:
    """The run whose tool is being called, if it is one of this governor."""
    run = inside.get()
    if isinstance(run, Run) and run.governor is governor and not run.has_ended:
        return run
    return None


def _read_status(reason: EndReason) -> Status:
    if reason == "complete":
        return "success"
    return "interrupted" if reason == "user_exit" else "error"


class Stopped(AmplifierError):
    """A sub-agent was stopped, because one of its tool calls was refused."""


@dataclass(slots=True)
class Mediated:
    """A call that the middleware has taken through the hooks; LangChain tells of it once."""

    name: str
    passed: object = None
    """The very request that was handed on, if that was all."""
    is_told: bool = False


mediated: ContextVar[Mediated | None] = ContextVar("amplifier_mediated", default=None)
"""The innermost call under way that has passed the hooks."""


@contextlib.contextmanager
def mediate(name: str, passed: object = None) -> Iterator[Mediated]:
    """The call of this tool has passed the hooks; those that it starts have not."""
    made = Mediated(name, passed)
    token = mediated.set(made)
    try:
        yield made
    finally:
        mediated.reset(token)


@dataclass(slots=True)
class _Watched:
    """A tool call under way."""

    run: Run
    name: str
    given: dict[str, Any]
    call_id: str


class Net(BaseCallbackHandler):
    """Judges the tool calls that no middleware has judged: `config={"callbacks": [net]}`.

    A callback cannot answer a call or change it. What hooks refuse, and what they want changed,
    stops the sub-agent; the agent that called it reads why.
    """

    # Otherwise LangChain logs what a handler raises, and calls the tool.
    raise_error = True

    def __init__(self, governor: Governor) -> None:
        self._governor = governor
        self._calls: dict[UUID, _Watched] = {}
        self._roots: dict[UUID, UUID] = {}
        self._runs: dict[UUID, Run] = {}
        self._opening = threading.Lock()
        _nets.add(self)

    def follows(self, run_id: UUID) -> bool:
        """Whether it has been told of the start of this."""
        return run_id in self._roots

    # What runs where

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember which run a step belongs to."""
        self._roots[run_id] = self._find_root(run_id, parent_run_id)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """End the session of a run that had none of the middleware."""
        self._end(run_id, "complete")

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """The same for one that failed."""
        self._end(run_id, "error")

    def _find_root(self, run_id: UUID, parent_run_id: UUID | None) -> UUID:
        if parent_run_id is None:
            return run_id
        return self._roots.get(parent_run_id, parent_run_id)

    def _end(self, run_id: UUID, reason: EndReason) -> None:
        self._roots.pop(run_id, None)
        run = self._runs.pop(run_id, None)
        if run is not None:
            run.end_sync(reason)

    def _find_run(self, root: UUID) -> Run:
        """The run whose tool started this; without one, a run of its own."""
        parent = find_parent(self._governor)
        if parent is not None:
            return parent
        with self._opening:
            if root not in self._runs:
                self._runs[root] = self._governor.open_sync(LANGCHAIN)
            return self._runs[root]

    # Tool calls

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Let hooks judge the call; Stopped if it must not run."""
        name = str((serialized or {}).get("name") or kwargs.get("name") or "")
        judged = mediated.get()
        if judged is not None and not judged.is_told and judged.name == name:
            judged.is_told = True
            return
        run = self._find_run(self._find_root(run_id, parent_run_id))
        given = {"input": input_str} if inputs is None else inputs
        watched = _Watched(run, name, given, str(kwargs.get("tool_call_id") or run_id))
        why = run.home.run_sync(_judge_call(watched))
        if why is not None:
            self._end(run_id, "denied")
            raise Stopped(f"{why} (this stopped the agent that called {name})")
        self._calls[run_id] = watched

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Let hooks judge the result; Stopped if nobody may have it."""
        watched = self._calls.pop(run_id, None)
        if watched is None:
            return
        why = watched.run.home.run_sync(_judge_result(watched, output))
        self._end(run_id, "complete" if why is None else "denied")
        if why is not None:
            raise Stopped(f"{why} (this stopped the agent that called {watched.name})")

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Tell hooks of a call that failed."""
        watched = self._calls.pop(run_id, None)
        if watched is None:
            return
        failed = {"type": type(error).__name__, "message": describe_error(error)}
        watched.run.tell_sync(events.TOOL_ERROR, {**_describe(watched), "error": failed})
        self._end(run_id, "error")


_nets: weakref.WeakSet[Net] = weakref.WeakSet()


def is_in_net(run_id: UUID) -> bool:
    """Whether the tool calls of what was started under this id are judged by a net."""
    return any(net.follows(run_id) for net in list(_nets))


def _describe(watched: _Watched) -> dict[str, Any]:
    return {
        "tool_name": watched.name,
        "tool_input": watched.given,
        "tool_call_id": watched.call_id,
    }


async def _judge_call(watched: _Watched) -> str | None:
    """Why the call must not run, if so."""
    data = _describe(watched)
    coordinator = watched.run.coordinator
    outcome = await watched.run.ask(events.TOOL_PRE, data)
    if not outcome.allowed:
        return outcome.denial
    left = outcome.data or data
    if any(left.get(key) != value for key, value in data.items()):
        return await _refuse_change(watched, events.TOOL_PRE)
    reason = await start_call(coordinator, outcome, left, True)
    return None if reason is None else describe_denial(KERNEL, reason)


async def _judge_result(watched: _Watched, output: Any) -> str | None:
    """Why nobody may have the result, if so."""
    result = read_result(output)
    given = {"success": result.success, "output": result.output, "error": result.error}
    data = {**_describe(watched), "tool_result": given, "success": result.success, "duration_ms": 0}
    outcome = await watched.run.ask(events.TOOL_POST, data)
    if not outcome.allowed:
        return outcome.denial
    if (outcome.data or data).get("tool_result") != given:
        return await _refuse_change(watched, events.TOOL_POST)
    return None


async def _refuse_change(watched: _Watched, event: str) -> str:
    why = (
        f"a hook changes {watched.name} at {event}, which a net cannot do: give the sub-agent "
        "AmplifierMiddleware"
    )
    return (await watched.run.coordinator.deny(event, KERNEL, why)).denial
