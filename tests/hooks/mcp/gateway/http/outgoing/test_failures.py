"""Why a message did not get through, in words that say what to do."""

from __future__ import annotations

import errno
import ssl

import httpx2
import pytest

from amplifier_hooks.mcp.gateway.http.outgoing.failures import (
    describe_end,
    describe_failure,
    describe_status,
)


@pytest.mark.parametrize(
    ("status", "headers", "reason"),
    [
        (401, {}, '--header-env "Authorization=Bearer VARIABLE"'),
        (403, {}, '--header-env "Authorization=Bearer VARIABLE"'),
        (404, {}, "check the end of the address"),
        (429, {"retry-after": "7"}, "tried again in 7 s"),
        (429, {"retry-after": "Wed, 21 Oct"}, "too many requests"),
        (500, {}, "the server failed"),
        (418, {}, "the server refused it"),
    ],
)
def test_a_status_says_what_to_do(status: int, headers: dict[str, str], reason: str):
    """With the host and the number."""
    said = str(describe_status("host", status, headers))
    assert said.startswith(f"host answered {status}: ")
    assert reason in said


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (httpx2.ConnectError("refused"), "cannot be reached: refused"),
        (httpx2.ConnectTimeout(""), "no connection in time"),
        (httpx2.ReadError(""), r"broke \(ReadError\); whether .* is not known"),
        (httpx2.RemoteProtocolError("cut"), r"broke \(cut\)"),
    ],
)
def test_a_failure_says_whether_the_message_may_have_arrived(failure: Exception, reason: str):
    """A connection that never was is another thing than one that broke."""
    describe = describe_failure(httpx2, "host", failure)
    with pytest.raises(type(describe), match=reason):
        raise describe


def test_a_header_is_never_quoted():
    """The client's own words have the value in them."""
    failure = httpx2.LocalProtocolError("Illegal header value b'very-secret'")
    assert "very-secret" not in str(describe_failure(httpx2, "host", failure))


def test_a_certificate_that_is_not_trusted_is_told_from_other_failures():
    """Also if it is hidden behind other exceptions."""
    failure = httpx2.ConnectError("x")
    failure.__cause__ = OSError()
    failure.__cause__.__context__ = ssl.SSLError(1, "bad")
    assert "SSL_CERT_FILE" in str(describe_failure(httpx2, "host", failure))


@pytest.mark.parametrize(
    ("number", "reason"),
    [(errno.ECONNREFUSED, "Connection refused"), (errno.EMFILE, "ulimit -n")],
)
def test_the_reason_of_the_system_is_said(number: int, reason: str):
    """However deep it is hidden."""
    failure = httpx2.ConnectError("All connection attempts failed")
    failure.__cause__ = OSError("All connection attempts failed")
    failure.__cause__.__cause__ = ExceptionGroup("x", [OSError(number, "of the system")])
    assert reason in str(describe_failure(httpx2, "host", failure))


def test_the_end_of_a_stream_leaves_open_what_happened():
    """Nobody knows whether the call was carried out."""
    assert "not known" in str(describe_end("host"))
