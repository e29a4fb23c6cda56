"""Hooks in front of a chat client, and so of every agent that uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast
from weakref import WeakSet

from agent_framework import (
    ChatMiddlewareLayer,
    ChatResponse,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)

from amplifier_hooks.coverage import AGENT_FRAMEWORK, Asking
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.frameworks.agent_framework.messages import (
    change_prompt,
    read_prompt,
    say_in_chat,
)
from amplifier_hooks.frameworks.agent_framework.middleware import (
    MIDDLEWARE,
    Turn,
    check_asks,
    is_governed,
    put_last,
)
from amplifier_hooks.frameworks.agent_framework.model_hooks import follow_stream, stream_response
from amplifier_hooks.frameworks.governing import Governable, govern

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
        given, prompt = list(messages), read_prompt(messages)
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
