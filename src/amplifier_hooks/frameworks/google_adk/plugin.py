"""The plugin of a runner: its invocations, their tool calls, and requests to models."""

from __future__ import annotations

import asyncio
import functools
import sys
import time
import weakref
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows.functions import (
    REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
    REQUEST_INPUT_FUNCTION_CALL_NAME,
)
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from amplifier_core import events
from amplifier_core.errors import AmplifierError, SessionDenied
from amplifier_core.payloads import EndReason
from amplifier_core.utils import describe_error
from amplifier_hooks.coverage import GOOGLE_ADK, Asking
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.handover import Handed, decide
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks.google_adk.messages import (
    change_answer,
    change_reply,
    change_request,
    keep_messages,
    make_content,
    make_plain,
    read_answer,
    read_reply,
    read_request,
    read_text,
    read_tool_names,
    read_value,
    replace_text,
    write_refusal,
    write_value,
)
from amplifier_hooks.frameworks.governing import Governable, govern


@dataclass(slots=True)
class Invocation:
    """One invocation; without a run, its start or its prompt was refused."""

    run: Run | None
    refusal: str
    context: weakref.ref[InvocationContext]
    interrupts: bool = False
    """Whether the framework asks people, and not we."""
    streams: bool = False
    """Whether the caller has read a part of a reply already."""
    forget: Callable[[], object] | None = None
    """Stops watching whether the runner was cancelled."""
    _asked: dict[str, float] = field(default_factory=dict)

    def is_alive(self) -> bool:
        """Whether somebody still waits for it."""
        context = self.context()
        return context is not None and not context.is_aborted

    def start_request(self, agent: str) -> None:
        """An agent is about to ask its model."""
        self._asked[agent] = time.perf_counter()

    def measure_request(self, agent: str) -> int:
        """The milliseconds since then."""
        now = time.perf_counter()
        return int((now - self._asked.pop(agent, now)) * 1000)


class Invocations:
    """Finds the invocation that a callback belongs to, and ends those that nobody ends."""

    def __init__(self) -> None:
        self._open: dict[str, Invocation] = {}

    def find(self, invocation_id: str) -> Invocation | None:
        """The invocation, if it is under way."""
        return self._open.get(invocation_id)

    def add(self, context: InvocationContext, run: Run | None, refusal: str) -> Invocation:
        """An invocation begins."""
        made = Invocation(run, refusal, weakref.ref(context))
        self._open[context.invocation_id] = made
        if run is not None:
            self._watch(context, made)
        return made

    def _watch(self, context: InvocationContext, made: Invocation) -> None:
        """Notice that a runner was cancelled, of which the framework tells no plugin.

        Its task is over then; if somebody catches that and goes on, nobody holds its context.
        """
        abandon = functools.partial(self._abandon, context.invocation_id, made)
        weakref.finalize(context, abandon).atexit = False
        task = asyncio.current_task()
        if task is not None:
            task.add_done_callback(abandon)
            made.forget = functools.partial(task.remove_done_callback, abandon)

    async def end(self, invocation_id: str, reason: EndReason) -> None:
        """An invocation is over."""
        ended = self._open.pop(invocation_id, None)
        if ended is None:
            return
        if ended.forget is not None:
            ended.forget()
        if ended.run is not None:
            await ended.run.end(reason)

    async def end_all(self, reason: EndReason) -> None:
        """The runner is closed."""
        for invocation_id in list(self._open):
            await self.end(invocation_id, reason)

    def _abandon(self, invocation_id: str, left: Invocation, _: object = None) -> None:
        if self._open.get(invocation_id) is not left or left.run is None:
            return
        del self._open[invocation_id]
        run = left.run
        loop = left.run.home.loop

        def end() -> None:
            _ending.add(task := loop.create_task(run.end("user_exit")))
            task.add_done_callback(_ending.discard)

        # The garbage collector may call this in any thread; what a closed loop leaves
        # open, the governor ends.
        if not loop.is_closed():
            loop.call_soon_threadsafe(end)


_ending: set[asyncio.Task[None]] = set()


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
        return decide(payload, False)
    if given.payload is None or given.payload == payload:
        return decide(payload, True)
    return given.payload


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


PROVIDER = GOOGLE_ADK.name
WITHHELD = "[A hook has withheld this message.]"
NO_RUN = "the hooks of this invocation have ended, so nothing more is run in it"


