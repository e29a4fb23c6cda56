"""Tool calls: judged where the framework runs the tool itself, after all of its callbacks.

The agent's callbacks come after those of plugins and may change the arguments once more, and so
may a confirmation that the tool itself requires. The plugin's callback therefore only takes hold
of the tool's `run_async`: what hooks and people see there is what runs.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from amplifier_core import events
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.frameworks.google_adk.confirmations import (
    WAITING,
    CannotAskAgain,
    ConfirmationRequested,
    ask_framework,
)
from amplifier_hooks.frameworks.google_adk.contents import read_value, write_value
from amplifier_hooks.frameworks.google_adk.invocations import Invocation

RunTool = Callable[..., Awaitable[Any]]

_MARK = "__governed_by_amplifier__"

_governed: weakref.WeakKeyDictionary[ToolContext, list[Invocation]] = weakref.WeakKeyDictionary()
"""The calls that are judged; the same tool may also be used by a runner without our plugin."""

_ran: weakref.WeakSet[ToolContext] = weakref.WeakSet()


def take_hold(tool: BaseTool, context: ToolContext, invocation: Invocation) -> str | None:
    """Have a call judged where its tool is run; returns why that cannot be done."""
    for attempt in (_change_class, _change_instance):
        if _is_held(tool):
            break
        try:
            attempt(tool)
        except (AttributeError, TypeError):
            continue
    if not _is_held(tool):
        return f"hooks cannot be put in front of the tool {tool.name} of {type(tool).__name__}"
    _governed.setdefault(context, []).append(invocation)
    return None


def has_run(context: ToolContext) -> bool:
    """Whether a call came to its tool, and so to the hooks."""
    return context in _ran


def _is_held(tool: BaseTool) -> bool:
    return getattr(tool.run_async, _MARK, None) is True


def _change_class(tool: BaseTool) -> None:
    # Unlike a function on the instance, this stays right in copies of the tool.
    kind: Any = type(tool)
    tool.__class__ = _make_class(kind)


@functools.cache
def _make_class(kind: type[BaseTool]) -> type[BaseTool]:
    """The class of a tool, judged, in every other respect the same."""

    @functools.wraps(kind.run_async)
    async def run_async(self: BaseTool, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        run_tool = functools.partial(kind.run_async, self)
        return await _run_governed(self, run_tool, args, tool_context)

    setattr(run_async, _MARK, True)
    kept = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    return type(kind.__name__, (kind,), {**kept, "__doc__": kind.__doc__, "run_async": run_async})


def _change_instance(tool: BaseTool) -> None:
    run_tool: RunTool = tool.run_async

    @functools.wraps(run_tool)
    async def run_async(*, args: dict[str, Any], tool_context: ToolContext) -> Any:
        return await _run_governed(tool, run_tool, args, tool_context)

    setattr(run_async, _MARK, True)
    tool.run_async = run_async  # type: ignore[method-assign]


async def _run_governed(
    tool: BaseTool, run_tool: RunTool, args: dict[str, Any], context: ToolContext
) -> Any:
    _ran.add(context)

    async def run(left: list[Invocation], given: dict[str, Any]) -> Any:
        if not left:
            return await run_tool(args=given, tool_context=context)
        return await _call(tool, given, context, left[0], lambda given: run(left[1:], given))

    return await run(list(_governed.get(context, ())), args)


async def _call(
    tool: BaseTool,
    args: dict[str, Any],
    context: ToolContext,
    invocation: Invocation,
    handler: Callable[[dict[str, Any]], Awaitable[Any]],
) -> Any:
    run = invocation.run
    if run is None:
        return {"error": invocation.refusal}
    wanted = Wanted(
        name=tool.name,
        arguments=args,
        call_id=context.function_call_id or "",
        handler=handler,
        read=read_value,
        is_alive=invocation.is_alive,
    )
    if not invocation.interrupts:
        called = await run.call(wanted)
    else:
        try:
            called = await run.call(wanted, lambda handed: ask_framework(context, handed))
        except ConfirmationRequested:
            return dict(WAITING)
        except CannotAskAgain as error:
            denied = run.coordinator.deny(events.TOOL_PRE, error.hook, str(error))
            return {"error": (await run.home.run(denied)).denial}
    return called.value if called.untouched else write_value(called.result)
