"""Calling functions of other authors: what they take, and waiting for what they return."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Generator, Iterable
from functools import lru_cache, partial
from types import CoroutineType, FunctionType, MethodType
from typing import Any, TypeGuard, TypeVar, cast

from amplifier_core.utils.text import safe_repr


def list_parameters(function: Any) -> frozenset[str] | None:
    """The names of what it takes, `**` for any; None if it does not tell."""
    # A bound method is a new object at each look; its function is not.
    return _list_parameters(getattr(function, "__func__", function))


@lru_cache(maxsize=256)
def _list_parameters(function: Any) -> frozenset[str] | None:
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    names = {one.name for one in found}
    return frozenset(names | {"**" for one in found if one.kind is one.VAR_KEYWORD})


def find_name(function: Any) -> str:
    """The name of a function; of an object that can be called, its class's."""
    name = getattr(function, "__name__", None)
    if name and isinstance(name, str):
        return name
    return type(function).__name__


def find_signature_problem(handler: Any) -> str | None:
    """Why a hook handler will fail when it is called with `(event, data)`; None if it will not."""
    if not callable(handler):
        hint = f"; a priority is given by name, priority={handler}" if type(handler) is int else ""
        raise TypeError(f"A hook handler must be callable, got {handler!r}{hint}")
    bound = isinstance(handler, MethodType)
    function = handler.__func__ if bound else handler
    if isinstance(function, FunctionType):
        code = function.__code__
        if code.co_argcount == 2 + bound and not code.co_kwonlyargcount:
            return None  # whatever a decorator says that it wraps
    try:
        signature = _read_signature(handler)
    except (TypeError, ValueError):
        return None  # a builtin that does not tell
    try:
        signature.bind("event", {})
    except TypeError:
        taken = f"{find_name(handler)}{signature}"
        return f"must take (event, data); '{taken}' does not and fails whenever it is called"
    return None


def _read_signature(handler: Any) -> inspect.Signature:
    """Of an object that can be called, that of its `__call__`.

    Before Python 3.13, `inspect.signature` takes a static or class method there for a plain one.
    """
    told = hasattr(handler, "__signature__") or hasattr(handler, "__wrapped__")
    if told or inspect.isroutine(handler) or isinstance(handler, type | partial):
        return inspect.signature(handler)
    return inspect.signature(handler.__call__)


def check_has(what: str, thing: Any, *either: str) -> None:
    """Refuse an object that has none of these methods, and a class instead of an object."""
    if thing is None or type(thing) is object:  # a placeholder of somebody's tests
        return
    if isinstance(thing, type):
        raise TypeError(f"{what} is an object, got the class itself: use {thing.__name__}(...)")
    if not any(callable(getattr(thing, name, None)) for name in either):
        needed = " or ".join(f"{name}(...)" for name in either)
        raise TypeError(f"{what} needs a method {needed}; {safe_repr(thing)} has none")


logger = logging.getLogger(__name__)

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds for a call of foreign code that has no limit of its own: a display, a clean-up …"""

STOP_ATTEMPTS = 3
"""How often work over its time is cancelled before it is left behind."""

STOP_GRACE = 0.2
"""Seconds between those attempts."""


def is_awaitable(value: Any) -> TypeGuard[Awaitable[Any]]:
    """Whether a call returned something to wait for."""
    # `isawaitable` goes through an abstract base class, which costs more than most calls.
    return type(value) is CoroutineType or inspect.isawaitable(value)


async def resolve(value: Any, seconds: float | None = None) -> Any:
    """What a call of foreign code returned, waited for if it has to be, for so long at most."""
    if not is_awaitable(value):
        return value
    return await (value if seconds is None else run_with_timeout(value, seconds))


class CancelledItself(RuntimeError):
    """Awaited work ended as cancelled although it was not cancelled from outside."""


async def run_with_timeout(work: Awaitable[T], seconds: float | None) -> T:
    """The outcome of foreign work, which can neither hang nor cancel its caller.

    TimeoutError when it takes longer; what does not stop then is left behind.
    """
    task = asyncio.ensure_future(work)
    # What asyncio.wait does, without its two frames: thousands of approvals may be waiting here.
    loop = task.get_loop()
    waiter = loop.create_future()
    wake = partial(_wake, waiter)
    task.add_done_callback(wake)
    timer = None if seconds is None else loop.call_later(seconds, wake)
    try:
        await waiter
    finally:
        if timer is not None:
            timer.cancel()
        task.remove_done_callback(wake)
        in_time = task.done()
        if not in_time:
            await cancel_and_wait(task)
    if not in_time:
        raise TimeoutError(f"took longer than {seconds:g} s")
    if task.cancelled():
        raise CancelledItself("it cancelled itself")
    return task.result()


def _wake(waiter: asyncio.Future[None], _done: Any = None) -> None:
    if not waiter.done():
        waiter.set_result(None)


async def cancel_and_wait(task: asyncio.Future[Any]) -> bool:
    """Cancel until it ends; False, and a line in the log, if it does not."""
    task.add_done_callback(_look_at_outcome)
    for attempt in range(STOP_ATTEMPTS + 1):
        task.cancel()
        # Most work ends at once, and then the first round costs no timer.
        await (asyncio.wait({task}, timeout=STOP_GRACE) if attempt else asyncio.sleep(0))
        if task.done():
            return True
    logger.error(
        "Work that was over its time ignores its cancellation and is left behind: %r", task
    )
    return False


def _look_at_outcome(task: asyncio.Future[Any]) -> None:
    """Retrieve the exception of abandoned work, so that asyncio does not complain."""
    if not task.cancelled():
        task.exception()


async def run_each(
    callbacks: Iterable[Callable[[], Any]], report: Callable[[Exception], None]
) -> None:
    """Run every callback, whatever one of them raises or however long it would take.

    What is more than an error, such as KeyboardInterrupt, is raised again after the last.
    """
    interruption: BaseException | None = None
    for callback in callbacks:
        try:
            result = callback()
            if is_awaitable(result):
                found = await run_with_timeout(_catch_interruption(result), PATIENCE)
                interruption = interruption or found
        except Exception as error:  # noqa: BLE001 - reported, and the next one has its turn
            report(error)
        except BaseException as error:  # noqa: BLE001 - raised again below
            interruption = interruption or error
    if interruption is not None:
        raise interruption


async def _catch_interruption(work: Awaitable[Any]) -> BaseException | None:
    """An interruption that leaves a task ends its loop, before the next callback has its turn."""
    try:
        await work
    except (KeyboardInterrupt, SystemExit) as error:
        return error
    return None


get_current_task = cast("Callable[[], asyncio.Task[Any]]", asyncio.current_task)
"""The running task; coroutines always have one."""


def is_being_cancelled() -> bool:
    """Whether the running task is being cancelled; a CancelledError may also be a callee's own."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


class Done:
    """Nothing, for those who await a call and for those who do not."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


DONE = Done()
"""What a call returns that has nothing to say and nothing left to do."""
