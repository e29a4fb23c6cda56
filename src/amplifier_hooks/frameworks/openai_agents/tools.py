"""Function tools of the SDK on the one path of tool calls."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from agents import FunctionTool, RunState
from agents.items import ToolApprovalItem
from agents.result import RunResultBase
from agents.tool import _DEFAULT_FAILURE_HANDLED_ATTR
from agents.tool_context import ToolContext

from amplifier_core.answers import describe_denial
from amplifier_core.errors import SessionDenied
from amplifier_core.models import ToolResult
from amplifier_core.utils import resolve
from amplifier_core.utils.copying import is_same
from amplifier_core.utils.slots import give_up_slot, take_slot
from amplifier_hooks.external.calling import Handler, Wanted
from amplifier_hooks.external.handover import Handed, decide
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks.openai_agents.messages import (
    PromptDenied,
    is_failed,
    read_arguments,
    read_output,
    write_arguments,
    write_output,
)
from amplifier_hooks.frameworks.openai_agents.turn import Board, Turn, current, find_turn

_QUESTIONS = "_amplifier_questions"
_ANSWERS = "_amplifier_answers"
_OWN = "_amplifier_own_rule"


class Interrupted(Exception):
    """The SDK is about to ask."""


class Unasked(Exception):
    """Nobody was asked, and the SDK offers no interruption any more."""


# For applications


def questions(result: RunResultBase) -> list[tuple[ToolApprovalItem, dict[str, Any]]]:
    """The interruptions of a result that hooks have asked for, each with what to show.

    Make an answer to each with `amplifier_hooks.frameworks.answer`, and give it to `settle`.
    """
    known = getattr(result, _QUESTIONS, {})
    items = getattr(result, "interruptions", [])
    return [(one, known[_get_id(one)]) for one in items if _get_id(one) in known]


def settle(state: RunState[Any], item: ToolApprovalItem, given: dict[str, Any]) -> None:
    """Answer the question of an interruption; a no is told to the model by our gate, too."""
    state.approve(item)
    given_so_far = state.__dict__.setdefault(_ANSWERS, {})
    given_so_far[_get_id(item)] = given


def _get_id(item: ToolApprovalItem) -> str:
    return str(item.call_id or "")


# For the runner


def take_state(turn: Turn, state: RunState[Any]) -> None:
    """Give a turn what was said to the interruptions that it goes on from."""
    turn.answers.update(state.__dict__.pop(_ANSWERS, {}))
    for item in state.get_interruptions():
        turn.shown[_get_id(item)] = str(item.arguments or "")


def leave_questions(turn: Turn, result: Any) -> None:
    """Put what is to be asked on a result that was interrupted."""
    if getattr(result, "interruptions", None) and turn.questions:
        setattr(result, _QUESTIONS, dict(turn.questions))
        if turn.outer is not None:
            turn.outer.questions.update(turn.questions)


async def drop_parked(turn: Turn) -> None:
    """End the calls that were judged and never run."""
    for parked in turn.parked.values():
        await parked.drop()
    turn.parked.clear()


# For tools


def wrap_needs_approval(tool: FunctionTool, prepare: Callable[[bool], None]) -> None:
    """Have hooks judge each call of a tool when the SDK asks whether it needs approval.

    Having a rule that is a function, the SDK asks about all arguments that it cannot inspect.
    That is for the application's own rule: `prepare` is told whether it has one.
    """
    own: Any = tool.needs_approval
    if hasattr(own, _OWN):
        return

    async def needs_approval(context: Any, arguments: dict[str, Any], call_id: str) -> bool:
        if await resolve(own(context, arguments, call_id)) if callable(own) else own:
            return True
        turn = current.get()
        if turn is None or turn.asks != "interrupt":
            return False
        return await park(turn, tool.qualified_name, arguments, call_id)

    setattr(needs_approval, _OWN, own)
    prepare(callable(own))
    tool.needs_approval = needs_approval


async def park(turn: Turn, name: str, arguments: dict[str, Any], call_id: str) -> bool:
    """Judge a call before the SDK runs it; whether a person has to be asked."""
    parked = turn.parked.get(call_id)
    if parked is None:
        wanted = Wanted(name, arguments, call_id, _not_yet, read_output)
        parked = turn.parked[call_id] = Parked(turn, wanted)
    await parked.wait()
    if parked.handed is None:
        return False
    turn.questions[call_id] = parked.handed.to_payload()
    return True


async def call_or_resume(turn: Turn, wanted: Wanted) -> Called:
    """Take a call along the path, from where it waits if it was judged already."""
    if turn.asks != "interrupt":
        return await turn.run.call(wanted)
    parked = turn.parked.pop(wanted.call_id, None)
    if parked is not None and parked.handed is None:
        if is_same(parked.wanted.arguments, wanted.arguments):
            return await parked.finish(wanted.handler)
        await parked.drop()
    try:
        return await turn.run.call(wanted, lambda handed: _find_answer(turn, handed))
    except Unasked as error:
        return Called(ToolResult.refused(str(error)))


def _find_answer(turn: Turn, handed: Handed) -> dict[str, Any]:
    """What a person has said to a question, by an answer or by the SDK's own approval."""
    shown = turn.shown.pop(handed.tool_call_id, None)
    for one in turn.up():
        if handed.tool_call_id in one.answers:
            return one.answers.pop(handed.tool_call_id)
    if shown is not None and read_arguments(shown) == handed.tool_input:
        return decide(handed.to_payload(), True)
    why = (
        "its question was not put to anybody, because the SDK interrupts a call once and before "
        'it starts; use asks="inline" for hooks that ask more than once'
    )
    raise Unasked(describe_denial(handed.hook, why))


def _not_yet(given: dict[str, Any]) -> Any:
    raise RuntimeError("the SDK has not called this tool yet")


class Parked:
    """A call that hooks judge before the SDK runs it."""

    def __init__(self, turn: Turn, wanted: Wanted) -> None:
        self.wanted = wanted
        self.handed: Handed | None = None
        self._turn = turn
        self._arrived = asyncio.Event()
        self._go: asyncio.Future[Handler] = asyncio.get_running_loop().create_future()
        self._call = asyncio.create_task(
            turn.run.call(replace(wanted, handler=self._hold), self._hand_over)
        )

    async def wait(self) -> None:
        """Until it is denied, asked about, or about to run."""
        arrived = asyncio.create_task(self._arrived.wait())
        try:
            await asyncio.wait((self._call, arrived), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._call.cancel()
            raise
        finally:
            arrived.cancel()
        if self.handed is not None and self._call.done():
            self._call.exception()  # it was Interrupted, and asyncio wants that to be seen

    async def finish(self, handler: Handler) -> Called:
        """Run it, unless it was denied."""
        if not self._go.done():
            self._go.set_result(handler)
        return await self._call

    async def drop(self) -> None:
        """Nobody will run it."""
        self._call.cancel()
        await asyncio.wait((self._call,))

    async def _hold(self, given: dict[str, Any]) -> Any:
        is_home = self._turn.run.home.loop is asyncio.get_running_loop()
        if is_home:
            give_up_slot()  # the SDK may want to judge more calls at once than may run at once
        self._arrived.set()
        handler = await self._go
        if is_home:
            await take_slot()
        return await resolve(handler(given))

    def _hand_over(self, handed: Handed) -> dict[str, Any]:
        try:
            return _find_answer(self._turn, handed)
        except Unasked:
            self.handed = handed
        raise Interrupted(handed.prompt)


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
