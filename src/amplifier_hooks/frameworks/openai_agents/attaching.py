"""Putting hooks in front of everything that an agent can use: tools, hand-offs, other agents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from typing import Any, Literal

from agents import (
    Agent,
    ApplyPatchTool,
    CustomTool,
    FunctionTool,
    Handoff,
    LocalShellTool,
    ShellTool,
    UserError,
)
from agents.editor import ApplyPatchOperation, ApplyPatchResult

from amplifier_core import events
from amplifier_core.models import ToolResult
from amplifier_core.utils import resolve
from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.model_side import refuse_change
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks.openai_agents.messages import (
    is_failed,
    read_arguments,
    read_output,
    write_arguments,
    write_output,
)
from amplifier_hooks.frameworks.openai_agents.tools import govern_function
from amplifier_hooks.frameworks.openai_agents.turn import Board, Turn, current

MARK = "_amplifier_governs"
_SHELL = ("commands", "timeout_ms", "max_output_length")
_LOCAL_SHELL = ("command", "env", "timeout_ms", "user", "working_directory")
_PATCH = ("path", "diff", "move_to")


def govern_custom(tool: CustomTool) -> None:
    """Put hooks in front of a tool whose input is one text."""
    inner = tool.on_invoke_tool
    if hasattr(inner, MARK):
        return

    @wraps(inner)
    async def invoke(context: Any, text: str) -> Any:
        turn = current.get()
        if turn is None:
            return await resolve(inner(context, text))
        wanted = Wanted(
            tool.name,
            {"input": text},
            str(getattr(context, "tool_call_id", "")),
            lambda given: inner(context, str(given.get("input", ""))),
            read_output,
        )
        return write_output(await turn.run.call(wanted))

    tool.on_invoke_tool = _mark(invoke)


def govern_shell(tool: ShellTool) -> None:
    """Put hooks in front of a shell; a hosted one has no executor, and is not ours to see."""
    inner = tool.executor
    if inner is None or hasattr(inner, MARK):
        return
    execute = inner

    def change(request: Any, given: dict[str, Any]) -> Any:
        action = replace(request.data.action, **_pick(given, _SHELL))
        return replace(request, data=replace(request.data, action=action))

    tool.executor = _govern_executor(tool.name, execute, _SHELL, change)


def govern_local_shell(tool: LocalShellTool) -> None:
    """The same for the older shell tool."""
    if hasattr(tool.executor, MARK):
        return

    def change(request: Any, given: dict[str, Any]) -> Any:
        action = request.data.action.model_copy(update=_pick(given, _LOCAL_SHELL))
        return replace(request, data=request.data.model_copy(update={"action": action}))

    tool.executor = _govern_executor(tool.name, tool.executor, _LOCAL_SHELL, change)


def _govern_executor(
    name: str,
    inner: Callable[[Any], Any],
    fields: tuple[str, ...],
    change: Callable[[Any, dict[str, Any]], Any],
) -> Any:
    @wraps(inner)
    async def execute(request: Any) -> Any:
        turn = current.get()
        if turn is None:
            return await resolve(inner(request))
        action = request.data.action
        before = {key: getattr(action, key, None) for key in fields}
        arguments = {key: value for key, value in before.items() if value is not None}
        wanted = Wanted(
            name,
            arguments,
            str(request.data.call_id),
            lambda given: inner(request if is_same(given, arguments) else change(request, given)),
            read_output,
        )
        return write_output(await turn.run.call(wanted))

    return _mark(execute)


def govern_editor(tool: ApplyPatchTool) -> None:
    """Put hooks in front of the editor that applies patches."""
    if not isinstance(tool.editor, GovernedEditor):
        tool.editor = GovernedEditor(tool.editor, tool.name)


class GovernedEditor:
    """An editor whose operations pass hooks; whatever else it is asked for, the inner one has."""

    def __init__(self, inner: Any, name: str) -> None:
        self._inner = inner
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name == "_inner":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self._inner, name)

    async def create_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._apply("create_file", operation)

    async def update_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._apply("update_file", operation)

    async def delete_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._apply("delete_file", operation)

    async def _apply(self, kind: str, operation: ApplyPatchOperation) -> Any:
        apply = getattr(self._inner, kind)
        turn = current.get()
        if turn is None:
            return await resolve(apply(operation))
        before = {key: getattr(operation, key) for key in _PATCH}
        arguments = {"type": kind, **{key: one for key, one in before.items() if one is not None}}

        def change(given: dict[str, Any]) -> Any:
            if given.get("type") != kind:
                raise ValueError(f"a hook made {given.get('type')!r} of {kind!r}")
            return apply(replace(operation, **_pick(given, _PATCH)))

        wanted = Wanted(self._name, arguments, "", change, read_output)
        return _write_patch_result(await turn.run.call(wanted))


def _write_patch_result(called: Called) -> Any:
    if called.untouched:
        return called.value
    status: Literal["failed", "completed"] = "failed" if is_failed(called) else "completed"
    return ApplyPatchResult(status=status, output=called.text)


def _pick(given: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {key: given[key] for key in fields if key in given}


def _mark(function: Any) -> Any:
    setattr(function, MARK, True)
    return function


_MARK = "_amplifier_governs"
_said: ContextVar[str | None] = ContextVar("amplifier_handoff_said", default=None)
"""What the model reads of the hand-off that was just made, if it is not the SDK's own words."""


