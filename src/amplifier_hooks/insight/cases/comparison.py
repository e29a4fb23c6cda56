"""Comparing an outcome with what a case expects of it."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core.dispatch import Dispatch
from amplifier_core.models import HookResult
from amplifier_core.precedence import strongest
from amplifier_core.utils import describe_error, safe_repr
from amplifier_hooks.insight.cases.case import TEXTS, Expectation
from amplifier_hooks.insight.cases.schema import find_pattern

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
            for one in run.problems
            if one.error is not None
        ),
        advice=tuple(f"{one.handler.name} {one.advice}" for one in run.problems if one.advice),
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


_MISSING = object()


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as expected, in words."""

    field: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.field}: expected {self.expected}, got {self.got}"


def find_differences(expected: Expectation | None, outcome: Outcome) -> Iterator[Difference]:
    """Everything that is not as expected; a failure of a hook always is, unless it is expected."""
    wanted = expected or Expectation()
    if wanted.action is not None and wanted.action != outcome.action:
        yield Difference("action", wanted.action, outcome.action)
    if wanted.hook is not None and wanted.hook != outcome.hook:
        yield Difference("hook", wanted.hook, outcome.hook or "no hook")
    yield from _compare_failures(wanted, outcome)
    for name, value in wanted.fields.items():
        yield from _compare_field(name, value, outcome)
    yield from _compare_data(wanted.data, outcome.left)


def show_value(value: Any) -> str:
    """A value as a case would say it."""
    try:
        return "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):  # odd keys, cycles, great depth
        return safe_repr(value)


def _compare_failures(wanted: Expectation, outcome: Outcome) -> Iterator[Difference]:
    texts = [str(one) for one in outcome.failures]
    if wanted.error is None:
        yield from (Difference("error", "no failure", text) for text in texts)
    elif not any(_matches(text, wanted.error) for text in texts):
        got = "; ".join(texts) or "no failure"
        yield Difference("error", _describe_wanted(wanted.error), got)


def _compare_data(wanted: Mapping[str, Any], left: Mapping[str, Any]) -> Iterator[Difference]:
    for path, value in _flatten(wanted):
        got = _look_up(left, path)
        if got is _MISSING:
            yield Difference(f"data.{path}", show_value(value), "no such field")
        elif not _is_same(got, value):
            yield Difference(f"data.{path}", show_value(value), show_value(got))


def _compare_field(name: str, wanted: Any, outcome: Outcome) -> Iterator[Difference]:
    got = _get_field(name, outcome)
    if name not in TEXTS:
        if not _is_same(got, wanted):
            yield Difference(name, show_value(wanted), show_value(got))
    elif wanted is None:
        if got:
            yield Difference(name, "nothing", show_value(got))
    elif not _matches(got or "", wanted):
        yield Difference(name, _describe_wanted(wanted), show_value(got))


def _get_field(name: str, outcome: Outcome) -> Any:
    if name == "user_message":  # that of every hook is shown, not only of the one that decides
        return "\n".join(outcome.messages) or None
    return getattr(outcome.result, name)


def _matches(text: str, wanted: str) -> bool:
    pattern = find_pattern(wanted)
    return wanted in text if pattern is None else re.search(pattern, text) is not None


def _describe_wanted(wanted: str) -> str:
    if find_pattern(wanted) is not None:
        return f"a match of {wanted}"
    return f"a text with {show_value(wanted)}"


def _is_same(got: Any, wanted: Any) -> bool:
    """Equal as JSON has it: a tuple is a list, and true is not 1."""
    if isinstance(got, tuple):
        got = list(got)
    return bool(got == wanted) and isinstance(got, bool) == isinstance(wanted, bool)


def _flatten(wanted: Mapping[str, Any], start: str = "") -> Iterator[tuple[str, Any]]:
    """Each path with the value that is expected there; of a mapping, the keys that it names."""
    for name, value in wanted.items():
        path = f"{start}.{name}" if start else name
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, path)
        else:
            yield path, value


def _look_up(data: Any, path: str) -> Any:
    """The value at a path such as `tool_input.command` or `messages.0.content`."""
    for name in path.split("."):
        if isinstance(data, Mapping) and name in data:
            data = data[name]
        elif isinstance(data, list | tuple) and name.isdecimal() and int(name) < len(data):
            data = data[int(name)]
        else:
            return _MISSING
    return data
