"""What can go wrong when a model is called.

LLMError
├── RateLimitError              retryable, honours retry_after
├── ProviderUnavailableError    retryable: overloaded, 5xx, connection lost
├── LLMTimeoutError             retryable
├── StreamBrokenError           retryable: the stream ended before the reply did
├── AuthenticationError         the key is missing or refused
├── AccessDeniedError           the key may not use this model
├── NotFoundError               no such model or endpoint
├── InvalidRequestError         the request itself is wrong
│   └── ContextLengthError      too many tokens
├── ContentFilterError          refused by the provider's filter
├── InvalidToolCallError        the model wrote tool arguments that cannot be read
└── AbortError                  the call was cancelled
"""

from __future__ import annotations

from typing import ClassVar


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
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.model = model
        self.status_code = status_code
        self.retryable = self.retryable_by_default if retryable is None else retryable
        self.retry_after = retry_after


class RateLimitError(LLMError):
    """The provider asks to slow down (429)."""

    retryable_by_default = True


class ProviderUnavailableError(LLMError):
    """The provider is overloaded, failing or out of reach (5xx, 529, connection lost)."""

    retryable_by_default = True


class LLMTimeoutError(LLMError):
    """The provider did not answer in time."""

    retryable_by_default = True


class StreamBrokenError(LLMError):
    """The stream ended before the reply did."""

    retryable_by_default = True


class AuthenticationError(LLMError):
    """The key is missing or refused (401)."""


class AccessDeniedError(LLMError):
    """The key is good but may not do this (403)."""


class NotFoundError(LLMError):
    """No such model or endpoint (404)."""


class InvalidRequestError(LLMError):
    """The request itself is wrong (400, 413, 422)."""


class ContextLengthError(InvalidRequestError):
    """The conversation has more tokens than the model takes."""


class ContentFilterError(LLMError):
    """The provider's filter refused the request or the reply."""


class InvalidToolCallError(LLMError):
    """The model wrote tool arguments that cannot be read."""


class AbortError(LLMError):
    """The call was cancelled."""
