"""An outcome: what became of one event that was sent to hooks."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core.dispatch import Dispatch
from amplifier_core.models import HookResult
from amplifier_core.precedence import strongest
from amplifier_core.utils import describe_error

_OURS = ("amplifier_core", "amplifier_hooks/insight/cases")


@dataclass(frozen=True, slots=True)
class Failure:
    """A hook that raised or took too long, with its line if it has one."""

    hook: str
    error: str
    place: str = ""

    def __str__(self) -> str:
        where = f" ({self.place})" if self.place else ""
        return f"{self.hook} failed: {self.error}{where}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The combined answer of the hooks, and how it came about."""

    event: str
    sent: Mapping[str, Any]
    left: Mapping[str, Any]
    """The data after all hooks."""
    result: HookResult
    action: str
    """Of the strongest answer; `modify` if hooks only changed the data."""
    hook: str = ""
    """Who gave it; empty if no hook said anything."""
    listeners: int = 1
    """How many hooks heard the event."""
    failures: tuple[Failure, ...] = ()
    advice: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    """What hooks tell the person."""
    ms: float = 0.0


def read_outcome(run: Dispatch, sent: Mapping[str, Any], ms: float) -> Outcome:
    """The outcome of a dispatch."""
    winner = strongest(run.answers)
    return Outcome(
        event=run.event,
        sent=sent,
        left=run.data,
        result=run.fold(),
        action="continue" if winner is None else winner.result.action,
        hook="" if winner is None else winner.hook,
        listeners=len(run.handlers),
        failures=tuple(
            Failure(one.handler.name, describe_error(one.error), find_line(one.error))
            for one in run.troubles
            if one.error is not None
        ),
        advice=tuple(f"{one.handler.name} {one.advice}" for one in run.troubles if one.advice),
        messages=tuple(
            one.result.user_message for one in run.answers if one.result.user_message is not None
        ),
        ms=ms,
    )


def find_line(error: BaseException) -> str:
    """The last line of a traceback that is neither ours nor of Python itself: `guard.py:12`."""
    library = str(Path(traceback.__file__).parent)
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not file.startswith(library) and not any(f"/{part}/" in file for part in _OURS):
            found = f"{Path(file).name}:{line}"
    return found