class AmplifierPlugin(BasePlugin):
    """Takes everything that the agents of a runner do through the hooks; put it first.

    `hooks`: the path of a bundle, a HookRegistry, a coordinator or what `govern` made.
    `asks`: "inline" has people asked as the hooks' bundle says while the call waits;
    "interrupt" has the framework ask for a tool confirmation and end the turn.
    """

    def __init__(
        self, hooks: Governable, *, asks: Asking = "inline", name: str = "amplifier"
    ) -> None:
        super().__init__(name)
        if asks not in GOOGLE_ADK.asking:
            raise ValueError(f"asks={asks!r}: choose one of {', '.join(GOOGLE_ADK.asking)}")
        self.governor = govern(hooks)
        self._interrupts = asks == "interrupt"
        self._invocations = Invocations()

    # Turns

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Open the run behind the invocation, and take the prompt through the hooks."""
        verdict = await self._begin(invocation_context, user_message)
        if not verdict.allowed:
            # Not even the next turn may send it to the model.
            return make_content("user", WITHHELD)
        return replace_text(user_message, verdict.text) if verdict.changed else None

    async def before_run_callback(
        self, *, invocation_context: InvocationContext
    ) -> types.Content | None:
        """End the run with the reason if its start or its prompt was refused."""
        invocation = self._invocations.find(invocation_context.invocation_id)
        if invocation is None:
            invocation = await self._begin_late(invocation_context)
        return make_content("model", invocation.refusal) if invocation.refusal else None

    async def _begin(
        self, context: InvocationContext, message: types.Content | None
    ) -> TextVerdict:
        """Open a run; a message that only brings results of tools or people is no prompt."""
        parts = (message.parts if message else None) or []
        agent = context.agent.name if context.agent else ""
        if message is None or any(part.function_response for part in parts):
            try:
                run = await self.governor.open(GOOGLE_ADK, agent)
                verdict = TextVerdict(True, "")
            except SessionDenied as error:
                run = None
                verdict = TextVerdict(False, str(error))
        else:
            run, verdict = await self.governor.begin(GOOGLE_ADK, read_text(parts), agent)
        refusal = "" if verdict.allowed else verdict.text
        made = self._invocations.add(context, run, refusal)
        made.interrupts = self._interrupts
        return verdict

    async def _begin_late(self, context: InvocationContext) -> Invocation:
        """Begin a run whose message another plugin has kept from us: we cannot change it now."""
        verdict = await self._begin(context, context.user_content)
        invocation = self._invocations.find(context.invocation_id)
        assert invocation is not None
        if verdict.changed and invocation.run is not None:
            why = f"a plugin before {self.name} has changed the prompt: put {self.name} first"
            outcome = await invocation.run.coordinator.deny(
                events.PROMPT_SUBMIT, self.name, f"a hook wants to change the prompt, but {why}"
            )
            invocation.refusal = outcome.denial
        return invocation

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Event | None:
        """Take an answer through the hooks before it is stored and handed over."""
        invocation = self._invocations.find(invocation_context.invocation_id)
        if invocation is None or invocation.run is None or invocation.refusal:
            return None
        if event.partial:
            invocation.streams = True
        text = read_answer(event)
        if not text:
            return None
        verdict = await invocation.run.answer(text, streamed=invocation.streams)
        if verdict.allowed and not verdict.changed:
            return None
        return change_answer(event, text, verdict.text)

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """End the run behind the invocation."""
        # ADK calls this as well while a stream that nobody reads any more is being closed.
        stopped = isinstance(sys.exc_info()[1], GeneratorExit | asyncio.CancelledError)
        reason: EndReason = "user_exit" if stopped else "complete"
        await self._invocations.end(invocation_context.invocation_id, reason)

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """End the run behind an invocation that failed."""
        await self._invocations.end(invocation_context.invocation_id, "error")

    async def close(self) -> None:
        """End what is still open; other runners may go on with the same hooks."""
        await self._invocations.end_all("error")

    # Models

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Take a request to a model through the hooks; the reply to a refused one is the reason."""
        invocation = self._invocations.find(callback_context.invocation_id)
        if invocation is None or invocation.run is None:
            return write_refusal(NO_RUN)
        invocation.start_request(callback_context.agent_name)
        pieces = read_request(llm_request, in_full=invocation.run.hears(events.PROVIDER_REQUEST))
        verdict = await invocation.run.request(
            [piece.message for piece in pieces],
            provider=PROVIDER,
            model=llm_request.model,
            tools=read_tool_names(llm_request),
            keeps=True,
        )
        await keep_messages(callback_context._invocation_context, verdict.lasting)
        if not verdict.allowed:
            return write_refusal(verdict.reason)
        if verdict.changed:
            change_request(llm_request, pieces, verdict.placed)
        return None

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Take a whole reply through the hooks; pieces of a stream have gone out already."""
        invocation = self._invocations.find(callback_context.invocation_id)
        if invocation is None or invocation.run is None:
            return write_refusal(NO_RUN)
        if llm_response.partial or not invocation.run.hears(events.PROVIDER_RESPONSE):
            return None
        spent = invocation.measure_request(callback_context.agent_name)
        verdict = await invocation.run.review(read_reply(llm_response, spent), provider=PROVIDER)
        if not verdict.allowed:
            return write_refusal(verdict.reason)
        return change_reply(llm_response, verdict) if verdict.changed else None

    # Tools

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Have the call judged where the tool itself is run."""
        invocation = self._invocations.find(tool_context.invocation_id)
        if invocation is None or invocation.run is None:
            return {"error": NO_RUN}
        why = take_hold(tool, tool_context, invocation)
        return None if why is None else {"error": why}

    async def on_tool_error_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: ToolContext,
        error: Exception,
    ) -> dict[str, Any] | None:
        """Tell hooks of a call that never came to its tool, such as one of a tool nobody has."""
        invocation = self._invocations.find(tool_context.invocation_id)
        if invocation is None or invocation.run is None or has_run(tool_context):
            return None
        data = {
            "tool_name": tool.name,
            "tool_input": make_plain(tool_args),
            "tool_call_id": tool_context.function_call_id or "",
            "error": {"type": type(error).__name__, "message": describe_error(error)},
        }
        await invocation.run.tell(events.TOOL_ERROR, data)
        return None
