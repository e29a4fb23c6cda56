"""Errors of models, calling again, and helpers for logs, as provider modules use them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core import llm_errors, utils
from amplifier_core.llm_errors import InvalidToolCallError, LLMError, RateLimitError
from amplifier_core.utils import retry, truncate
from amplifier_core.utils.retry import RetryConfig, classify_error_message, retry_with_backoff

PARENTS = {
    "QuotaExceededError": "RateLimitError",
    "NetworkError": "ProviderUnavailableError",
    "AccessDeniedError": "AuthenticationError",
}
RETRYABLE = ["RateLimitError", "ProviderUnavailableError", "NetworkError", "LLMTimeoutError",
             "StreamError"]  # fmt: skip
NOT_RETRYABLE = ["LLMError", "QuotaExceededError", "AuthenticationError", "AccessDeniedError",
                 "NotFoundError", "InvalidRequestError", "ContextLengthError",
                 "ContentFilterError", "AbortError", "ConfigurationError",
                 "InvalidToolCallError"]  # fmt: skip


# The tree


@pytest.mark.parametrize("name", RETRYABLE + NOT_RETRYABLE)
def test_an_error_carries_what_is_known(name: str) -> None:
    """By keyword, behind the message; whether it may be retried is its own, unless it is told."""
    kind = getattr(llm_errors, name)
    error = kind("text", provider="p", model="m", status_code=429, retry_after=5.0)
    assert isinstance(error, LLMError)
    assert (str(error), error.provider, error.model) == ("text", "p", "m")
    assert (error.status_code, error.retry_after, error.delay_multiplier) == (429, 5.0, 1.0)
    assert error.retryable is (name in RETRYABLE)
    assert kind("text", retryable=name not in RETRYABLE).retryable is (name not in RETRYABLE)
    assert kind("text", delay_multiplier=2.0).delay_multiplier == 2.0
    with pytest.raises(TypeError):
        kind("text", "p")


def test_what_is_not_said_is_none() -> None:
    error = LLMError("text")
    assert (error.provider, error.model, error.status_code, error.retry_after) == (None,) * 4


@pytest.mark.parametrize(("child", "parent"), PARENTS.items())
def test_some_errors_are_children_of_others(child: str, parent: str) -> None:
    assert issubclass(getattr(llm_errors, child), getattr(llm_errors, parent))


def test_a_broken_stream_has_our_name_too() -> None:
    assert llm_errors.StreamBrokenError is llm_errors.StreamError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            RateLimitError("text", provider="p", model="m", status_code=429, retry_after=5.0,
                           delay_multiplier=10.0),
            "RateLimitError('text', provider='p', model='m', status_code=429, retryable=True, "
            "retry_after=5.0, delay_multiplier=10.0)",
        ),
        (LLMError("text"), "LLMError('text')"),
        (RateLimitError("text"), "RateLimitError('text', retryable=True)"),
        (RateLimitError("text", retryable=False), "RateLimitError('text')"),
    ],
)  # fmt: skip
def test_an_error_shows_what_is_not_usual(error: LLMError, text: str) -> None:
    assert repr(error) == text


def test_a_call_that_cannot_be_read_is_kept_with_its_error() -> None:
    error = InvalidToolCallError("text", tool_name="Bash", raw_arguments="{", provider="p")
    assert (error.tool_name, error.raw_arguments, error.provider) == ("Bash", "{", "p")
    bare = InvalidToolCallError("text")
    assert (bare.tool_name, bare.raw_arguments) == (None, None)


# Waiting


def test_the_usual_settings() -> None:
    config = RetryConfig()
    assert (config.max_retries, config.initial_delay, config.max_delay) == (3, 1.0, 60.0)
    assert (config.backoff_factor, config.honor_retry_after) == (2.0, True)
    assert RetryConfig(5, 0.5, 30.0, 3.0, False, False).backoff_factor == 3.0


@pytest.mark.parametrize(("jitter", "read"), [(True, 0.2), (False, 0.0)])
def test_jitter_reads_as_a_number(jitter: bool, read: float) -> None:
    assert RetryConfig(jitter=jitter).jitter == read


@pytest.mark.parametrize(
    ("old", "name", "value"),
    [
        ({"min_delay": 0.5}, "initial_delay", 0.5),
        ({"backoff_multiplier": 3.0}, "backoff_factor", 3.0),
        ({"jitter": 0.3}, "jitter", 0.2),
        ({"jitter": 0.0}, "jitter", 0.0),
    ],
)
def test_older_settings_are_deprecated(old: dict[str, Any], name: str, value: float) -> None:
    with pytest.warns(DeprecationWarning, match="deprecated"):
        assert getattr(RetryConfig(**old), name) == value


class Waits:
    """Replaces the clock: notes how long one would have waited."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds: list[float] = []
        monkeypatch.setattr(asyncio, "sleep", self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    return Waits(monkeypatch)


def failing(*errors: Exception) -> Any:
    waiting = list(errors)

    async def operation() -> str:
        if waiting:
            raise waiting.pop(0)
        return "done"

    return operation


async def test_the_wait_doubles_and_is_capped(waits: Waits) -> None:
    """From the initial delay, by the factor, attempt by attempt."""
    config = RetryConfig(max_retries=4, initial_delay=10.0, jitter=False)
    assert await retry_with_backoff(failing(*[RateLimitError("x")] * 4), config) == "done"
    assert waits.seconds == [10.0, 20.0, 40.0, 60.0]


@pytest.mark.parametrize(
    ("facts", "honour", "seconds"),
    [
        ({"delay_multiplier": 10.0}, True, 100.0),
        ({"retry_after": 90.0}, True, 90.0),
        ({"retry_after": 90.0}, False, 10.0),
        ({"retry_after": 2.0}, True, 10.0),
    ],
)
async def test_the_error_may_ask_for_more_than_the_cap(
    waits: Waits, facts: dict[str, Any], honour: bool, seconds: float
) -> None:
    config = RetryConfig(initial_delay=10.0, max_delay=60.0, jitter=False, honor_retry_after=honour)
    await retry_with_backoff(failing(RateLimitError("x", **facts)), config)
    assert waits.seconds == [seconds]


async def test_jitter_is_half_to_one_and_a_half(waits: Waits) -> None:
    config = RetryConfig(max_retries=200, initial_delay=10.0, max_delay=10.0)
    await retry_with_backoff(failing(*[RateLimitError("x")] * 200), config)
    assert 5.0 <= min(waits.seconds) < 8.0
    assert 12.0 < max(waits.seconds) <= 15.0


async def test_jitter_does_not_shorten_what_the_provider_asks_for(waits: Waits) -> None:
    config = RetryConfig(max_retries=50, initial_delay=1.0)
    await retry_with_backoff(failing(*[RateLimitError("x", retry_after=90.0)] * 50), config)
    assert set(waits.seconds) == {90.0}


async def test_a_retry_is_told_before_the_wait(waits: Waits) -> None:
    """Attempts count from 1; the error is the one that was raised."""
    told: list[tuple[int, float, LLMError]] = []
    error = RateLimitError("x")

    async def tell(attempt: int, delay: float, error: LLMError) -> None:
        assert len(waits.seconds) == attempt - 1
        told.append((attempt, delay, error))

    config = RetryConfig(jitter=False)
    assert await retry_with_backoff(failing(error, error), config, on_retry=tell) == "done"
    assert told == [(1, 1.0, error), (2, 2.0, error)]


async def test_after_the_last_retry_the_last_error_is_raised(waits: Waits) -> None:
    errors = [RateLimitError(str(number)) for number in range(9)]
    with pytest.raises(RateLimitError, match="3"):
        await retry_with_backoff(failing(*errors))
    assert len(waits.seconds) == 3


@pytest.mark.parametrize("error", [LLMError("no"), ValueError("no")])
async def test_only_what_may_pass_is_retried(waits: Waits, error: Exception) -> None:
    with pytest.raises(type(error)):
        await retry_with_backoff(failing(error))
    assert waits.seconds == []


# Telling errors apart


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (401, "AuthenticationError"),
        (403, "AccessDeniedError"),
        (404, "NotFoundError"),
        (413, "ContextLengthError"),
        (429, "RateLimitError"),
        (500, "ProviderUnavailableError"),
        (503, "ProviderUnavailableError"),
        (400, "InvalidRequestError"),
        (422, "InvalidRequestError"),
        (418, "LLMError"),
        (None, "LLMError"),
    ],
)
def test_a_status_code_names_a_class(status: int | None, name: str) -> None:
    found = classify_error_message("odd", status_code=status, provider="p")
    assert found is getattr(llm_errors, name)


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Context length exceeded", "ContextLengthError"),
        ("too many tokens", "ContextLengthError"),
        ("the maximum context is 8k", "ContextLengthError"),
        ("Rate limit reached", "RateLimitError"),
        ("too many requests", "RateLimitError"),
        ("authentication failed", "AuthenticationError"),
        ("bad API key", "AuthenticationError"),
        ("Unauthorized", "AuthenticationError"),
        ("model not found", "NotFoundError"),
        ("content filter", "ContentFilterError"),
        ("safety", "ContentFilterError"),
        ("blocked", "ContentFilterError"),
    ],
)
@pytest.mark.parametrize("status", [None, 400, 422])
def test_otherwise_words_name_it(message: str, name: str, status: int | None) -> None:
    assert classify_error_message(message, status_code=status) is getattr(llm_errors, name)


