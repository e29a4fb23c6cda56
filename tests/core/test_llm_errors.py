"""What can go wrong when a model is called."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.llm_errors import InvalidToolCallError, LLMError, RateLimitError

EVERY: dict[str, type[LLMError]] = {
    name: kind
    for name, kind in vars(llm_errors).items()
    if isinstance(kind, type) and issubclass(kind, LLMError)
}
RETRYABLE = {
    "RateLimitError",
    "ProviderUnavailableError",
    "NetworkError",
    "LLMTimeoutError",
    "StreamError",
    "StreamBrokenError",
}
NOT_RETRYABLE = {
    "LLMError",
    "QuotaExceededError",
    "AuthenticationError",
    "AccessDeniedError",
    "NotFoundError",
    "InvalidRequestError",
    "ContextLengthError",
    "ContentFilterError",
    "AbortError",
    "ConfigurationError",
    "InvalidToolCallError",
}


def test_these_are_all() -> None:
    """A provider finds each kind of failure under its name."""
    assert set(EVERY) == RETRYABLE | NOT_RETRYABLE


@pytest.mark.parametrize("name", sorted(EVERY))
def test_each_says_whether_trying_again_may_help(name: str) -> None:
    """By its class; and a provider that knows better says so."""
    kind = EVERY[name]
    assert kind("x").retryable is (name in RETRYABLE)
    for told in (True, False):
        assert kind("x", retryable=told).retryable is told


@pytest.mark.parametrize("kind", [EVERY[name] for name in sorted(EVERY)])
def test_each_carries_the_facts_and_survives_a_pickle(kind: type[LLMError]) -> None:
    """Errors cross processes with everything they know."""
    facts: dict[str, Any] = {
        "provider": "p",
        "model": "m",
        "status_code": 418,
        "retryable": True,
        "retry_after": 2.5,
        "delay_multiplier": 3.0,
    }
    error = pickle.loads(pickle.dumps(kind("text", **facts)))
    assert type(error) is kind
    assert str(error) == "text"
    assert {name: getattr(error, name) for name in facts} == facts


def test_without_facts_there_are_none() -> None:
    """What the provider did not say is None, and the wait is the usual one."""
    error = LLMError("x")
    assert (error.provider, error.model, error.status_code, error.retry_after) == (None,) * 4
    assert error.delay_multiplier == 1.0


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        ("QuotaExceededError", "RateLimitError"),
        ("NetworkError", "ProviderUnavailableError"),
        ("AccessDeniedError", "AuthenticationError"),
        ("ContextLengthError", "InvalidRequestError"),
    ],
)
def test_some_are_caught_with_their_parents(child: str, parent: str) -> None:
    """Whoever catches the wider kind catches the narrower one."""
    with pytest.raises(EVERY[parent]):
        raise EVERY[child]("x")


def test_a_broken_stream_has_two_names() -> None:
    """Ours, and the one that existing modules use."""
    assert llm_errors.StreamBrokenError is llm_errors.StreamError


def test_its_text_for_programmers_has_all_facts() -> None:
    """In the form of the call that makes it."""
    error = RateLimitError(
        "text", provider="p", model="m", status_code=429, retry_after=5.0, delay_multiplier=10.0
    )
    assert repr(error) == (
        "RateLimitError('text', provider='p', model='m', status_code=429, retryable=True, "
        "retry_after=5.0, delay_multiplier=10.0)"
    )


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({}, "LLMError('x')"),
        ({"retryable": True}, "LLMError('x', retryable=True)"),
        ({"retry_after": 0.0}, "LLMError('x', retry_after=0.0)"),
        ({"retry_after": 1.0}, "LLMError('x', retry_after=1.0)"),
    ],
)
def test_what_is_as_usual_is_left_out(facts: dict[str, Any], text: str) -> None:
    """A short error has a short text."""
    assert repr(LLMError("x", **facts)) == text


def test_a_tool_call_that_cannot_be_read_is_kept() -> None:
    """The tool that was meant, and what the model wrote."""
    error = InvalidToolCallError("cut off", tool_name="Write", raw_arguments='{"a": ', model="m")
    assert (error.tool_name, error.raw_arguments, error.model) == ("Write", '{"a": ', "m")
    bare = InvalidToolCallError("cut off")
    assert (bare.tool_name, bare.raw_arguments) == (None, None)
