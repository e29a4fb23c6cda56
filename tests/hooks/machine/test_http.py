"""The one HTTP client: what it sends, what it takes for an answer, and what it keeps to itself."""

from __future__ import annotations

import asyncio
import gzip
import importlib
import socket
import time

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.machine.http import (
    HttpError,
    check_private_url,
    check_url,
    ensure_available,
    is_loopback,
    post_json,
)
from tests.support.http_server import receiver


async def test_a_document_arrives_as_json() -> None:
    """The path and query of the address are kept, and the caller may add headers."""
    with receiver() as server:
        await post_json(f"{server.url}/x?y=1", b"{}", timeout=50, headers={"X-Team": "red"})
    [(path, headers, body)] = server.requests
    assert (path, body) == ("/x?y=1", b"{}")
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Team"] == "red"


async def test_a_caller_can_change_the_type_but_not_how_it_is_sent() -> None:
    """Names of headers are compared without case."""
    headers = {"content-type": "text/plain", "connection": "keep-alive"}
    with receiver() as server:
        await post_json(server.url, b"x", timeout=50, headers=headers)
    [(_, sent, _)] = server.requests
    assert {name.lower(): value for name, value in sent.items()}["content-type"] == "text/plain"
    assert sent["Connection"] == "close"


async def test_the_text_of_the_answer_is_returned_if_wanted() -> None:
    """Bytes that are no UTF-8 are replaced."""
    with receiver(body=b"gr\xc3\xbc\xc3\x9fe \xff") as server:
        assert await post_json(server.url, b"{}", timeout=50, limit=100) == "grüße \ufffd"
        assert await post_json(server.url, b"{}", timeout=50) == ""


@pytest.mark.parametrize(("size", "accepted"), [(100, True), (101, False), (5_000_000, False)])
async def test_an_answer_has_a_limit(size: int, accepted: bool) -> None:
    """A server cannot fill our memory."""
    with receiver(body=b"x" * size) as server:
        if accepted:
            assert len(await post_json(server.url, b"{}", timeout=50, limit=100)) == size
            return
        with pytest.raises(HttpError, match="more than 100 bytes"):
            await post_json(server.url, b"{}", timeout=50, limit=100)


async def test_a_packed_answer_is_refused() -> None:
    """A few compressed bytes could expand to gigabytes, and none were asked for."""
    packed = gzip.compress(b"x" * 1_000_000)
    refused = pytest.raises(HttpError, match="'gzip', without being asked to")
    with receiver(body=packed, headers={"Content-Encoding": "gzip"}) as server, refused:
        await post_json(server.url, b"{}", timeout=50, limit=10_000)
    assert server.requests[0][1]["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    ("status", "temporary"),
    [(400, False), (401, False), (404, False), (429, True), (500, True), (503, True)],
)
async def test_another_try_may_help_or_not(status: int, temporary: bool) -> None:
    """A server in trouble may recover; a wrong request stays wrong."""
    refused = pytest.raises(HttpError, match=f"^127.0.0.1 answered {status}$")
    with receiver(status) as server, refused as caught:
        await post_json(server.url, b"{}", timeout=50)
    assert (caught.value.status, caught.value.temporary) == (status, temporary)
    assert not caught.value.timed_out


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirects_are_not_followed(status: int) -> None:
    """The document goes where it was sent, and nowhere else."""
    refused = pytest.raises(HttpError, match=f"answered {status}")
    with receiver() as other, receiver(status, headers={"Location": other.url}) as server, refused:
        await post_json(server.url, b"secret", timeout=50)
    assert other.requests == []


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sets variables does not read along."""
    with receiver() as proxy, receiver() as server:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        await post_json(server.url, b"{}", timeout=50)
    assert (len(server.requests), proxy.requests) == (1, [])


async def test_a_server_without_a_certificate_gets_nothing() -> None:
    """https means that the server has proved who it is before anything is sent."""
    with receiver() as server:
        url = server.url.replace("http://", "https://")
        with pytest.raises(HttpError, match=r"^127\.0\.0\.1: "):
            await post_json(url, b"secret", timeout=50)
    assert server.requests == []


async def test_a_server_that_drips_cannot_hold_on() -> None:
    """The time limit is for the whole exchange, not for each byte."""

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for _ in range(2500):
                writer.write(b"H")
                await writer.drain()
                await asyncio.sleep(0.02)
        except OSError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        started = time.monotonic()
        with pytest.raises(HttpError, match="took too long") as caught:
            await post_json(f"http://127.0.0.1:{port}", b"{}", timeout=0.1)
    assert time.monotonic() - started < 40
    assert (caught.value.timed_out, caught.value.temporary) == (True, True)


async def test_nobody_listening_is_a_sentence() -> None:
    """It has the host, never the rest of the address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(HttpError, match=r"^127\.0\.0\.1: ") as caught:
        await post_json(f"http://127.0.0.1:{port}/secret", b"{}", timeout=50)
    assert "secret" not in str(caught.value)
    assert caught.value.temporary


