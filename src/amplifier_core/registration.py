"""A registration: one handler, the event it listens to, and how it wants to be run."""

from __future__ import annotations

import inspect
import logging
import math
import time
from collections.abc import Awaitable, Callable
from itertools import count
from types import FunctionType
from typing import Any, Literal

from pydantic import ValidationError

from amplifier_core.errors import HookTimeout, InvalidHookResult
from amplifier_core.models import CONTINUE, HookResult, find_problem
from amplifier_core.precedence import STRONGEST_FIRST
from amplifier_core.utils import run_with_timeout

logger = logging.getLogger(__name__)

OnError = Literal["continue", "deny"]
Handler = Callable[[str, dict[str, Any]], Any]
Unregister = Callable[[], None]

_numbers = count(1)


class HookHandler:
    """One registration. Sorts by priority, then by the order of registration."""

    __slots__ = ("event", "handler", "id", "locked", "name", "on_error", "priority", "timeout")

    def __init__(
        self,
        handler: Handler,
        priority: int = 0,
        name: str | None = None,
        *,
        event: str = "",
        on_error: OnError = "continue",
        timeout: float | None = None,
    ) -> None:
        self.handler = handler
        self.priority = priority
        self.name = name or find_name(handler)
        self.event = event
        self.on_error = on_error
        self.timeout = timeout
        self.id = next(_numbers)
        self.locked = False

    @property
    def is_guard(self) -> bool:
        """Whether the operation is denied when this hook fails."""
        return self.on_error == "deny"

    def __lt__(self, other: HookHandler) -> bool:
        return (self.priority, self.id) < (other.priority, other.id)

    def __repr__(self) -> str:
        return f"HookHandler(name={self.name!r}, event={self.event!r}, priority={self.priority})"

    async def execute(self, event: str, data: dict[str, Any]) -> HookResult:
        """Run the handler alone, within its time limit; what it raises goes through."""
        limit = self.timeout
        started = time.monotonic()
        answer = self.handler(event, data)
        if inspect.isawaitable(answer):
            answer = await (answer if limit is None else self._run_within(limit, answer))
        # A hook that blocked the loop could not be interrupted; it is late all the same.
        if limit is not None and time.monotonic() - started > limit:
            raise HookTimeout(f"took longer than {limit:g} s")
        return read_answer(answer)

    async def _run_within(self, limit: float, work: Awaitable[Any]) -> Any:
        started = time.monotonic()
        try:
            return await run_with_timeout(work, limit)
        except TimeoutError as error:
            if time.monotonic() - started < limit:
                raise  # the hook's own, not ours
            raise HookTimeout(str(error)) from None


def read_answer(answer: Any) -> HookResult:
    """The HookResult in what a handler returned; None and dicts are understood."""
    if answer is None:
        return CONTINUE
    if isinstance(answer, dict):
        try:
            answer = HookResult(**answer)
        except (ValidationError, TypeError) as error:
            raise InvalidHookResult(f"returned a dict that is no HookResult: {error}") from error
    if not isinstance(answer, HookResult):
        raise InvalidHookResult(f"returned {type(answer).__name__}, not a HookResult")
    if answer.action == "modify" and not isinstance(answer.data, dict):
        raise InvalidHookResult("answered 'modify' without a dict in data")
    # `model_copy` and `model_construct` go past validation, so nothing of a result is certain.
    if answer.action not in STRONGEST_FIRST:
        raise InvalidHookResult(f"answered the unknown action {answer.action!r}")
    if answer.action == "inject_context" and (problem := find_problem(answer)):
        raise InvalidHookResult(f"wants to inject something that is not text: {problem}")
    return answer


def find_name(handler: Any) -> str:
    """The name of a handler that was registered without one."""
    name = getattr(handler, "__name__", None)
    return name if name and isinstance(name, str) else type(handler).__name__


def check_event(event: Any) -> None:
    """Refuse what cannot be the name of an event."""
    if not isinstance(event, str):
        raise TypeError(f"An event name must be a string, got {event!r}")
    if not event.strip():
        raise ValueError(f"An event name must not be empty, got {event!r}")


def check_priority(priority: Any) -> None:
    """Refuse what cannot be a priority."""
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise TypeError(f"A priority must be an integer, got {priority!r}")


def check_limits(on_error: Any, timeout: Any) -> None:
    """Refuse settings that could not be kept."""
    if on_error not in ("continue", "deny"):
        raise ValueError(f"on_error must be 'continue' or 'deny', got {on_error!r}")
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"A timeout must be a number of seconds, got {timeout!r}")
    if not (math.isfinite(timeout) and timeout > 0):
        raise ValueError(f"A timeout must be positive and finite, got {timeout!r}")


def check_handler(handler: Any) -> None:
    """Refuse what cannot be called; warn of what cannot be called with `(event, data)`."""
    # Nearly every handler is a plain function of two arguments, and asking for its signature
    # costs more than the rest of the registration.
    if type(handler) is FunctionType:
        code = handler.__code__
        if code.co_argcount == 2 and not code.co_kwonlyargcount:
            return
    if not callable(handler):
        raise TypeError(f"A hook handler must be callable, got {handler!r}")
    try:
        signature = inspect.signature(handler)
    except (TypeError, ValueError):
        return  # a builtin that does not tell
    try:
        signature.bind("event", {})
    except TypeError:
        # Not refused: modules register such handlers and never emit their event.
        message = "A hook handler takes (event, data); '%s%s' does not and will fail when called"
        logger.warning(message, find_name(handler), signature)
