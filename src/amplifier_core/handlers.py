"""Handlers of events: what they take and answer, and what a registration of one may ask for."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol, TypedDict, TypeVar, Unpack, get_args, overload

from amplifier_core.events import DataT, EventName, EventOf
from amplifier_core.models import HookResult
from amplifier_core.utils.calling import find_signature_problem
from amplifier_core.utils.text import suggest

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


def check_priority(priority: Any) -> None:
    """Refuse what cannot be a priority."""
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise TypeError(f"A priority must be an integer, got {priority!r}")


def check_limits(on_error: Any, timeout: Any, parallel: Any = False) -> None:
    """Refuse settings that could not be kept."""
    if parallel not in (True, False):
        raise TypeError(f"parallel must be True or False, got {parallel!r}")
    if parallel and on_error == "deny":
        raise ValueError("A guard (on_error='deny') decides, so it cannot run with parallel=True")
    if on_error not in ("continue", "deny"):
        raise ValueError(f"on_error must be 'continue' or 'deny', got {on_error!r}")
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"A timeout must be a number of seconds, got {timeout!r}")
    if not (math.isfinite(timeout) and timeout > 0):
        raise ValueError(f"A timeout must be positive and finite, got {timeout!r}")


Mode = Literal["enforce", "run_all", "evaluate_only"]
"""`enforce`: a denial ends the chain. `run_all`: the hooks behind it still run, without effect.
`evaluate_only`, shadow mode: every hook runs, and none has an effect."""

MODES: tuple[Mode, ...] = get_args(Mode)


def choose_mode(wanted: Mode, parent: Mode | None = None) -> Mode:
    """The mode of a registry that wants this one, below a registry of that mode.

    The hooks of a parent run in its children, so a child cannot take their effect away.
    """
    if wanted not in MODES:
        raise ValueError(f"A registry's mode is one of {', '.join(MODES)}, got {wanted!r}")
    if wanted == "evaluate_only" and parent not in (None, wanted):
        raise ValueError(
            "evaluate_only: the hooks of the parent have an effect, and so they have in its "
            "sub-agents; set session.evaluate_only in the parent's plan"
        )
    if parent is None:
        return wanted
    return max(wanted, parent, key=MODES.index)


def hook(
    *events: EventName | str, **options: Unpack[HookOptions]
) -> Callable[[HandlerT], HandlerT]:
    """Mark a function of a plain hook file: `@hook("tool:pre", priority=5, on_error="deny")`.

    A bundle that names the file registers every marked function; the options are those of
    `HookRegistry.register`.
    """
    if not events or not all(isinstance(event, str) for event in events):
        given = ", ".join(getattr(one, "__name__", repr(one)) for one in events) or "nothing"
        raise TypeError(f"@hook needs the names of events, as in @hook('tool:pre'), got {given}")
    for option in options.keys() - HookOptions.__annotations__.keys():
        hint = suggest(option, HookOptions.__annotations__)
        raise TypeError(f"@hook has no option {option!r}; {hint}")

    def mark(function: HandlerT) -> HandlerT:
        if problem := find_signature_problem(function):
            raise TypeError(f"A function with @hook {problem}")
        if hasattr(function, "__amplifier_hook__"):
            raise TypeError("A function has one @hook, with all its events: @hook('a:b', 'c:d')")
        function.__amplifier_hook__ = {"events": events, "options": options}  # type: ignore[attr-defined]
        return function

    return mark