@pytest.mark.parametrize("value", ["key\x00", "key\r\nX: y", "kéy"])
async def test_a_wrong_header_is_not_repeated_in_the_message(value: str) -> None:
    """The header may be a key."""
    refused = pytest.raises(HttpError, match="a header has characters")
    with receiver() as server, refused as caught:
        await post_json(server.url, b"{}", timeout=50, headers={"Authorization": value})
    assert "key" not in str(caught.value)
    assert server.requests == []


async def test_nonsense_instead_of_http_is_an_error() -> None:
    """Another service may listen at the address."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail ready\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(HttpError, match=r"^127\.0\.0\.1: "):
            await post_json(f"http://127.0.0.1:{port}", b"{}", timeout=50, limit=10)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("ftp://x", "begins with http:// or https://"),
        ("file:///etc/passwd", "begins with http:// or https://"),
        ("http:///x", "begins with http:// or https://"),
        ("x", "begins with http:// or https://"),
        ("http://a b", "encode them with %"),
        ("https://x.test/\nHost: y", "encode them with %"),
        ("https://münchen.test", "encode them with %"),
        ("http://a:port", "port"),
        ("http://a:99999", "[Pp]ort"),
        ("http://a:0", "port 0"),
        ("http://[::1", "IPv6"),
    ],
)
def test_an_address_that_cannot_be_posted_to_is_refused(url: str, sentence: str) -> None:
    """The mistake is reported when the configuration is read."""
    with pytest.raises(ValueError, match=sentence):
        check_url(url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:80/x", "http://[::1]/", "http://localhost/", "https://x.test/y?z"]
)
def test_addresses_that_nobody_on_the_way_can_read(url: str) -> None:
    """They stay on this machine, or are encrypted on the way."""
    assert check_private_url(url) == url


@pytest.mark.parametrize(
    "url", ["http://x.test/", "http://127.0.0.1.evil.test/", "http://localhost.evil.test/"]
)
def test_addresses_that_somebody_could_read(url: str) -> None:
    """Good enough for some, not for what must stay private."""
    assert check_url(url) == url
    with pytest.raises(ValueError, match="use https"):
        check_private_url(url)


def test_a_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module says so when it is mounted, not at its first request."""

    def fail(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    ensure_available("hooks-x")
    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(ModuleLoadError, match=r"hooks-x needs .*'httpx2'.*\[http\]"):
        ensure_available("hooks-x")


@pytest.mark.parametrize(
    ("host", "expected"),
    [(host, True) for host in ("127.0.0.1", "127.8.8.8", "localhost", "::1", "[::1]")]
    + [(host, False) for host in ("0.0.0.0", "::", "", "10.0.0.5", "localhost.evil.test")],
)
def test_only_addresses_of_this_machine_are_loopback(host: str, *, expected: bool) -> None:
    """Not what looks like one."""
    assert is_loopback(host) is expected
