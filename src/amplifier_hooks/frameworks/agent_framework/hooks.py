"""Hooks at the requests, the replies and the tool calls of an agent."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, cast

from agent_framework import (
    AgentResponse,
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    MiddlewareException,
    MiddlewareFailure,
    MiddlewareTermination,
    ResponseStream,
    UserInputRequiredException,
)
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from amplifier_core import events
from amplifier_core.models import ToolResult
from amplifier_core.utils import describe_error
from amplifier_core.utils.copying import is_same
from amplifier_hooks.coverage import Asking
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.handover import Handed, decide
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import Called, ReplyVerdict
from amplifier_hooks.frameworks.agent_framework.messages import (
    change_reply,
    count_request,
    describe_calls,
    describe_reply,
    is_answer,
    read_contents,
    read_request,
    read_texts,
    refuse_reply,
    say_in_chat,
)

Finish = Callable[[Any], Awaitable[Any]]
"""Gets the whole response of a stream; returns the one that counts."""

End = Callable[[BaseException | None], Awaitable[None]]


def hold_stream(
    stream: ResponseStream[Any, Any], judge: Finish, *, is_live: bool
) -> ResponseStream[Any, Any]:
    """A stream that releases nothing before the whole response is judged.

    A live one releases everything at once, for nobody would change it.
    """
    final: list[Any] = []

    async def release() -> AsyncIterator[Any]:
        updates: list[Any] = []
        async with stream:
            async for update in stream:
                if is_live:
                    yield update
                updates.append(update)
            response = await stream.get_final_response()
        judged = await judge(response)
        final.append(judged)
        if not is_live:
            for update in _find_updates(response, judged, updates):
                yield update

    return _make_stream(release(), final)


def _find_updates(response: Any, judged: Any, updates: list[Any]) -> list[Any]:
    """What to release of a reply.

    The framework marks the tool calls in what it receives and looks for the marks in the whole
    response, so both must have the same objects.
    """
    if judged is response and not describe_calls(read_contents(response.messages)):
        return updates
    return list(judged.to_updates())


def follow_stream(
    stream: ResponseStream[Any, Any], finish: Finish, end: End
) -> ResponseStream[Any, Any]:
    """The same stream, with its end told however it comes."""
    final: list[Any] = []

    async def follow() -> AsyncIterator[Any]:
        error: BaseException | None = None
        try:
            async with stream:
                async for update in stream:
                    yield update
                final.append(await finish(await stream.get_final_response()))
        except BaseException as raised:
            error = raised
            raise
        finally:
            await end(error)

    return _make_stream(follow(), final)


def stream_response(
    response: AgentResponse[Any] | ChatResponse[Any],
) -> ResponseStream[Any, Any]:
    """A stream of one response."""

    async def give() -> AsyncIterator[Any]:
        for update in response.to_updates():
            yield update

    return _make_stream(give(), [response])


def _make_stream(updates: AsyncIterator[Any], final: list[Any]) -> ResponseStream[Any, Any]:
    def find(_: Any) -> Any:
        if not final:
            raise RuntimeError("the stream was closed before its end, so it has no response")
        return final[-1]

    made: Any = ResponseStream(updates, finalizer=find)
    return cast("ResponseStream[Any, Any]", made)


async def call_to_end(call_next: Callable[[], Awaitable[None]]) -> MiddlewareTermination | None:
    """Call what is behind us; returns by what it was ended, to be raised again afterwards."""
    try:
        await call_next()
    except MiddlewareTermination as ended:
        return ended
    return None


class ModelHooks(ChatMiddleware):
    """Judges what a model is sent and what it says, in one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.has_answered = False
        """Whether hooks have judged the answer of the turn."""

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Send what hooks left of the request, and hand on what they left of the reply."""
        if not await self._ask(context):
            return
        started = time.monotonic()
        ended = await call_to_end(call_next)
        result = context.result

        async def judge(response: ChatResponse[Any]) -> ChatResponse[Any]:
            spent = int((time.monotonic() - started) * 1000)
            return await self._judge(context, response, spent)

        if isinstance(result, ResponseStream):
            context.result = hold_stream(result, judge, is_live=not self._is_judged())
        elif isinstance(result, ChatResponse):
            context.result = await judge(result)
        if ended is not None:
            raise ended

    def _is_judged(self) -> bool:
        """Whether a hook listens to replies or answers, and so could change them."""
        hooks = self.run.coordinator.hooks
        judged = (events.PROVIDER_RESPONSE, events.PROMPT_ANSWER)
        return any(hooks.has_listeners(event) for event in judged)

    async def _ask(self, context: ChatContext) -> bool:
        """Take the request through the hooks; false if the model is not called."""
        is_seen = self.run.hears(events.PROVIDER_REQUEST)
        request = read_request(context) if is_seen else count_request(context)
        verdict = await self.run.request(
            request.plain,
            provider=name_provider(context.client),
            model=find_model(context),
            tools=list_tools(context) if is_seen else (),
        )
        if not verdict.allowed:
            refusal = say_in_chat(verdict.reason)
            context.result = stream_response(refusal) if context.stream else refusal
        elif verdict.changed:
            request.place(context, verdict.placed)
        return verdict.allowed

    async def _judge(
        self, context: ChatContext, response: ChatResponse[Any], spent: int
    ) -> ChatResponse[Any]:
        wanted = (context.options or {}).get("response_format")
        verdict = ReplyVerdict(True)
        if self.run.hears(events.PROVIDER_RESPONSE):
            reply = describe_reply(response, spent)
            verdict = await self.run.review(reply, provider=name_provider(context.client))
        if not verdict.allowed:
            response = refuse_reply(response, verdict.reason)
        elif verdict.changed:
            response = change_reply(response, verdict, wanted)
        if not is_answer(response):
            return response
        text = read_texts(read_contents(response.messages))
        self.has_answered = True
        answer = await self.run.answer(text, streamed=context.stream and not self._is_judged())
        if answer.text == text:
            return response
        if not answer.allowed:
            return refuse_reply(response, answer.text)
        return change_reply(response, ReplyVerdict(True, text=answer.text), wanted)


def name_provider(client: Any) -> str:
    """The provider behind a client, as it names itself."""
    named = getattr(client, "OTEL_PROVIDER_NAME", None)
    return named if isinstance(named, str) and named != "unknown" else type(client).__name__


def find_model(context: ChatContext) -> str | None:
    """The model that a request is for."""
    named = (context.options or {}).get("model") or getattr(context.client, "model", None)
    return named if isinstance(named, str) else None


def list_tools(context: ChatContext) -> list[str]:
    """The names of the tools that a model may use."""
    tools = (context.options or {}).get("tools") or ()
    tools = tools if isinstance(tools, list | tuple) else [tools]
    named = [one.get("name") if isinstance(one, dict) else _name_model(one) for one in tools]
    return [one for one in named if isinstance(one, str)]


def _name_model(tool: Any) -> Any:
    return getattr(tool, "name", None) or getattr(tool, "__name__", None)


PAYLOAD = "amplifier"
"""Under additional_properties of an approval request: what the person is to be shown."""

ANSWERS = "amplifier_answers"
"""Under additional_properties: what people have chosen about this call, by question."""


class HandedOver(Exception):
    """Carries a question out of a tool call."""

    def __init__(self, handed: Handed) -> None:
        super().__init__(handed.prompt)
        self.payload = handed.to_payload()


def request_approval(context: FunctionInvocationContext, handed: HandedOver) -> Content:
    """The framework's own request, about exactly what would run."""
    payload = handed.payload
    occurrence = context.metadata.get("function_call_occurrence_id")
    call = Content.from_function_call(
        payload["tool_call_id"],
        payload["tool_name"],
        arguments=payload["tool_input"],
        id=occurrence,
    )
    return Content.from_function_approval_request(
        occurrence or payload["tool_call_id"],
        call,
        additional_properties={PAYLOAD: payload, ANSWERS: read_answers(context)},
    )


