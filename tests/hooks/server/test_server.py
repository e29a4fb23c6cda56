"""The running server."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from time import monotonic

import httpx2
import pytest

from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.server import server as server_module
from amplifier_hooks.server.server import bind, create_server, serve
from amplifier_hooks.server.settings import ServeError, ServerSettings
from tests.hooks.server.live_client import join_live
from tests.hooks.server.world import run_server


async def test_when_it_ends_everybody_is_told_within_seconds(store: Store):
    """Long polls are answered, sockets closed with 1001."""
    async with run_server(store) as world:
        asked = await world.ask()
        async with await world.person() as person, join_live(world) as client:
            polling = asyncio.create_task(person.get(f"/approvals/{asked.id}?wait=60"))
            await client.hear("pending")
            while len(world.services.feed._waiting) < 1:
                await asyncio.sleep(0.01)
            began = monotonic()
            world.server.should_exit = True
            answer = await polling
            assert await client.wait_closed() == 1001
    assert (answer.status_code, answer.json()["status"]) == (200, "pending")
    assert monotonic() - began < 30


async def test_a_restart_loses_nothing(store: Store):
    """What waits is in the store; the next server on the port shows it."""
    async with run_server(store) as first:
        asked = await first.ask()
        port = first.settings.port
        token = await first.token("ann", "read")
    restarted = run_server(store, port=port)
    async with restarted as second, second.client(Authorization=f"Bearer {token}") as person:
        found = (await person.get("/approvals")).json()["approvals"]
    assert [one["id"] for one in found] == [asked.id]


def test_a_port_in_use_is_said_in_one_line():
    """A second serve on the same port: one-line error."""
    with bind(ServerSettings(port=0)) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(ServeError, match=f"Port {port} is in use"):
            bind(ServerSettings(port=port))
    with pytest.raises(ServeError, match=r"Cannot listen on 203\.0\.113\.9"):
        bind(ServerSettings(host="203.0.113.9", port=0))


async def test_settings_are_checked_before_anything_listens(monkeypatch: pytest.MonkeyPatch):
    """Another interface without TLS never gets a socket."""
    monkeypatch.setattr(server_module, "bind", None)
    with pytest.raises(ServeError, match="--tls-cert"):
        await serve(ServerSettings(host="0.0.0.0", port=0))


async def test_serve_opens_the_store_says_so_and_closes_it(tmp_path: Path):
    """`ready` gets the port that was taken."""
    ports = []

    async def ready(store: Store, settings: ServerSettings) -> None:
        ports.append(settings.port)
        stopping.append(asyncio.get_running_loop().call_later(0.01, running.cancel))

    stopping: list[asyncio.TimerHandle] = []
    running = asyncio.create_task(serve(ServerSettings(port=0), tmp_path / "store.db", ready=ready))
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ports[0] > 0
    assert (tmp_path / "store.db").exists()


async def test_tls_is_spoken_with_the_certificate_that_was_given(store: Store, tmp_path: Path):
    """And one that cannot be used is said in a sentence."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make_certificate(cert, key)
    async with run_server(store, tls_cert=cert, tls_key=key) as world:
        trust = ssl.create_default_context(cafile=str(cert))
        address = f"https://127.0.0.1:{world.settings.port}"
        async with httpx2.AsyncClient(verify=trust, trust_env=False) as client:
            answer = await client.get(f"{address}/api/v1/health")
    assert answer.status_code == 200
    assert "strict-transport-security" in answer.headers
    key.write_text("no key")
    with pytest.raises(ServeError, match="certificate"):
        create_server(world.app, ServerSettings(tls_cert=cert, tls_key=key))


def make_certificate(cert: Path, key: Path) -> None:
    """A certificate for 127.0.0.1 that signs itself."""
    import datetime
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(private, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    cert.write_bytes(made.public_bytes(pem))
    plain = serialization.NoEncryption()
    key.write_bytes(private.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
