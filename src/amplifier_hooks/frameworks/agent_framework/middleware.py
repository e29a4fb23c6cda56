"""Middleware for agents and chat clients."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar, cast, get_args
from weakref import WeakSet

from agent_framework import (
    AgentContext,
    AgentMiddleware,
    AgentMiddlewareLayer,
    AgentResponse,
    ChatMiddlewareLayer,
    ChatResponse,
    FunctionInvocationLayer,
    Message,
    MiddlewareBundle,
    MiddlewareFailure,
    ResponseStream,
)

from amplifier_core.payloads import EndReason
from amplifier_hooks.coverage import AGENT_FRAMEWORK, Asking
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.inner_agents import govern_inner_agents
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks.agent_framework.hooks import (
    ModelHooks,
    ToolHooks,
    call_to_end,
    follow_stream,
    stream_response,
)
from amplifier_hooks.frameworks.agent_framework.messages import (
    change_prompt,
    read_prompt,
    say_as_agent,
    say_in_chat,
)
from amplifier_hooks.frameworks.governing import Governable, govern


class Turn:
    """Stands behind one run of the framework."""

    def __init__(self, run: Run, asks: Asking) -> None:
        self.run = run
        self._models = ModelHooks(run)
        self._tools = ToolHooks(run, asks)

    def add_to(self, middleware: Any) -> list[Any]:
        """The middleware of a run with ours behind all others: hooks judge what they have left."""
        if middleware is None:
            others: list[Any] = []
        else:
            others = list(middleware) if isinstance(middleware, list | tuple) else [middleware]
        return [*others, self._tools, self._models]

    async def complete(self, response: Any, *, streamed: bool = False) -> str | None:
        """Take the answer through the hooks if it came without a last reply of a model.

        Returns what the caller gets instead, if it is something else. While the framework waits
        for somebody, there is no answer yet.
        """
        if self._models.has_answered or is_waiting(response):
            return None
        verdict = await self.run.answer(response.text, streamed=streamed)
        return None if verdict.text == response.text else verdict.text

    async def end(self, error: BaseException | None = None) -> None:
        """The run is over."""
        await self.run.end(name_end(error))


def is_waiting(response: Any) -> bool:
    """Whether a response asks the caller for something before the turn can go on."""
    return response is None or any(
        one.user_input_request for message in response.messages for one in message.contents
    )


def name_end(error: BaseException | None) -> EndReason:
    """Why a run has ended."""
    if error is None:
        return "complete"
    if isinstance(error, asyncio.CancelledError | GeneratorExit | KeyboardInterrupt):
        return "user_exit"
    return "timeout" if isinstance(error, TimeoutError) else "error"


def is_governed(middleware: Any, governor: Governor) -> bool:
    """Whether a run has the hooks of a governor already."""
    found = middleware if isinstance(middleware, list | tuple) else ()
    ours = [one for one in found if isinstance(one, ToolHooks)]
    return any(one.run.governor is governor for one in ours)


def put_last(middleware: Sequence[Any]) -> list[Any]:
    """The middleware of a run, with ours behind what was added after it."""
    ours = [one for one in middleware if isinstance(one, ToolHooks | ModelHooks)]
    return [*(one for one in middleware if one not in ours), *ours]


MIDDLEWARE = "middleware"


def amplifier(hooks: Governable, *, asks: Asking = "inline") -> MiddlewareBundle:
    """What `Agent(middleware=[...])` and `agent.run(middleware=[...])` take.

    With `asks="interrupt"`, questions leave the run as approval requests of the framework, and
    `respond` makes the response.
    """
    middleware = AmplifierMiddleware(hooks, asks=asks)
    with warnings.catch_warnings():
        # Only a bundle is refused by a client, which would leave out our middleware otherwise.
        warnings.filterwarnings("ignore", message=r".*MiddlewareBundle is experimental")
        return MiddlewareBundle([middleware])


class AmplifierMiddleware(AgentMiddleware):
    """Opens a session of ours behind each run of an agent."""

    def __init__(self, hooks: Governable, *, asks: Asking = "inline") -> None:
        self._governor = govern(hooks)
        self._asks = check_asks(asks)
        govern_inner_agents(AgentMiddlewareLayer, ("run",), AGENT_FRAMEWORK, _add_to_inner)

    async def process(
        self, context: AgentContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        """Run the agent with what hooks left of the prompt."""
        if is_governed(context.client_kwargs.get(MIDDLEWARE), self._governor):
            await call_next()
            return
        check_client(context.agent)
        prompt = read_prompt(context.messages)
        run, verdict = await self._governor.begin(
            AGENT_FRAMEWORK, prompt, name_agent(context.agent)
        )
        if run is None:
            refusal = say_as_agent(verdict.text)
            context.result = stream_response(refusal) if context.stream else refusal
            return
        if verdict.changed:
            context.messages = change_prompt(context.messages, verdict.text)
        turn = Turn(run, self._asks)
        middleware = turn.add_to(context.client_kwargs.get(MIDDLEWARE))
        context.client_kwargs = {**context.client_kwargs, MIDDLEWARE: middleware}
        await self._run(context, call_next, turn)

    async def _run(
        self, context: AgentContext, call_next: Callable[[], Awaitable[None]], turn: Turn
    ) -> None:
        try:
            ended = await call_to_end(call_next)
            if isinstance(context.result, ResponseStream):
                context.result = _follow(context.result, turn)
            else:
                context.result = await _finish(turn, context.result)
                await turn.end()
        except BaseException as error:
            await turn.end(error)
            raise
        if ended is not None:
            raise ended


async def _finish(
    turn: Turn, response: AgentResponse[Any] | None, *, streamed: bool = False
) -> AgentResponse[Any] | None:
    instead = await turn.complete(response, streamed=streamed)
    return response if instead is None else say_as_agent(instead)


def _follow(stream: ResponseStream[Any, Any], turn: Turn) -> ResponseStream[Any, Any]:
    async def finish(response: AgentResponse[Any]) -> AgentResponse[Any] | None:
        return await _finish(turn, response, streamed=True)

    return follow_stream(stream, finish, turn.end)


def check_asks(asks: Asking) -> Asking:
    """ValueError for a way to ask that there is not."""
    if asks not in get_args(Asking):
        raise ValueError(f"asks is one of {', '.join(get_args(Asking))}, not {asks!r}")
    return asks


def check_client(agent: Any) -> None:
    """MiddlewareFailure for an agent whose model and tools no hook would see."""
    client = getattr(agent, "client", None)
    if isinstance(client, ChatMiddlewareLayer) and isinstance(client, FunctionInvocationLayer):
        return
    name = getattr(agent, "name", None) or type(agent).__name__
    what = "no client" if client is None else f"a client of type {type(client).__name__}"
    raise MiddlewareFailure(
        f"hooks cannot see what the agent {name!r} does, so it was not run: it has {what}, which "
        "runs no middleware; derive the client from FunctionInvocationLayer, ChatMiddlewareLayer "
        "and BaseChatClient, in this order"
    )


def name_agent(agent: Any) -> str:
    """The name of an agent, for the session of a sub-agent."""
    return str(getattr(agent, "name", None) or getattr(agent, "id", None) or "")


ClientT = TypeVar("ClientT")


def amplify_client(client: ClientT, hooks: Governable, *, asks: Asking = "inline") -> ClientT:
    """Put hooks in front of a client, in place; each of its calls is then a run of its own.

    A call on behalf of an agent that has the same hooks is left to the agent.
    """
    check_asks(asks)
    kind: Any = type(client)
    if not issubclass(kind, FunctionInvocationLayer) or not issubclass(kind, ChatMiddlewareLayer):
        raise TypeError(
            f"hooks would not see what {kind.__name__} does, for it runs no middleware; derive it "
            "from FunctionInvocationLayer, ChatMiddlewareLayer and BaseChatClient, in this order"
        )
    if kind in _amplified:
        raise ValueError(f"this {kind.__name__} has hooks already; make another client")
    # A class and not an attribute: the framework writes the attributes of clients to disk.
    made = type(kind)(kind.__name__, (kind,), _write_class(kind, _Hooks(govern(hooks), asks)))
    _amplified.add(made)
    changed: Any = client
    changed.__class__ = made
    return cast("ClientT", changed)


_amplified: WeakSet[type] = WeakSet()
"""The classes of clients that have hooks, each of one client."""


class _Hooks:
    def __init__(self, governor: Governor, asks: Asking) -> None:
        self.governor = governor
        self.asks = asks


def _write_class(kind: Any, hooks: _Hooks) -> dict[str, Any]:
    def get_response(
        self: Any,
        messages: Sequence[Message],
        *,
        stream: bool = False,
        client_kwargs: Mapping[str, Any] | None = None,
        **rest: Any,
    ) -> Any:
        """Open a session of ours behind this call."""
        inner = kind.get_response.__get__(self)
        passed = dict(client_kwargs or {})
        if is_governed(passed.get(MIDDLEWARE), hooks.governor):
            passed[MIDDLEWARE] = put_last(passed[MIDDLEWARE])
            return inner(messages, stream=stream, client_kwargs=passed, **rest)
        call = _Call(hooks, inner, passed, rest)
        if not stream:
            return call.run(messages)
        made: Any = ResponseStream
        return made.from_awaitable(call.stream(messages))

    return {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "get_response": get_response,
    }


class _Call:
    """One call of an amplified client."""

    def __init__(self, hooks: _Hooks, inner: Any, passed: dict[str, Any], rest: Any) -> None:
        self._hooks = hooks
        self._inner = inner
        self._passed = passed
        self._rest = dict(rest)

    async def run(self, messages: Sequence[Message]) -> ChatResponse[Any]:
        """The response as hooks left it."""
        turn, given = await self._begin(messages)
        if isinstance(turn, str):
            return say_in_chat(turn)
        try:
            response = await self._call(given, turn, stream=False)
            instead = await turn.complete(response)
        except BaseException as error:
            await turn.end(error)
            raise
        await turn.end()
        return response if instead is None else say_in_chat(instead)

    async def stream(self, messages: Sequence[Message]) -> ResponseStream[Any, Any]:
        """The same, as a stream."""
        turn, given = await self._begin(messages)
        if isinstance(turn, str):
            return stream_response(say_in_chat(turn))
        begun = turn

        async def finish(response: ChatResponse[Any]) -> ChatResponse[Any]:
            instead = await begun.complete(response, streamed=True)
            return response if instead is None else say_in_chat(instead)

        return follow_stream(self._call(given, begun, stream=True), finish, begun.end)

    async def _begin(self, messages: Sequence[Message]) -> tuple[Turn | str, list[Message]]:
        """The turn and its messages, or why there is none."""
        given = list(messages)
        prompt = read_prompt(messages)
        run, verdict = await self._hooks.governor.begin(AGENT_FRAMEWORK, prompt, "")
        if run is None:
            return verdict.text, given
        if verdict.changed:
            given = change_prompt(given, verdict.text)
        return Turn(run, self._hooks.asks), given

    def _call(self, messages: list[Message], turn: Turn, *, stream: bool) -> Any:
        own = self._rest.pop(MIDDLEWARE, None) or ()
        passed = self._passed.get(MIDDLEWARE)
        before = [
            *(passed if isinstance(passed, list | tuple) else [passed] if passed else ()),
            *own,
        ]
        kwargs = {**self._passed, MIDDLEWARE: turn.add_to(before)}
        return self._inner(messages, stream=stream, client_kwargs=kwargs, **self._rest)


def _add_to_inner(governor: Governor, agent: Any, options: dict[str, Any]) -> None:
    # Where the agent has the same hooks, one of the two rests.
    options["middleware"] = [*(options.get("middleware") or ()), AmplifierMiddleware(governor)]
