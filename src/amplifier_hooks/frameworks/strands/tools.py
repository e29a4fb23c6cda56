"""The tools of an agent, which call through the hooks, and the turns they are called in."""

from __future__ import annotations

import asyncio
import hashlib
import sys
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from strands.agent.agent_result import AgentResult
from strands.interrupt import InterruptException
from strands.middleware import ExecuteToolContext, ToolResultEvent
from strands.types.tools import AgentTool, ToolSpec, ToolUse

from amplifier_core import events
from amplifier_core.errors import SessionDenied
from amplifier_core.payloads import EndReason
from amplifier_hooks.coverage import STRANDS
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.handover import Handed, HandOver, bind_plain
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks.strands.messages import read_arguments, read_result, write_result

State = dict[str, Any]


@dataclass(slots=True)
class Turn:
    """One invocation of an agent, known by the state that the framework hands around in it.

    One that was refused has no run, but it ends as others do.
    """

    state: State
    run: Run | None


class Turns:
    """Finds the run of what an agent does."""

    def __init__(self) -> None:
        self._open: weakref.WeakKeyDictionary[Any, list[Turn]] = weakref.WeakKeyDictionary()

    def add(self, agent: Any, state: State, run: Run | None) -> None:
        """An invocation begins."""
        self._open.setdefault(agent, []).append(Turn(state, run))

    def find(self, agent: Any, state: State) -> Run | None:
        """The run of the invocation with this state; if a middleware replaced it, the only one."""
        turns = self._open.get(agent, ())
        runs = [(turn.state, turn.run) for turn in turns if turn.run and not turn.run.has_ended]
        same = [run for known, run in runs if known is state]
        if same:
            return same[-1]
        return runs[0][1] if len(runs) == 1 else None

    def take(self, agent: Any, state: State) -> Run | None:
        """The run of an invocation that is over; one without any state is the only one."""
        turns = self._open.get(agent, [])
        same = [turn for turn in turns if turn.state is state]
        if not same and not state and len(turns) == 1:
            same = turns[:]
        if not same:
            return None
        turns.remove(same[-1])
        return same[-1].run


def find_reason(result: AgentResult | None) -> EndReason:
    """Why an invocation is over, asked while it ends."""
    error = sys.exc_info()[1]
    if isinstance(error, asyncio.CancelledError | GeneratorExit | KeyboardInterrupt):
        return "user_exit"
    if isinstance(error, TimeoutError):
        return "timeout"
    if error is not None:
        return "error"
    return "user_exit" if result is not None and result.stop_reason == "cancelled" else "complete"


Stream = Callable[[ToolUse], AsyncGenerator[Any, None]]
_OVER = object()


class Halted(Exception):
    """The tool, or an agent inside it, waits for a person."""

    def __init__(self, event: Any) -> None:
        super().__init__("interrupted")
        self.event = event


class GovernedTool(AgentTool):
    """Stands for another tool in one call, so that what hooks judge is what runs."""

    def __init__(
        self, tool: AgentTool, run: Run, context: ExecuteToolContext, *, interrupts: bool
    ) -> None:
        super().__init__()
        self._tool = tool
        self._run = run
        self._context = context
        self._interrupts = interrupts

    @property
    def tool_name(self) -> str:
        """Its name."""
        return self._tool.tool_name

    @property
    def tool_spec(self) -> ToolSpec:
        """Its description."""
        return self._tool.tool_spec

    @property
    def tool_type(self) -> str:
        """Its kind."""
        return self._tool.tool_type

    def __getattr__(self, name: str) -> Any:
        # Whatever else a middleware wants to know of the tool.
        return getattr(self._tool, name)

    async def stream(
        self, tool_use: ToolUse, invocation_state: dict[str, Any], **kwargs: Any
    ) -> AsyncGenerator[Any, None]:
        """Run the tool through the hooks, and pass on what it yields meanwhile."""

        def run_tool(use: ToolUse) -> Any:
            return self._tool.stream(use, invocation_state, **kwargs)

        call = _Call(tool_use, run_tool)
        signal = self._context.cancel_signal
        wanted = Wanted(
            name=tool_use["name"],
            arguments=read_arguments(tool_use["input"]),
            call_id=tool_use["toolUseId"],
            handler=call.handle,
            read=call.read,
            steering=(InterruptException, Halted),
            is_alive=lambda: not signal.is_set(),
        )
        hand_over = self._hand_over if self._interrupts else None
        async with aclosing(call.stream(self._run, wanted, hand_over)) as events:
            async for event in events:
                yield event

    def _hand_over(self, handed: Handed) -> Any:
        """Put the question to the framework, under a name of its own."""
        question = hashlib.sha256(f"{handed.digest} {handed.prompt}".encode()).hexdigest()[:16]
        name = f"amplifier:{handed.hook}:{question}"
        payload = handed.to_payload()
        # The name stands for the digest: what is answered under it is what was shown.
        return bind_plain(payload, self._context.interrupt(name, reason=payload).response)