def respond(request: Content, chosen: dict[str, Any]) -> Content:
    """The response to an approval request of ours, to be sent with the same session.

    `chosen` is what `amplifier_hooks.frameworks.answer` made of the request's payload, which is
    `request.additional_properties["amplifier"]`. To the framework it is an approval whatever was
    chosen: the call comes back to the hooks, which let it run or not and record who decided.
    """
    properties = request.additional_properties
    if PAYLOAD not in properties:
        raise ValueError(
            "this approval request is not one that hooks have handed over; answer it with "
            "request.to_function_approval_response(approved)"
        )
    response = request.to_function_approval_response(approved=True)
    answers = {**(properties.get(ANSWERS) or {}), _name_tool(properties[PAYLOAD]): dict(chosen)}
    response.additional_properties[ANSWERS] = answers
    return response


def read_answers(context: FunctionInvocationContext) -> dict[str, Any]:
    """What people have chosen about a call before, by question.

    A program that knows nothing of us approves as it always does: that is a yes to what was shown.
    """
    response = context.metadata.get("approval_response")
    if not isinstance(response, Content):
        return {}
    properties = response.additional_properties
    answers = properties.get(ANSWERS)
    shown = properties.get(PAYLOAD)
    answers = dict(answers) if isinstance(answers, dict) else {}
    if not isinstance(shown, dict) or _name_tool(shown) in answers:
        return answers
    return {**answers, _name_tool(shown): decide(shown, True)}


