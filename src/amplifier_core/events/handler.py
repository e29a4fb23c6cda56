"""The handler of an event, as a type checker sees it: what it takes, and what it may answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol, TypedDict, TypeVar, Unpack, overload

from amplifier_core.events.event import DataT, EventOf
from amplifier_core.events.event_name import EventName
from amplifier_core.models import HookResult

OnError = Literal["continue", "deny"]
Unregister = Callable[[], None]

Reply = HookResult | dict[str, Any] | None
"""What a handler answers; a dict is read as the fields of a `HookResult`, None as `continue`."""

_TakenT = TypeVar("_TakenT")
HandlerOf = Callable[[str, _TakenT], Awaitable[Reply] | Reply]
"""A function of an event and its data, async or not."""

Handler = HandlerOf[dict[str, Any]]

HandlerT = TypeVar("HandlerT", bound=HandlerOf[Any])
"""Keeps the type of a function through a decorator."""

_TypedT = TypeVar("_TypedT")


def typed_like(signature: _TypedT) -> Callable[[Any], _TypedT]:
    """Have checkers see a function with the signature of another, overloads included."""

    def mark(function: Any) -> Any:
        function.typed_like = signature
        return function

    return mark


class Limits(TypedDict, total=False):
    """What holds when a hook fails, and how many seconds it has."""

    on_error: OnError
    timeout: float | None
    parallel: bool


class HookOptions(Limits, total=False):
    """What `@hook` takes: the same as `HookRegistry.register`."""

    priority: int
    name: str | None


class Registering(Protocol):
    """Registration as modules see it.

    With a constant of `events` the data must be what that event carries; with its name as a
    string, any payload type or a plain dict will do.
    """

    @overload
    def register(
        self,
        event: EventOf[DataT] | EventName,
        handler: HandlerOf[DataT],
        priority: int = 0,
        name: str | None = None,
        **limits: Unpack[Limits],
    ) -> Unregister: ...
    @overload
    def register(
        self,
        event: str,
        handler: Handler,
        priority: int = 0,
        name: str | None = None,
        **limits: Unpack[Limits],
    ) -> Unregister: ...
    @overload
    def register(
        self,
        event: EventName | str,
        handler: None = None,
        priority: int = 0,
        name: str | None = None,
        **limits: Unpack[Limits],
    ) -> Callable[[HandlerT], HandlerT]: ...