@dataclass(slots=True)
class _Call:
    """One call of a tool: what it yields goes out while the call is under way."""

    use: ToolUse
    run_tool: Stream
    events: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    last: Any = None
    failure: BaseException | None = None
    """What the tool raised and the framework has made a result of."""

    async def stream(
        self, run: Run, wanted: Wanted, hand_over: HandOver | None
    ) -> AsyncGenerator[Any, None]:
        """Everything that the tool yields, and the result that hooks left at the end."""
        task = asyncio.create_task(run.call(wanted, hand_over))
        task.add_done_callback(lambda _: self.events.put_nowait(_OVER))
        try:
            while (event := await self.events.get()) is not _OVER:
                yield event
            yield await self._finish(task)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _finish(self, task: asyncio.Task[Any]) -> Any:
        try:
            called = await task
        except Halted as halted:
            return halted.event
        except Exception as error:
            if error is self.failure:
                return self.last
            raise
        if called.untouched:
            return self.last
        return ToolResultEvent(write_result(called.result, self.use["toolUseId"]))

    async def handle(self, given: dict[str, Any]) -> Any:
        """Run the tool with what hooks left; returns the event that holds its result."""
        held: Any = _OVER
        async with aclosing(self.run_tool(self._change_input(given))) as stream:
            async for event in stream:
                if held is not _OVER:
                    self.events.put_nowait(held)
                held = event
                if isinstance(event, dict) and "tool_interrupt_event" in event:
                    raise Halted(event)
                if isinstance(event, ToolResultEvent):
                    break
        self.last = self._describe_silence() if held is _OVER else held
        self.failure = getattr(self.last, "exception", None)
        if self.failure is not None:
            raise self.failure
        return self.last

    def _change_input(self, given: dict[str, Any]) -> ToolUse:
        """The call with what hooks changed; what they left alone are the caller's own objects."""
        before: Any = self.use["input"]
        shown = read_arguments(before)
        if given == shown:
            return self.use
        if not isinstance(before, dict):
            return {**self.use, "input": given}
        merged = {
            key: before[key] if key in before and shown[key] == value else value
            for key, value in given.items()
        }
        return {**self.use, "input": merged}

    def _describe_silence(self) -> ToolResultEvent:
        text = f"Tool '{self.use['name']}' did not return a result"
        return ToolResultEvent(
            {"toolUseId": self.use["toolUseId"], "status": "error", "content": [{"text": text}]}
        )

    @staticmethod
    def read(event: Any) -> Any:
        """What hooks see of the event that holds the result."""
        return read_result(event.tool_result if isinstance(event, ToolResultEvent) else event)


Next = Callable[[ExecuteToolContext], AsyncGenerator[Any, None]]


class ToolStage:
    """What an agent does around each call of a tool."""

    def __init__(self, governor: Governor, turns: Turns, *, interrupts: bool) -> None:
        self._governor = governor
        self._turns = turns
        self._interrupts = interrupts

    async def run(self, context: ExecuteToolContext, next_fn: Next) -> AsyncGenerator[Any, None]:
        """Have a call judged where its tool is run.

        One outside of an invocation (by the program itself, or in the background) is a run.
        """
        run = self._find_run(context)
        if run is not None:
            async with aclosing(self._call(run, context, next_fn)) as found:
                async for event in found:
                    yield event
            return
        try:
            run = await self._governor.open(STRANDS, str(getattr(context.agent, "name", "")))
        except SessionDenied as error:
            yield _refuse(context, str(error))
            return
        try:
            async with aclosing(self._call(run, context, next_fn)) as found:
                async for event in found:
                    yield event
        finally:
            await run.end(find_reason(None))

    def _find_run(self, context: ExecuteToolContext) -> Run | None:
        """The run of the invocation that waits for the call, if one does."""
        # In the background there is another kind of context, and maybe another loop, which both
        # outlive the invocation.
        if type(context) is not ExecuteToolContext:
            return None
        return self._turns.find(context.agent, context.invocation_state)

    async def _call(
        self, run: Run, context: ExecuteToolContext, next_fn: Next
    ) -> AsyncGenerator[Any, None]:
        if context.tool is None:
            await _tell_unknown(run, context)
        else:
            tool = GovernedTool(context.tool, run, context, interrupts=self._interrupts)
            context = context.replace(tool=tool)
        async for event in next_fn(context):
            yield event


def _refuse(context: ExecuteToolContext, why: str) -> ToolResultEvent:
    identity = context.tool_use["toolUseId"]
    return ToolResultEvent({"toolUseId": identity, "status": "error", "content": [{"text": why}]})


async def _tell_unknown(run: Run, context: ExecuteToolContext) -> None:
    """Tell hooks of a call of a tool that nobody has; the framework answers it."""
    use = context.tool_use
    data = {
        "tool_name": use["name"],
        "tool_input": read_arguments(use["input"]),
        "tool_call_id": use["toolUseId"],
        "error": {"type": "UnknownTool", "message": f"Unknown tool: {use['name']}"},
    }
    await run.tell(events.TOOL_ERROR, data)
