"""Tool calls: judged where the framework runs the tool itself, after all of its callbacks.

The agent's callbacks come after those of plugins and may change the arguments once more, and so
may a confirmation that the tool itself requires. The plugin's callback therefore only takes hold
of the tool's `run_async`: what hooks and people see there is what runs.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from google.adk.events.event import Event
from google.adk.flows.llm_flows.functions import (
    REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
    REQUEST_INPUT_FUNCTION_CALL_NAME,
)
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from amplifier_core import events
from amplifier_core.approval import read_option
from amplifier_core.errors import AmplifierError
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.handover import Handed, answer
from amplifier_hooks.frameworks.google_adk.invocations import Invocation
from amplifier_hooks.frameworks.google_adk.messages import read_value, write_value

WAITING = {"error": "This call waits for a person to confirm it; it has not run."}
"""What stands in the conversation until somebody has answered."""


class ConfirmationRequested(AmplifierError):
    """A person has to confirm the call first; the framework asks."""


class CannotAskAgain(AmplifierError):
    """The framework asks once about a call, and has done so."""

    def __init__(self, handed: Handed) -> None:
        super().__init__(
            f"its question {handed.prompt!r} was not asked: Google ADK asks once about a call, and "
            "another confirmation of this one was asked for before; asks='inline' has no such limit"
        )
        self.hook = handed.hook


def ask_framework(context: ToolContext, handed: Handed) -> Any:
    """The answer that a person gave to exactly this question; if none did, have it asked."""
    given = context.tool_confirmation
    if given is None:
        context.request_confirmation(hint=handed.prompt, payload=handed.to_payload())
        context.actions.skip_summarization = True
        raise ConfirmationRequested(handed.prompt)
    if not was_asked(context.session.events, context.invocation_id, handed):
        raise CannotAskAgain(handed)
    return _read_answer(handed, given)


def was_asked(events: Iterable[Event], invocation_id: str, handed: Handed) -> bool:
    """Whether a person was shown this question about this call.

    A tool that is a step of a workflow gets another id each time; then it is one of this
    invocation that counts.
    """
    shown = handed.to_payload()
    for event in events:
        for asked in map(_find_payload, event.get_function_calls()):
            same_call = (
                asked.get("tool_call_id") == handed.tool_call_id
                or event.invocation_id == invocation_id
            )
            same_question = all(asked.get(key) == shown[key] for key in ("prompt", "digest"))
            if same_call and same_question:
                return True
    return False


def _find_payload(call: types.FunctionCall) -> dict[str, Any]:
    """What we gave a request for a confirmation to show; empty for any other call."""
    given = call.args or {}
    if call.name == REQUEST_CONFIRMATION_FUNCTION_CALL_NAME:
        found = (given.get("toolConfirmation") or {}).get("payload")
    elif call.name == REQUEST_INPUT_FUNCTION_CALL_NAME:
        payload = given.get("payload")
        found = payload.get("confirmation_payload") if isinstance(payload, dict) else None
    else:
        found = None
    return found if isinstance(found, dict) else {}


def _read_answer(handed: Handed, given: ToolConfirmation) -> Any:
    """The person's choice: that of `answer`, or a plain yes or no of the framework's own pages."""
    payload = handed.to_payload()
    if not given.confirmed:
        return _choose(payload, allows=False)
    if given.payload is None or given.payload == payload:
        return _choose(payload, allows=True)
    return given.payload


def _choose(payload: dict[str, Any], *, allows: bool) -> dict[str, Any]:
    """The option for this once that says yes or no."""
    for option in payload["options"]:
        meaning = read_option(option)
        if meaning.allows is allows and not meaning.remembered:
            return answer(payload, option)
    return {"option": "Deny", "digest": payload["digest"]}


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
