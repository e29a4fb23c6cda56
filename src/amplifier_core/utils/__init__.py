"""Small helpers that belong to no noun."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from functools import partial
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")

SECRET_WORDS = ("api_key", "apikey", "authorization", "credential", "password", "secret", "token")
_HARMLESS_WORDS = ("tokens", "token_count", "tokenizer")


def clock(now_ns: Callable[[], int] = time.time_ns) -> Callable[[], str]:
    """A function that tells the time, such as `2026-11-15T21:49:56.290+00:00`.

    The text is formatted once a millisecond and else handed out again.
    """
    told, text = -1, ""

    def now() -> str:
        nonlocal told, text
        millisecond = now_ns() // 1_000_000
        if millisecond != told:
            second, rest = divmod(millisecond, 1000)
            whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            text = f"{whole}.{rest:03d}+00:00"
            told = millisecond
        return text

    return now


timestamp = clock()


def digest(value: Any) -> str:
    """SHA-256 over a canonical form of any value. Equal values agree; it never raises."""
    import hashlib

    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def canonical_bytes(value: Any) -> bytes:
    """One byte string per value: keys sorted, odd values by their type."""
    import json

    try:
        text = json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_odd
        )
    except Exception:  # noqa: BLE001 - mixed keys, cycles, great depth, classes that raise
        text = json.dumps(_flattened(value), ensure_ascii=True)
    return text.encode("ascii")


def _odd(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return {"__bytes__": bytes(value).hex()}
    if isinstance(value, set | frozenset):
        return {"__set__": sorted(canonical_bytes(item).decode() for item in value)}
    return {"__object__": type(value).__qualname__, "repr": safe_repr(value)}


def _flattened(value: Any) -> list[str]:
    """A walk over containers that numbers each one and notes each step once."""
    steps: list[str] = []
    numbers: dict[int, int] = {}
    pending: list[tuple[str, Any]] = [("$", value)]
    while pending:
        place, item = pending.pop()
        if not isinstance(item, dict | list | tuple):
            steps.append(f"{place}={type(item).__name__}:{_leaf(item)}")
        elif id(item) in numbers:
            steps.append(f"{place}=#{numbers[id(item)]}")
        else:
            number = numbers[id(item)] = len(numbers)
            entries = _sorted_entries(item)
            steps.append(f"{place}=#{number}:{type(item).__name__}:{len(entries)}")
            pending.extend((f"#{number}/{key}", entry) for key, entry in entries)
    return steps


def _sorted_entries(item: Any) -> list[tuple[str, Any]]:
    if not isinstance(item, dict):
        base = list if isinstance(item, list) else tuple
        return [(str(index), entry) for index, entry in enumerate(base.__iter__(item))]
    return sorted(
        ((f"{type(key).__name__}:{_leaf(key)}", entry) for key, entry in dict.items(item)),
        key=lambda pair: pair[0],
    )


def _leaf(value: Any) -> str:
    if isinstance(value, int):
        return hex(value)  # a repr of more than 4,300 digits is refused
    if isinstance(value, set | frozenset):
        return str(sorted(map(safe_repr, value)))
    return safe_repr(value)


def safe_repr(value: Any) -> str:
    """`repr` of values that may refuse it."""
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - a repr may raise anything
        return f"<{type(value).__name__} whose repr raised {type(error).__name__}>"


def describe_error(error: BaseException) -> str:
    """`Type: message` of exceptions that may refuse to be printed."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a str may raise anything
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def redact_secrets(value: Any, mask: str = "[REDACTED]") -> Any:
    """A copy with the values behind telling key names masked."""
    if isinstance(value, Mapping):
        return {
            key: mask if _is_secret(key) and entry else redact_secrets(entry, mask)
            for key, entry in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact_secrets(entry, mask) for entry in value]
    return value


def _is_secret(key: Any) -> bool:
    name = str(key).lower().replace("-", "_")
    return any(word in name for word in SECRET_WORDS) and not name.endswith(_HARMLESS_WORDS)


class Done:
    """Nothing, for those who await a call and for those who do not."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


DONE = Done()
"""What a call returns that has nothing to say and nothing left to do."""


STOP_ATTEMPTS = 3
"""How often work over its time is cancelled before it is left behind."""

STOP_GRACE = 0.2
"""Seconds between those attempts."""


async def run_with_timeout(work: Awaitable[T], seconds: float | None) -> T:
    """The outcome of foreign work, which can neither hang nor cancel whoever waits for it.

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
        raise RuntimeError("it cancelled itself")
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
    """Nobody waits for stopped work any more, so asyncio would complain of its exception."""
    if not task.cancelled():
        task.exception()


async def retry(
    call: Callable[[], Awaitable[T]],
    *,
    attempts: int = 3,
    delay: float = 1.0,
    factor: float = 2.0,
    max_delay: float = 60.0,
    retryable: Callable[[Exception], bool] = lambda error: getattr(error, "retryable", False),
    on_retry: Callable[[int, float, Exception], Awaitable[None]] | None = None,
) -> T:
    """Call until it works, waiting longer each time; a `retry_after` on the error is honoured."""
    for attempt in range(1, attempts + 1):
        try:
            return await call()
        except Exception as error:
            if attempt == attempts or not retryable(error):
                raise
            wait = getattr(error, "retry_after", None)
            pause = min(max_delay, delay * factor ** (attempt - 1) if wait is None else wait)
            if on_retry is not None:
                await on_retry(attempt, pause, error)
            await asyncio.sleep(pause)
    raise ValueError(f"attempts must be at least 1, got {attempts}")
