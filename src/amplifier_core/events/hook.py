"""The mark of a function in a plain hook file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from amplifier_core.events.event_name import EventName
from amplifier_core.events.handler import HandlerT, HookOptions
from amplifier_core.utils.parameters import find_misfit
from amplifier_core.utils.suggest import suggest


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
        if misfit := find_misfit(function):
            raise TypeError(f"A function with @hook {misfit}")
        if hasattr(function, "__amplifier_hook__"):
            raise TypeError("A function has one @hook, with all its events: @hook('a:b', 'c:d')")
        function.__amplifier_hook__ = {"events": events, "options": options}  # type: ignore[attr-defined]
        return function

    return mark
