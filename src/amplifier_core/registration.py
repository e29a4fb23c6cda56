"""A registration: one handler, its event, its priority and limits, and who observes its calls."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from itertools import count
from types import MethodType
from typing import TYPE_CHECKING, Any, Protocol

from amplifier_core.answers import read_answer
from amplifier_core.errors import HookTimeout
from amplifier_core.hook_counts import HookCounts
from amplifier_core.models import HookResult
from amplifier_core.utils import is_awaitable, run_with_timeout
from amplifier_core.utils.calling import find_name

if TYPE_CHECKING:
    from amplifier_core.handlers import Handler, OnError

logger = logging.getLogger(__name__)

_numbers = count(1)


class HookHandler:
    """One registration. Sorts by priority, then by the order of registration."""

    __slots__ = (
        "advice", "counts", "event", "handler", "has_own_copy", "id", "identity", "locked", "name",
        "on_error", "parallel", "priority", "shadow", "timeout", "traced",
    )  # fmt: skip

    def __init__(
        self,
        handler: Handler,
        priority: int = 0,
        name: str | None = None,
        *,
        event: str = "",
        on_error: OnError = "continue",
        timeout: float | None = None,
        parallel: bool = False,
    ) -> None:
        self.handler = handler
        self.priority = priority
        self.name = name or find_name(handler)
        self.event = event
        # What makes two registrations one handler; a bound method is new at each look.
        self.identity: tuple[int, ...] = (id(handler),)
        if isinstance(handler, MethodType):
            self.identity = (id(handler.__self__), id(handler.__func__))
        self.on_error = on_error
        self.timeout = timeout
        self.id = next(_numbers)
        self.parallel = parallel
        """Whether it only observes, beside others of its kind."""
        self.has_own_copy = self.is_guard or timeout is not None or parallel
        """Whether it gets a copy of the data that no other hook ever holds.

        A guard judges data that no other hook can have changed; a hook that is left behind by its
        time limit, or runs beside others, could change what others see.
        """
        self.locked = False
        """Whether it runs behind all others that may answer, so that none changes what it saw."""
        self.shadow = False
        """Whether what it answers is recorded and has no effect."""
        self.counts = HookCounts()
        self.advice: dict[str, str] = {}
        # The kinds of its failures of which the log has a traceback.
        self.traced: set[type[BaseException]] = set()

    @property
    def is_guard(self) -> bool:
        """Whether the operation is denied when this hook fails."""
        return self.on_error == "deny"

    def __lt__(self, other: HookHandler) -> bool:
        return (self.priority, self.id) < (other.priority, other.id)

    def __repr__(self) -> str:
        return f"HookHandler(name={self.name!r}, event={self.event!r}, priority={self.priority})"

    def advise(self, about: str, advice: str) -> bool:
        """Log what its author should know, once; False if that was done before."""
        if about in self.advice:
            return False
        self.advice[about] = advice
        logger.warning("Hook '%s' on '%s' %s", self.name, self.event, advice)
        return True

    async def execute(self, event: str, data: dict[str, Any]) -> HookResult:
        """Run the handler alone, within its time limit; what it raises goes through."""
        answer = self.call(event, data)
        if is_awaitable(answer):
            answer = await answer
        return read_answer(answer)

    def call(self, event: str, data: dict[str, Any]) -> Any:
        """What the handler returns, which may have to be awaited; within its time limit."""
        if self.timeout is None:
            return self.handler(event, data)
        return self._call_within(self.timeout, event, data)

    async def _call_within(self, limit: float, event: str, data: dict[str, Any]) -> Any:
        started = time.monotonic()
        answer: Any = self.handler(event, data)
        if is_awaitable(answer):
            try:
                answer = await run_with_timeout(answer, limit)
            except TimeoutError as error:
                if time.monotonic() - started < limit:
                    raise  # the hook's own, not ours
                raise HookTimeout(str(error)) from None
        # A hook that blocked the loop could not be interrupted; it is late all the same.
        if time.monotonic() - started > limit:
            raise HookTimeout(f"took longer than {limit:g} s")
        return answer


Follow = Callable[[Awaitable[Any]], Awaitable[Any]]


class Watch(Protocol):
    """Looks on while hooks run, one at a time.

    What `begin` returns, if anything, is given what the hook would have been waited for, and
    returns what to wait for instead: so the observer sees each step of the hook.
    """

    def begin(self, handler: HookHandler) -> Follow | None: ...
    def end(self, handler: HookHandler) -> None: ...
