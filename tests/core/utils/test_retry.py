"""Calling a model again after a failure that may pass."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import llm_errors
from amplifier_core.llm_errors import AuthenticationError, LLMError, RateLimitError
from amplifier_core.utils.retry import RetryConfig, classify_error_message, retry_with_backoff

AT_ONCE = RetryConfig(initial_delay=0.0, jitter=False)


class Flaky:
    """An operation that fails as it is told to, then works."""

    def __init__(self, *failures: BaseException) -> None:
        self.failures = list(failures)
        self.calls = 0
        self.retries: list[tuple[int, float, LLMError]] = []

    async def __call__(self) -> str:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return "done"

    async def note(self, attempt: int, delay: float, error: LLMError) -> None:
        self.retries.append((attempt, delay, error))


def test_without_settings_there_are_three_retries_and_a_minute_at_most() -> None:
    """The usual settings."""
    config = RetryConfig()
    assert (config.max_retries, config.initial_delay, config.max_delay) == (3, 1.0, 60.0)
    assert (config.backoff_factor, config.jitter, config.honor_retry_after) == (2.0, 0.2, True)
    assert RetryConfig(jitter=False).jitter == 0.0


@pytest.mark.parametrize(
    ("old", "attribute", "value"),
    [
        ({"min_delay": 0.5}, "initial_delay", 0.5),
        ({"backoff_multiplier": 3.0}, "backoff_factor", 3.0),
        ({"jitter": 0.5}, "jitter", 0.2),
        ({"jitter": 0.0}, "jitter", 0.0),
    ],
)
def test_older_ways_to_say_it_are_understood_with_a_warning(
    old: dict[str, Any], attribute: str, value: float
) -> None:
    """Modules written for an older kernel run, and their authors are told."""
    with pytest.warns(DeprecationWarning, match="is deprecated, use"):
        config = RetryConfig(**old)
    assert getattr(config, attribute) == value


@pytest.mark.parametrize(("old", "value"), [("min_delay", 1.0), ("backoff_multiplier", 2.0)])
def test_older_names_can_be_read_with_a_warning(old: str, value: float) -> None:
    """They are what the newer ones are."""
    with pytest.warns(DeprecationWarning, match=f"{old} is deprecated, use"):
        assert getattr(RetryConfig(), old) == value


@pytest.mark.parametrize(
    ("attempt", "facts", "seconds"),
    [
        (0, {}, 1.0),
        (3, {}, 8.0),
        (10, {}, 60.0),
        (5_000, {}, 60.0),
        (0, {"delay_multiplier": 10.0}, 10.0),
        (10, {"delay_multiplier": 10.0}, 600.0),
        (0, {"retry_after": 90.0}, 90.0),
        (3, {"retry_after": 2.0}, 8.0),
        (0, {"retry_after": 0.0}, 1.0),
    ],
)
def test_the_wait_grows_to_a_limit_that_only_the_error_may_pass(
    attempt: int, facts: dict[str, Any], seconds: float
) -> None:
    """The provider knows best how long it is overloaded."""
    config = RetryConfig(jitter=False)
    assert config.compute_delay(attempt, RateLimitError("slow down", **facts)) == seconds


def test_without_an_error_the_wait_is_the_usual_one() -> None:
    """The multiplier and the wish of an error need an error."""
    assert RetryConfig(jitter=False).compute_delay(2) == 4.0


def test_the_wish_of_a_provider_can_be_ignored() -> None:
    """`honor_retry_after=False` waits as long as the settings say."""
    config = RetryConfig(jitter=False, honor_retry_after=False)
    assert config.compute_delay(0, RateLimitError("x", retry_after=90.0)) == 1.0


@given(attempt=st.integers(0, 20), after=st.none() | st.floats(0, 100))
def test_jitter_spreads_the_wait_and_never_cuts_the_providers_wish(
    attempt: int, after: float | None
) -> None:
    """Half to one and a half of the wait; a provider that said when is not asked earlier."""
    plain = RetryConfig(jitter=False).compute_delay(attempt)
    delay = RetryConfig().compute_delay(attempt, RateLimitError("x", retry_after=after))
    assert max(plain * 0.5, after or 0.0) <= delay <= max(plain * 1.5, after or 0.0)


async def test_it_is_called_until_it_works() -> None:
    """Attempts are told from 1, each before its wait."""
    first, second = RateLimitError("one"), llm_errors.NetworkError("two", retry_after=0.001)
    flaky = Flaky(first, second)
    assert await retry_with_backoff(flaky, AT_ONCE, on_retry=flaky.note) == "done"
    assert flaky.retries == [(1, 0.0, first), (2, 0.001, second)]
    assert flaky.calls == 3


@pytest.mark.parametrize("retries", [0, 1, 3])
async def test_the_last_error_is_raised(retries: int) -> None:
    """The number of retries does not count the first call."""
    errors = [RateLimitError(str(number)) for number in range(9)]
    flaky = Flaky(*errors)
    config = RetryConfig(max_retries=retries, initial_delay=0.0)
    with pytest.raises(RateLimitError) as caught:
        await retry_with_backoff(flaky, config)
    assert caught.value is errors[retries]
    assert flaky.calls == retries + 1


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationError("no"),
        RateLimitError("no", retryable=False),
        ValueError("not of the model"),
        asyncio.CancelledError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_will_not_pass_is_raised_at_once(error: BaseException) -> None:
    """Only an LLMError that calls itself retryable is tried again."""
    flaky = Flaky(error)
    with pytest.raises(type(error)):
        await retry_with_backoff(flaky, on_retry=flaky.note)
    assert (flaky.calls, flaky.retries) == (1, [])


async def test_an_error_may_say_for_itself_that_it_will_pass() -> None:
    """`retryable=` on the error counts more than its class."""
    flaky = Flaky(AuthenticationError("the key is being rotated", retryable=True))
    assert await retry_with_backoff(flaky, AT_ONCE) == "done"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, llm_errors.AuthenticationError),
        (403, llm_errors.AccessDeniedError),
        (404, llm_errors.NotFoundError),
        (413, llm_errors.ContextLengthError),
        (429, llm_errors.RateLimitError),
        (500, llm_errors.ProviderUnavailableError),
        (529, llm_errors.ProviderUnavailableError),
        (400, llm_errors.InvalidRequestError),
        (422, llm_errors.InvalidRequestError),
        (302, llm_errors.LLMError),
        (None, llm_errors.LLMError),
    ],
)
def test_a_status_code_names_the_class(status: int | None, kind: type[LLMError]) -> None:
    """Where the words are of no help."""
    assert classify_error_message("hm", status_code=status, provider="p") is kind


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("This model's maximum context is 8k", llm_errors.ContextLengthError),
        ("TOO MANY TOKENS, and a rate limit", llm_errors.ContextLengthError),
        ("Rate limit reached for this api key", llm_errors.RateLimitError),
        ("Too many requests", llm_errors.RateLimitError),
        ("Unauthorized: no such model was not found", llm_errors.AuthenticationError),
        ("wrong API key", llm_errors.AuthenticationError),
        ("The model was not found", llm_errors.NotFoundError),
        ("blocked by our safety system", llm_errors.ContentFilterError),
        ("something else", llm_errors.LLMError),
    ],
)
@pytest.mark.parametrize("status", [None, 400])
def test_otherwise_the_words_do(message: str, kind: type[LLMError], status: int | None) -> None:
    """The first that fits, in an order of its own; a 400 alone says little."""
    expected = llm_errors.InvalidRequestError if status and kind is LLMError else kind
    assert classify_error_message(message, status_code=status) is expected


def test_a_status_code_counts_more_than_words() -> None:
    """Words are written for people, codes for programs."""
    assert classify_error_message("rate limit", status_code=401) is llm_errors.AuthenticationError