def find_answer(context: FunctionInvocationContext, handed: Handed) -> dict[str, Any] | None:
    """The answer to a question; None if nobody was asked yet."""
    found: dict[str, Any] | None = read_answers(context).get(_name_tool(handed.to_payload()))
    return found


def _name_tool(payload: dict[str, Any]) -> str:
    return f"{payload.get('hook')}: {payload.get('prompt')}"


STEERING = (MiddlewareException, UserInputRequiredException)
"""Exceptions by which the framework goes on elsewhere."""


class ToolHooks(FunctionMiddleware):
    """Judges the tool calls of one run."""

    def __init__(self, run: Run, asks: Asking) -> None:
        self.run = run
        self._asks = asks

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        """Run the tool with what hooks left of the call, and hand on what they left of it."""
        tool = _Tool(context, call_next)
        wanted = Wanted(
            context.function.name,
            tool.arguments,
            str(context.metadata.get("call_id") or ""),
            tool.run,
            read_result,
            steering=STEERING,
            is_alive=lambda: not self.run.has_ended,
        )
        try:
            called = await self.run.call(wanted, self._find_handover(context))
        except HandedOver as handed:
            context.result = request_approval(context, handed)
        except Exception as error:
            if error is tool.error or isinstance(error, MiddlewareFailure):
                raise
            # Any other exception would be a result that tells the model nothing.
            raise MiddlewareFailure(
                f"the hooks in front of {context.function.name} failed: {describe_error(error)}"
            ) from error
        else:
            if not called.untouched:
                context.result = write_result(called)

    def _find_handover(self, context: FunctionInvocationContext) -> Any:
        # The framework does not hand on what a sub-agent asks.
        if self._asks == "inline" or self.run.is_child:
            return None

        def hand_over(handed: Handed) -> Any:
            if context.session is None:
                raise MiddlewareFailure(
                    "a question can be handed over in a session only: call agent.run(..., "
                    'session=agent.create_session()), or have asks="inline"'
                )
            given = find_answer(context, handed)
            if given is None:
                raise HandedOver(handed)
            return given

        return hand_over


class _Tool:
    """The framework's own way to run a call."""

    def __init__(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        self.arguments = describe_arguments(context.arguments)
        self.error: Exception | None = None
        self._context = context
        self._call_next = call_next

    async def run(self, given: dict[str, Any]) -> Any:
        """Run it; arguments that nobody changed stay the framework's own objects."""
        if not is_same(given, self.arguments):
            self._context.arguments = given
        try:
            await self._call_next()
        except Exception as error:
            self.error = error
            raise
        return self._context.result


def describe_arguments(arguments: BaseModel | Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call as JSON values."""
    plain = arguments.model_dump() if isinstance(arguments, BaseModel) else dict(arguments)
    described: dict[str, Any] = _describe(plain)
    return described


def _describe(value: Any) -> Any:
    return to_jsonable_python(value, fallback=str, bytes_mode="base64")


def read_result(value: Any) -> ToolResult:
    """What hooks see of a result: its text, or its parts if it has others."""
    if not _is_contents(value):
        return ToolResult(output=_describe_any(value))
    if all(one.type == "text" for one in value):
        return ToolResult(output="\n".join(one.text or "" for one in value))
    return ToolResult(output=[_describe_any(one.to_dict()) for one in value])


def _describe_any(value: Any) -> Any:
    """A value that the tool has returned, which hooks get to see whatever it is."""
    try:
        return _describe(value)
    except ValueError:  # it contains itself
        return repr(value)


def write_result(called: Called) -> Any:
    """What the framework gets of a result that hooks made."""
    parts = called.result.output
    if called.result.success and _is_contents(called.value) and _is_parts(parts):
        return [Content.from_dict(one) for one in parts]
    return called.text


def _is_contents(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, Content) for one in value)


def _is_parts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) and "type" in one for one in value)
