"""Function tools of the SDK on the one path of tool calls."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from agents import FunctionTool
from agents.tool import _DEFAULT_FAILURE_HANDLED_ATTR
from agents.tool_context import ToolContext

from amplifier_core.errors import SessionDenied
from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.frameworks.openai_agents.interrupts import call_or_resume, wrap_needs_approval
from amplifier_hooks.frameworks.openai_agents.messages import read_arguments, write_arguments
from amplifier_hooks.frameworks.openai_agents.outputs import is_failed, read_output, write_output
from amplifier_hooks.frameworks.openai_agents.prompts import PromptDenied
from amplifier_hooks.frameworks.openai_agents.turn import Board, find_turn

Invoke = Callable[[Any, str], Awaitable[Any]]
MARK = "_amplifier_governs"
_IMPLEMENTATION = "_invoke_tool_impl"
_PREPARE = "__agents_prepare_arguments__"


def govern_function(tool: FunctionTool, board: Board) -> None:
    """Put hooks in front of a tool, in place and once: the SDK compares tools by identity."""
    governed = _find_governed(tool)
    if board.asks == "interrupt":
        wrap_needs_approval(tool, governed.prepare_for)


def _find_governed(tool: FunctionTool) -> GovernedInvoke:
    invoker: Any = tool.on_invoke_tool
    # Inside of the SDK's own invoker, so that hooks hear of what the tool raises.
    inside = getattr(invoker, _IMPLEMENTATION, None)
    found = inside if inside is not None else getattr(invoker, MARK, None)
    if isinstance(found, GovernedInvoke):
        return found
    if inside is not None:
        governed = GovernedInvoke(inside)
        setattr(invoker, _IMPLEMENTATION, governed)
        return governed
    governed = GovernedInvoke(invoker)
    tool.on_invoke_tool = _wrap_plain(governed)
    return governed


class GovernedInvoke:
    """Stands for the SDK's own implementation of a tool; whatever it is asked for, that one has."""

    def __init__(self, inner: Invoke) -> None:
        self.inner = inner
        self._hides_preparation = False

    async def __call__(self, context: Any, raw: str) -> Any:
        return await invoke_tool(self.inner, context, raw)

    def prepare_for(self, has_own_rule: bool) -> None:
        """Let the SDK inspect arguments for a rule of the application, and for no other."""
        self._hides_preparation = not has_own_rule

    def __getattr__(self, name: str) -> Any:
        # A copy that is being made has nothing yet, and must not look for it here.
        if name == "inner" or (name == _PREPARE and self._hides_preparation):
            raise AttributeError(name)
        return getattr(self.inner, name)


def _wrap_plain(governed: GovernedInvoke) -> Invoke:
    """A function with the signature of the inner one, which the SDK reads."""

    @functools.wraps(governed.inner)
    async def invoke(context: Any, raw: str) -> Any:
        return await governed(context, raw)

    setattr(invoke, MARK, governed)
    return invoke


async def invoke_tool(inner: Invoke, context: Any, raw: str) -> Any:
    """Take a call of a tool along the path."""
    try:
        async with find_turn(getattr(context, "agent", None)) as turn:
            if turn is None:
                return await inner(context, raw)
            called = await call_or_resume(turn, _want(inner, context, raw))
    except (PromptDenied, SessionDenied) as error:  # also of the agent that the tool has run
        return _say(context, str(error))
    return _say(context, called.text) if is_failed(called) else write_output(called)


def _want(inner: Invoke, context: Any, raw: str) -> Wanted:
    arguments = read_arguments(raw)

    def invoke(given: dict[str, Any]) -> Any:
        if is_same(given, arguments):
            return inner(context, raw)
        written = write_arguments(given, raw)
        return inner(_unprepare(context, written), written)

    call_id = str(getattr(context, "tool_call_id", "") or "")
    return Wanted(name_tool(context), arguments, call_id, invoke, read_output)


def _say(context: Any, reason: str) -> str:
    """The reason for the model; the SDK's schema of the tool's results is not for this."""
    setattr(context, _DEFAULT_FAILURE_HANDLED_ATTR, True)
    return reason


def name_tool(context: Any) -> str:
    """The name of the tool, with its namespace if it has one."""
    named = getattr(context, "qualified_tool_name", None) or getattr(context, "tool_name", None)
    return str(named or "tool")


def _unprepare(context: Any, written: str) -> Any:
    """The SDK may have read the arguments already: not those that a hook has left."""
    if isinstance(context, ToolContext):
        context._function_tool_arguments = None
        context.tool_arguments = written
    return context
