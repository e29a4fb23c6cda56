"""Why a message did not get through, in words that say what to do."""

from __future__ import annotations

import errno
import os
import ssl
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amplifier_hooks.mcp.gateway.channel import ChannelError

_ADVICE = {
    401: "a token is missing or not accepted; give one with --header-env "
    '"Authorization=Bearer VARIABLE"',
    403: "what was given does not allow this; a token is given with --header-env "
    '"Authorization=Bearer VARIABLE"',
    404: "there is no MCP server at this path; check the end of the address",
    405: "this path takes no messages; check the end of the address (the old transport, HTTP+SSE, "
    "is not supported)",
    406: "the server cannot answer with JSON or an event stream",
    413: "the message is too large for the server",
    429: "the server gets too many requests",
}
_DEPTH = 10
_UNKNOWN = "whether the server carried it out is not known"


class WireError(ChannelError):
    """A message did not get through, or what came back for it cannot be passed on."""


def describe_failure(http: Any, host: str, failure: Exception) -> WireError:
    """An exception of the HTTP client; a header is never quoted."""
    causes = list(_list_causes(failure))
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            why = str(getattr(cause, "verify_message", "") or cause.strerror or cause)
            return WireError(
                f"{host}: the connection is not secure ({why}); if a certificate of your own "
                "signs it, name its file in SSL_CERT_FILE"
            )
    if isinstance(failure, http.LocalProtocolError | UnicodeError):
        return WireError(f"{host}: a header has characters that HTTP does not allow")
    if isinstance(failure, http.ConnectTimeout):
        return WireError(f"{host} cannot be reached: no connection in time")
    if isinstance(failure, http.ConnectError):
        return WireError(f"{host} cannot be reached: {_find_reason(causes)}")
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


def _list_causes(failure: BaseException | None) -> Iterator[BaseException]:
    """The failure and what is behind it."""
    for _ in range(_DEPTH):
        if failure is None:
            return
        yield failure
        if isinstance(failure, BaseExceptionGroup):
            yield from failure.exceptions
        failure = failure.__cause__ or failure.__context__


def _find_reason(causes: Sequence[BaseException]) -> str:
    """What the system says, which comes last; the library just says that it did not work."""
    said = [one.errno for one in causes if isinstance(one, OSError) and one.errno]
    if said and said[-1] in (errno.EMFILE, errno.ENFILE):
        return "too many connections at once for this process; see `ulimit -n`"
    return os.strerror(said[-1]) if said else str(causes[0]) or "no connection"
