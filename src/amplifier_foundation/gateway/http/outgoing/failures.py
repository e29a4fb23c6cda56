"""Why a message did not get through, in words that say what to do."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

from amplifier_foundation.gateway.channel import ChannelError

_ADVICE = {
    401: 'a token is missing or not accepted; give one with --header-env "Authorization=VARIABLE"',
    403: "what was given does not allow this; a token is given with --header-env "
    '"Authorization=VARIABLE"',
    404: "there is no MCP server at this path; check the end of the address",
    405: "this path takes no messages; check the end of the address (the old transport, HTTP+SSE, "
    "is not supported)",
    406: "the server cannot answer with JSON or an event stream",
    413: "the message is too large for the server",
    429: "the server gets too many requests",
}
_UNKNOWN = "whether the server carried it out is not known"


class WireError(ChannelError):
    """A message did not get through, or what came back for it cannot be passed on."""


def describe_failure(http: Any, host: str, failure: Exception) -> WireError:
    """An exception of the HTTP client; a header is never quoted."""
    cause = _find_tls_failure(failure)
    if cause is not None:
        return WireError(
            f"{host}: the connection is not secure ({cause}); if a certificate of your own signs "
            "it, name its file in SSL_CERT_FILE"
        )
    if isinstance(failure, http.LocalProtocolError | UnicodeError):
        return WireError(f"{host}: a header has characters that HTTP does not allow")
    if isinstance(failure, http.ConnectTimeout):
        return WireError(f"{host} cannot be reached: no connection in time")
    if isinstance(failure, http.ConnectError):
        return WireError(f"{host} cannot be reached: {failure or 'no connection'}")
    reason = str(failure) or type(failure).__name__
    return WireError(f"{host}: the connection broke ({reason}); {_UNKNOWN}")


def describe_status(host: str, status: int, headers: Mapping[str, str]) -> WireError:
    """An answer that says no."""
    advice = _ADVICE.get(status, "the server failed" if status >= 500 else "the server refused it")
    later = headers.get("retry-after", "")
    if later.isdecimal() and len(later) < 8:
        advice += f"; it may be tried again in {later} s"
    return WireError(f"{host} answered {status}: {advice}")


def describe_end(host: str) -> WireError:
    """A stream that ended without the answer."""
    return WireError(f"{host}: the stream ended before the answer; {_UNKNOWN}")


def _find_tls_failure(failure: BaseException | None) -> str | None:
    while failure is not None:
        if isinstance(failure, ssl.SSLError):
            return str(getattr(failure, "verify_message", "") or failure.strerror or failure)
        failure = failure.__cause__ or failure.__context__
    return None
