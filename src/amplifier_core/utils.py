"""Small helpers that belong to no noun."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

SECRET_WORDS = ("api_key", "apikey", "authorization", "credential", "password", "secret", "token")
_HARMLESS_WORDS = ("tokens", "token_count", "tokenizer")


class Clock:
    """ISO 8601 time stamps in UTC, formatted once a millisecond and else handed out again."""

    __slots__ = ("_millisecond", "_now_ns", "_text")

    def __init__(self, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._now_ns = now_ns
        self._millisecond = -1
        self._text = ""

    def now(self) -> str:
        """The time, such as `2026-11-15T21:49:56.290+00:00`."""
        millisecond = self._now_ns() // 1_000_000
        if millisecond != self._millisecond:
            second, rest = divmod(millisecond, 1000)
            whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._text = f"{whole}.{rest:03d}+00:00"
            self._millisecond = millisecond
        return self._text


timestamp = Clock().now


def digest(value: Any) -> str:
    """SHA-256 over a canonical form of any value. Equal values agree; it never raises."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def canonical_bytes(value: Any) -> bytes:
    """One byte string per value: keys sorted, odd values by their type."""
    try:
        text = json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_odd
        )
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(_flattened(value), ensure_ascii=True)
    return text.encode("ascii")


def _odd(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return {"__bytes__": bytes(value).hex()}
    if isinstance(value, set | frozenset):
        return {"__set__": sorted(canonical_bytes(item).decode() for item in value)}
    return {"__object__": type(value).__qualname__, "repr": safe_repr(value)}


def _flattened(value: Any) -> list[str]:
    """Keys of mixed types, cycles and great depth: a walk that notes each step once."""
    steps: list[str] = []
    seen: set[int] = set()
    pending: list[tuple[str, Any]] = [("$", value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, Mapping | list | tuple):
            if id(item) in seen:
                steps.append(f"{path}=seen")
                continue
            seen.add(id(item))
            entries = item.items() if isinstance(item, Mapping) else enumerate(item)
            steps.append(f"{path}={type(item).__name__}:{len(item)}")
            pending.extend((f"{path}/{safe_repr(key)}", entry) for key, entry in entries)
        else:
            steps.append(f"{path}={type(item).__name__}:{safe_repr(item)}")
    return sorted(steps)


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
