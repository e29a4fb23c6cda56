"""HTTP to one server."""

from __future__ import annotations

import errno
import ssl
from pathlib import Path

import httpx2
import pytest

from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http import connection as wire_module
from amplifier_hooks.mcp.gateway.http.connection import (
    Address,
    Wire,
    WireError,
    check_address,
    describe_end,
    describe_failure,
    describe_status,
    read_body,
)
from tests.hooks.mcp.gateway.http.raw_server import Handler, Request, run_raw
from tests.support.package_index import write_certificates

SECRET = {"Authorization": "Bearer very-secret"}


async def _post(url: str, headers: dict[str, str] | None = None) -> bytes:
    wire = Wire(check_address(url, headers or {}))
    try:
        async with wire.request("POST", {"X-Mine": "1"}, b"{}") as response:
            return await read_body(wire.host, response)
    finally:
        await wire.close()


async def _echo(request: Request) -> None:
    await request.answer(200, {"path": request.path})


def _redirect(status: int, location: str) -> Handler:
    async def handle(request: Request) -> None:
        if request.path == "/mcp":
            await request.answer(status, None, Location=location)
        else:
            await _echo(request)

    return handle


async def test_the_headers_of_the_person_and_of_the_message_are_sent():
    """And nothing is compressed."""
    async with run_raw(_echo) as server:
        await _post(server.url, SECRET)
    sent = server.requests[0].headers
    assert (sent["authorization"], sent["x-mine"]) == ("Bearer very-secret", "1")
    assert sent["accept-encoding"] == "identity"


async def test_a_redirect_within_the_server_is_followed_and_kept():
    """The next message goes there at once."""
    async with run_raw(_redirect(307, "/mcp/")) as server:
        assert await _post(server.url, SECRET) == b'{"path": "/mcp/"}'
    assert [one.path for one in server.requests] == ["/mcp", "/mcp/"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_another_server_is_not_followed(status: int):
    """It would get the token that is meant for this one."""
    async with run_raw(_echo) as other, run_raw(_redirect(status, f"{other.url}?key=x")) as server:
        with pytest.raises(WireError, match="another server") as raised:
            await _post(server.url, SECRET)
    assert not other.requests
    assert "key=x" not in str(raised.value)


async def test_a_redirect_to_a_page_or_in_a_circle_is_an_error():
    """A POST must not become a GET, nor go on for ever."""
    async with run_raw(_redirect(302, "/login")) as server:
        with pytest.raises(WireError, match="redirects messages to a page"):
            await _post(server.url)
    async with run_raw(_redirect(308, "/mcp")) as server:
        with pytest.raises(WireError, match="in a circle"):
            await _post(server.url)


async def test_no_proxy_is_used(monkeypatch: pytest.MonkeyPatch):
    """What goes to the server goes to nobody else, whatever the environment says."""
    async with run_raw(_echo) as proxy, run_raw(_echo) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        await _post(server.url)
    assert not proxy.requests


async def test_a_compressed_or_endless_answer_is_an_error(monkeypatch: pytest.MonkeyPatch):
    """A small one could grow without end."""
    monkeypatch.setattr(wire_module, "LARGEST", 10)

    async def compress(request: Request) -> None:
        await request.answer(200, b"x", Content_Encoding="gzip")

    async with run_raw(compress) as server:
        with pytest.raises(WireError, match="compressed"):
            await _post(server.url)
    async with run_raw(_echo) as server:
        with pytest.raises(WireError, match="more than 10 bytes"):
            await _post(server.url)


async def test_a_server_that_is_not_there_is_named():
    """With its host, and without the rest of the address."""
    async with run_raw(_echo) as server:
        url = server.url
    with pytest.raises(WireError, match=r"127\.0\.0\.1:.* reached: Connection refused") as raised:
        await _post(f"{url}?key=very-secret", SECRET)
    assert "very-secret" not in str(raised.value)


async def test_certificates_of_this_machine_are_trusted_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A company's own authority is named in SSL_CERT_FILE."""
    authority = write_certificates(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "server.pem", tmp_path / "key.pem")
    async with run_raw(_echo, tls) as server:
        with pytest.raises(WireError, match=r"not secure .*SSL_CERT_FILE"):
            await _post(server.url, SECRET)
        assert not server.requests
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        assert await _post(server.url, SECRET) == b'{"path": "/mcp"}'


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


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("https://mcp.example.com/mcp", SECRET),
        ("http://127.0.0.1:8000/mcp", SECRET),
        ("http://localhost/mcp", SECRET),
        ("http://tools:8080/mcp", {}),
        ("https://mcp.example.com/mcp?key=secret", {}),
    ],
)
def test_an_address_can_be_used(url: str, headers: dict[str, str]):
    """With TLS, on this machine, or with nothing to hide."""
    assert check_address(url, headers) == Address(url, headers)


@pytest.mark.parametrize(
    ("url", "headers", "reason"),
    [
        ("http://mcp.example.com/mcp", SECRET, "without TLS"),
        ("ftp://host/mcp", {}, "http:// or https://"),
        ("https://user:very-secret@host/mcp", {}, "--header-env"),
        ("https://host:0/mcp", {}, "port 0"),
        ("https://host/a b", {}, "encode them"),
        ("https://host/mcp", {"Authorization": "very-secret\nX: y"}, "'Authorization' is empty or"),
        ("https://host/mcp", {"Authorization": ""}, "'Authorization' is empty or"),
        ("https://host/mcp", {"Authorization": "very-secrét"}, "'Authorization' is empty or"),
        ("https://host/mcp", {"Author ization": "x"}, "no name for a header"),
        ("https://host/mcp", {"Host": "other"}, "set by the gateway"),
        ("https://host/mcp", {"mcp-session-id": "x"}, "set by the gateway"),
    ],
)
def test_an_address_or_header_that_would_not_do_is_refused(
    url: str, headers: dict[str, str], reason: str
):
    """The reason says what is wrong, and never the value of a header."""
    with pytest.raises(ChannelError, match=reason) as raised:
        check_address(url, headers)
    assert "very-secr" not in str(raised.value)


def test_secrets_are_not_shown():
    """Neither in the representation nor in what may be shown."""
    address = check_address("https://mcp.example.com:8443/mcp?key=1", SECRET)
    assert "very-secret" not in repr(address)
    assert address.host == "mcp.example.com:8443"


def test_a_port_that_is_not_stated_is_the_usual_one():
    """Of both schemes."""
    assert Address("http://host/mcp", {}).move("http://host:80/x") is not None
    assert Address("http://host/mcp", {}).move("http://host:81/x") is None


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/mcp/", "https://host/mcp/"),
        ("https://host:443/other", "https://host:443/other"),
        ("https://other/mcp", None),
        ("http://host/mcp", None),
        ("//other/mcp", None),
        ("https://host:444/mcp", None),
        ("https://host:port/mcp", None),
        ("https://user@host/mcp", None),
    ],
)
def test_a_redirect_stays_with_the_server(location: str, expected: str | None):
    """Another scheme, host or port is another server."""
    moved = Address("https://host/mcp", SECRET).move(location)
    assert (moved and moved.url) == expected
    assert moved is None or moved.headers == SECRET
