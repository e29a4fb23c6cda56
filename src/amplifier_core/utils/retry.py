"""Calling a model again after a failure that may pass, and telling such failures apart."""

from __future__ import annotations

import asyncio
import random
import warnings
from collections.abc import Awaitable, Callable
from typing import TypeVar

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError

T = TypeVar("T")

JITTER = 0.2
"""What `RetryConfig.jitter` reads as when there is any."""

OnRetry = Callable[[int, float, LLMError], Awaitable[None]]


class RetryConfig:
    """How often to call again, and how long to wait before.

    `min_delay`, `backoff_multiplier` and a number as `jitter` are the older way to say it.
    """

    def __init__(
        self,
        max_retries: int = 3,
        initial_delay: float = 1.0,
        max_delay: float = 60.0,
        backoff_factor: float = 2.0,
        jitter: bool | float = True,
        honor_retry_after: bool = True,
        *,
        min_delay: float | None = None,
        backoff_multiplier: float | None = None,
    ) -> None:
        if min_delay is not None:
            _warn_of("min_delay", "initial_delay")
            initial_delay = min_delay
        if backoff_multiplier is not None:
            _warn_of("backoff_multiplier", "backoff_factor")
            backoff_factor = backoff_multiplier
        if not isinstance(jitter, bool):
            _warn_of("a number as jitter", "True or False")
        self.max_retries = max_retries
        self.initial_delay = initial_delay
        self.max_delay = max_delay
        self.backoff_factor = backoff_factor
        self.jitter = JITTER if jitter else 0.0
        self.honor_retry_after = honor_retry_after

    @property
    def min_delay(self) -> float:
        """The older name of `initial_delay`."""
        _warn_of("min_delay", "initial_delay")
        return self.initial_delay

    @property
    def backoff_multiplier(self) -> float:
        """The older name of `backoff_factor`."""
        _warn_of("backoff_multiplier", "backoff_factor")
        return self.backoff_factor

    def compute_delay(self, attempt: int, error: LLMError | None = None) -> float:
        """Seconds to wait after the attempt of this number, counted from 0.

        An error may ask for more than `max_delay`: by its multiplier or its `retry_after`.
        """
        try:
            delay = min(self.initial_delay * self.backoff_factor**attempt, self.max_delay)
        except OverflowError:  # a float ends at some thousand attempts
            delay = self.max_delay
        if error is not None:
            delay *= error.delay_multiplier
        if self.jitter:
            delay *= random.uniform(0.5, 1.5)
        if error is None or error.retry_after is None or not self.honor_retry_after:
            return delay
        return max(delay, error.retry_after)  # after the jitter, so that it shortens no such wish


def _warn_of(old: str, new: str) -> None:
    warnings.warn(f"RetryConfig: {old} is deprecated, use {new}", DeprecationWarning, stacklevel=3)


async def retry_with_backoff(
    operation: Callable[[], Awaitable[T]],
    config: RetryConfig | None = None,
    *,
    on_retry: OnRetry | None = None,
) -> T:
    """Call until it works; an error that is not retryable, or one too many, is raised.

    `on_retry(attempt, delay, error)` is awaited before each wait; attempts count from 1.
    """
    config = config or RetryConfig()
    attempt = 0
    while True:
        try:
            return await operation()
        except LLMError as error:
            if not error.retryable or attempt >= config.max_retries:
                raise
            delay = config.compute_delay(attempt, error)
            attempt += 1
            if on_retry is not None:
                await on_retry(attempt, delay, error)
            await asyncio.sleep(delay)


_BY_STATUS: dict[int, type[LLMError]] = {
    401: llm_errors.AuthenticationError,
    403: llm_errors.AccessDeniedError,
    404: llm_errors.NotFoundError,
    413: llm_errors.ContextLengthError,
    429: llm_errors.RateLimitError,
}
_BY_TEXT: tuple[tuple[tuple[str, ...], type[LLMError]], ...] = (
    (("context length", "too many tokens", "maximum context"), llm_errors.ContextLengthError),
    (("rate limit", "too many requests"), llm_errors.RateLimitError),
    (("authentication", "api key", "unauthorized"), llm_errors.AuthenticationError),
    (("not found",), llm_errors.NotFoundError),
    (("content filter", "safety", "blocked"), llm_errors.ContentFilterError),
)


def classify_error_message(
    message: str, *, status_code: int | None = None, provider: str | None = None
) -> type[LLMError]:
    """The class of error behind a provider's words; a status code counts more than they do.

    `provider` is who said it: so far all of them are read alike.
    """
    if status_code in _BY_STATUS:
        return _BY_STATUS[status_code]
    if status_code is not None and status_code >= 500:
        return llm_errors.ProviderUnavailableError
    words = message.lower()
    for phrases, kind in _BY_TEXT:
        if any(phrase in words for phrase in phrases):
            return kind
    if status_code in (400, 422):
        return llm_errors.InvalidRequestError
    return LLMError
