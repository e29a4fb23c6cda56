"""Errors of calls to a model.

LLMError
├── RateLimitError              retryable, may carry retry_after
│   └── QuotaExceededError      waiting does not help: the account has none left
├── ProviderUnavailableError    retryable: overloaded or failing (5xx)
│   └── NetworkError            retryable: out of reach, connection lost
├── LLMTimeoutError             retryable
├── StreamError                 retryable: the stream ended before the reply did
├── AuthenticationError         the key is missing or refused
│   └── AccessDeniedError       the key may not do this
├── NotFoundError               no such model or endpoint
├── InvalidRequestError         the request itself is wrong
│   └── ContextLengthError      too many tokens
├── ContentFilterError          refused by the provider's filter
├── ConfigurationError          the provider is set up wrongly
├── InvalidToolCallError        the model wrote tool arguments that cannot be read
└── AbortError                  the call was cancelled
"""

from __future__ import annotations

from typing import Any, ClassVar


class LLMError(Exception):
    """Root of all provider failures; `retryable` says whether trying again can help."""

    retryable_by_default: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        provider: str | None = None,
        model: str | None = None,
        status_code: int | None = None,
        retryable: bool | None = None,
        retry_after: float | None = None,
        delay_multiplier: float = 1.0,
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.model = model
        self.status_code = status_code
        self.retryable = self.retryable_by_default if retryable is None else retryable
        self.retry_after = retry_after
        self.delay_multiplier = delay_multiplier

    def __repr__(self) -> str:
        facts: dict[str, Any] = {
            "provider": self.provider,
            "model": self.model,
            "status_code": self.status_code,
            "retryable": self.retryable or None,
            "retry_after": self.retry_after,
            "delay_multiplier": None if self.delay_multiplier == 1.0 else self.delay_multiplier,
        }
        given = [f"{name}={value!r}" for name, value in facts.items() if value is not None]
        return f"{type(self).__name__}({', '.join([repr(str(self)), *given])})"


class RateLimitError(LLMError):
    """The provider asks to slow down (429)."""

    retryable_by_default = True


class QuotaExceededError(RateLimitError):
    """The account has used up what it may; waiting a moment does not help."""

    retryable_by_default = False


class ProviderUnavailableError(LLMError):
    """The provider is overloaded or failing (5xx)."""

    retryable_by_default = True


class NetworkError(ProviderUnavailableError):
    """The provider is out of reach, or the connection was lost."""


class LLMTimeoutError(LLMError):
    """The provider did not answer in time."""

    retryable_by_default = True


class StreamError(LLMError):
    """The stream ended before the reply did."""

    retryable_by_default = True


StreamBrokenError = StreamError


class AuthenticationError(LLMError):
    """The key is missing or refused (401)."""


class AccessDeniedError(AuthenticationError):
    """The key is good but may not do this (403)."""


class NotFoundError(LLMError):
    """No such model or endpoint (404)."""


class InvalidRequestError(LLMError):
    """The request itself is wrong (400, 422)."""


class ContextLengthError(InvalidRequestError):
    """The conversation has more tokens than the model takes."""


class ContentFilterError(LLMError):
    """The provider's filter refused the request or the reply."""


class ConfigurationError(LLMError):
    """The provider is set up wrongly: an option, an endpoint, a missing package."""


class InvalidToolCallError(LLMError):
    """The model wrote tool arguments that cannot be read."""

    def __init__(
        self,
        message: str,
        *,
        tool_name: str | None = None,
        raw_arguments: str | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(message, **facts)
        self.tool_name = tool_name
        self.raw_arguments = raw_arguments


class AbortError(LLMError):
    """The call was cancelled."""
