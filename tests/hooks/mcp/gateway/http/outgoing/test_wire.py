"""HTTP to one server."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from amplifier_hooks.mcp.gateway.http.outgoing import wire as wire_module
from amplifier_hooks.mcp.gateway.http.outgoing.address import check_address
from amplifier_hooks.mcp.gateway.http.outgoing.failures import WireError
from amplifier_hooks.mcp.gateway.http.outgoing.wire import Wire, read_body
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