def test_words_are_read_in_one_order() -> None:
    """Each line names the class of its first phrase."""
    phrases = ["maximum context", "rate limit", "api key", "not found", "blocked"]
    names = ["ContextLength", "RateLimit", "Authentication", "NotFound", "ContentFilter"]
    for start, name in enumerate(names):
        message = " ".join(reversed(phrases[start:]))
        assert classify_error_message(message) is getattr(llm_errors, f"{name}Error")


# Helpers


def test_the_helpers_are_found_in_the_package_and_below() -> None:
    """`utils` is a package, and its `retry` is a module."""
    for name in ("truncate_values", "redact_secrets", "SENSITIVE_KEYS"):
        assert getattr(utils, name) is getattr(truncate, name)
    assert utils.retry is retry
    assert type(truncate.SENSITIVE_KEYS) is frozenset


def test_long_texts_are_cut() -> None:
    cut = truncate.truncate_values({"a": ["x" * 200, "y" * 180, 5]})
    assert cut == {"a": ["x" * 180 + "... (truncated 20 chars)", "y" * 180, 5]}
    assert truncate.truncate_values("abc", max_length=1) == "a... (truncated 2 chars)"


def test_values_of_sensitive_keys_are_masked_in_any_case() -> None:
    given = {"API_KEY": "k", "list": [{"password": {"a": 1}}], "other": "x"}
    masked = {"API_KEY": "[REDACTED]", "list": [{"password": "[REDACTED]"}], "other": "x"}
    assert truncate.redact_secrets(given) == masked
    assert truncate.redact_secrets({"Pin": 1, "password": 2}, {"pin"}) == {
        "Pin": "[REDACTED]",
        "password": 2,
    }