class SpawnDenied(Exception):
    """A hook does not let the other agent start."""


def govern_handoff(handoff: Handoff[Any, Any]) -> None:
    """Put hooks in front of a hand-off, in place and once."""
    if hasattr(handoff, _MARK) or not hasattr(handoff, "on_invoke_handoff"):
        return
    inner = handoff.on_invoke_handoff
    get_message = handoff.get_transfer_message

    async def invoke(context: Any, raw: str) -> Any:
        turn = current.get()
        if turn is None:
            return await inner(context, raw)
        return await _hand_off(turn, handoff, lambda given: inner(context, given), raw or "")

    def get_transfer_message(agent: Any) -> str:
        said = _said.get()
        _said.set(None)
        return get_message(agent) if said is None else said

    made: Any = handoff
    made.on_invoke_handoff = invoke
    made.get_transfer_message = get_transfer_message
    setattr(handoff, _MARK, True)


async def _hand_off(turn: Turn, handoff: Handoff[Any, Any], invoke: Any, raw: str) -> Any:
    """The agent that goes on: the other one, or where hooks deny that, the same as before."""

    async def start(given: dict[str, Any]) -> Any:
        written = write_arguments(given, raw)
        if (why := await judge_spawn(turn.run, handoff.agent_name, written)) is not None:
            raise SpawnDenied(why)
        agent = await invoke(written)
        turn.board.adopt(agent, turn.board)
        return agent

    wanted = Wanted(
        handoff.tool_name, read_arguments(raw), "", start, _read_agent, steering=(SpawnDenied,)
    )
    try:
        called = await turn.run.call(wanted)
    except SpawnDenied as error:
        return _stay(turn, str(error))
    if called.untouched:
        return called.value
    if called.result.denied or called.value is None:
        return _stay(turn, called.text)
    _said.set(called.text)
    return called.value


def _read_agent(agent: Agent[Any]) -> ToolResult:
    return ToolResult(output=json.dumps({"assistant": agent.name}))


def _stay(turn: Turn, reason: str) -> Agent[Any]:
    if turn.agent is None:
        raise UserError(reason)
    _said.set(reason)
    return turn.agent


async def judge_spawn(run: Run, agent: str, task: str) -> str | None:
    """Why hooks do not let a sub-agent start, if they do not."""
    data: dict[str, Any] = {
        "parent_session_id": run.coordinator.session_id,
        "agent_name": agent,
        "task": task,
        "config_override": {},
    }
    outcome = await run.ask(events.AGENT_SPAWN, data)
    if not outcome.allowed:
        return outcome.denial
    left = outcome.data or data
    if any(left.get(key) != value for key, value in data.items()):
        refusing = refuse_change(run.coordinator, run.coverage, events.AGENT_SPAWN)
        return await run.home.run(refusing)
    return None


_OTHERS: dict[type, Any] = {
    CustomTool: govern_custom,
    ShellTool: govern_shell,
    LocalShellTool: govern_local_shell,
    ApplyPatchTool: govern_editor,
}


def attach_request(tools: Iterable[Any], handoffs: Iterable[Handoff[Any, Any]], turn: Turn) -> None:
    """Reach whatever the model is told that it can use."""
    attach_tools(tools, turn.board)
    attach_handoffs(handoffs, turn.board)


def attach_tools(tools: Iterable[Any], board: Board) -> None:
    """Put hooks in front of tools, and of the agents behind them."""
    for tool in tools:
        if isinstance(tool, FunctionTool):
            govern_function(tool, board)
            inner = getattr(tool, "_agent_instance", None)
            if isinstance(inner, Agent):
                board.adopt(inner, board)
            continue
        for kind, govern in _OTHERS.items():
            if isinstance(tool, kind):
                govern(tool)


def attach_handoffs(handoffs: Iterable[Any], board: Board) -> None:
    """Put hooks in front of hand-offs, and of the agents behind them."""
    for one in handoffs:
        if isinstance(one, Handoff):
            govern_handoff(one)
            reference = getattr(one, "_agent_ref", None)
            one = reference() if reference is not None else None
        if isinstance(one, Agent):
            board.adopt(one, board)
