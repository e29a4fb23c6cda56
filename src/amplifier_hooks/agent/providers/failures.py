"""Translating what the official SDKs raise into our own errors.

Both SDKs give their exceptions the same names and attributes, so one translation does for both.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any

from amplifier_core.llm_errors import (
    AccessDeniedError,
    AuthenticationError,
    ContentFilterError,
    ContextLengthError,
    InvalidRequestError,
    LLMError,
    LLMTimeoutError,
    NotFoundError,
    ProviderUnavailableError,
    RateLimitError,
    StreamBrokenError,
)

_BY_STATUS: dict[int, type[LLMError]] = {
    401: AuthenticationError,
    402: AccessDeniedError,
    403: AccessDeniedError,
    404: NotFoundError,
    408: LLMTimeoutError,
    409: ProviderUnavailableError,
    429: RateLimitError,
}
# Errors inside a stream come with status 200; what they are is only in their body.
_STATUS_BY_WORD = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "timeout_error": 504,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "overloaded_error": 529,
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "context_length_exceeded": 400,
    "content_filter": 400,
}
# The vendors have no code of their own for these: they come as a plain 400, told by their words.
_TOO_LONG = re.compile(
    r"context_length|context length|context window|context size|prompt is too long"
    r"|input is too long|too many tokens|maximum context",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content_filter|content_policy|content management policy", re.IGNORECASE)
_USED_UP = re.compile(r"insufficient_quota|billing|credit balance", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Origin:
    """The provider and model that a failure comes from."""

    provider: str
    model: str | None = None

    def make_error(self, kind: type[LLMError], message: str, **facts: Any) -> LLMError:
        """An error that says where it comes from."""
        return kind(f"{self}: {message}", provider=self.provider, model=self.model, **facts)

    def __str__(self) -> str:
        return f"{self.provider} ({self.model})" if self.model else self.provider


_Kinds = tuple[type[BaseException], ...]


@dataclass(frozen=True, slots=True)
class SdkErrors:
    """The exceptions of an SDK, and of the HTTP library below it, by what they mean."""

    timeouts: _Kinds = (TimeoutError,)
    disconnects: _Kinds = ()
    refusals: _Kinds = ()


def find_sdk_errors(sdk: ModuleType) -> SdkErrors:
    """The exceptions of an SDK; during a stream, those of its HTTP library come through as well."""
    below = [sys.modules[name] for name in ("httpx", "httpx2") if name in sys.modules]
    return SdkErrors(
        timeouts=(TimeoutError, sdk.APITimeoutError, *(http.TimeoutException for http in below)),
        disconnects=(
            sdk.APIConnectionError,
            *(kind for http in below for kind in (http.TransportError, http.StreamError)),
        ),
        refusals=(sdk.APIError,),
    )


def translate(
    failure: Exception, origin: Origin, errors: SdkErrors, *, streaming: bool = False
) -> LLMError:
    """The error of ours that means the same as the SDK's."""
    if isinstance(failure, LLMError):
        return failure
    if isinstance(failure, errors.timeouts):
        return origin.make_error(LLMTimeoutError, "no answer within the time limit")
    if isinstance(failure, errors.disconnects):
        return _make_disconnect(failure, origin, streaming)
    if isinstance(failure, errors.refusals) and _has_answer(failure):
        return _read_refusal(failure, origin)
    return _make_unreadable(failure, origin)


def _has_answer(failure: Exception) -> bool:
    """Whether the server said why: during a stream it sends a body without a status."""
    return hasattr(failure, "status_code") or getattr(failure, "body", None) is not None


def _make_unreadable(failure: Exception, origin: Origin) -> LLMError:
    """The error for an answer that is not of the protocol."""
    what = f"{type(failure).__name__}: {failure}" if str(failure) else type(failure).__name__
    return origin.make_error(
        ProviderUnavailableError,
        f"the answer cannot be read ({what}); is base_url right?",
        retryable=False,
    )


def _make_disconnect(failure: Exception, origin: Origin, streaming: bool) -> LLMError:
    cause = str(failure.__cause__ or failure) or type(failure).__name__
    if streaming:
        return origin.make_error(StreamBrokenError, f"the stream broke off ({cause})")
    return origin.make_error(ProviderUnavailableError, f"no connection ({cause})")


def _read_refusal(failure: Exception, origin: Origin) -> LLMError:
    words = _read_words(getattr(failure, "body", None))
    status = getattr(failure, "status_code", None)
    headers = getattr(getattr(failure, "response", None), "headers", {})
    message = words.get("message") or str(failure)
    facts = " ".join((words.get("type") or "", words.get("code") or "", message))
    return make_refusal(origin, status, message, facts, headers)


def make_refusal(
    origin: Origin,
    status: int | None,
    message: str,
    facts: str = "",
    headers: Mapping[str, str] | None = None,
) -> LLMError:
    """The error for a refusal, by its status or, if there is none, by its words."""
    if status is None or status < 400:
        status = _find_status(facts)
    kind = _choose_kind(status, facts or message)
    more: dict[str, Any] = {"retry_after": read_retry_after(headers or {})}
    if kind is RateLimitError and _USED_UP.search(facts):
        more["retryable"] = False  # waiting does not fill an account
    return origin.make_error(kind, f"{message} (status {status})", status_code=status, **more)


def _find_status(facts: str) -> int:
    return next((code for word, code in _STATUS_BY_WORD.items() if word in facts), 500)


def _choose_kind(status: int, facts: str) -> type[LLMError]:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return ProviderUnavailableError
    if _TOO_LONG.search(facts):
        return ContextLengthError
    return ContentFilterError if _FILTERED.search(facts) else InvalidRequestError


def _read_words(body: object) -> dict[str, str]:
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    if not isinstance(body, Mapping):
        return {}
    return {key: str(body[key]) for key in ("type", "code", "message") if body.get(key)}


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that the server asks us to wait, from either of two headers."""
    try:
        milliseconds = headers.get("retry-after-ms")
        wait: float | None
        if milliseconds:
            wait = float(milliseconds) / 1000
        else:
            wait = _parse_wait(headers.get("retry-after"))
    except (ValueError, OverflowError):
        return None
    return max(0.0, wait) if wait is not None and math.isfinite(wait) else None


def _parse_wait(text: str | None) -> float | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        return parsedate_to_datetime(text).timestamp() - time.time()
