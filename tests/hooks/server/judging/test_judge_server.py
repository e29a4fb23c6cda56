"""The server of `amplifier judge`: its token, where it listens, and what it refuses."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from pathlib import Path

import httpx2
import pytest

from amplifier_hooks.approvals.models import Identity
from amplifier_hooks.http_guard.server import bind as bind_address
from amplifier_hooks.server.judge_server import (
    ListenSettings,
    OneToken,
    bind,
    find_token_file,
    read_token,
    serve_judge,
)
from amplifier_hooks.server.settings import JudgeSettings, ServeError
from tests.hooks.server.judging.scene import TOKEN


def test_the_token_is_made_once_and_for_one_person(tmp_path: Path) -> None:
    """Nobody else can read it, and the next judge has the same."""
    path = tmp_path / "judge" / "token"
    token = read_token(path)
    assert len(token) >= 43
    assert read_token(path) == token
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_token_that_others_could_know_is_none(tmp_path: Path) -> None:
    """Nor is a short one, or what is no file; the message says what would do."""
    path = tmp_path / "token"
    read_token(path)
    path.chmod(0o640)
    with pytest.raises(ServeError, match="remove it"):
        read_token(path)
    path.chmod(0o600)
    path.write_text("short\n")
    with pytest.raises(ServeError, match="holds no token"):
        read_token(path)
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(ServeError, match="only you can read"):
        read_token(link)


async def test_whoever_has_the_token_may_be_judged_and_nothing_else() -> None:
    """One name, one scope."""
    access = OneToken(TOKEN, "ann")
    identity = await access.identify_token(TOKEN)
    assert identity is not None
    assert identity == Identity("ann", frozenset({"judge"}))
    assert await access.identify_token(TOKEN[:-1]) is None
    assert await access.identify_token("ä") is None
    assert await access.identify_login("cookie") is None


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.5", "", "::", "example.com"])
async def test_other_machines_cannot_reach_it(host: str) -> None:
    """They get a server with TLS instead."""
    settings = ListenSettings(host=host, port=0)
    with pytest.raises(ServeError, match="amplifier serve with TLS"):
        await serve_judge(settings, TOKEN, lambda _: None)


def test_a_socket_is_for_its_owner_only(tmp_path: Path) -> None:
    """One that nobody listens at any more is replaced; anything else stays."""
    path = tmp_path / "judge.sock"
    first = bind(ListenSettings(path=path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(ServeError, match="Somebody listens at"):
        bind(ListenSettings(path=path))
    first.close()
    bind(ListenSettings(path=path)).close()
    path.unlink()
    path.write_text("mine")
    with pytest.raises(ServeError, match="is no socket"):
        bind(ListenSettings(path=path))
    assert path.read_text() == "mine"
    with pytest.raises(ServeError, match="Cannot listen at"):
        bind(ListenSettings(path=tmp_path / "nowhere" / "judge.sock"))
    assert os.umask(0o022) == os.umask(0o022)


async def test_a_port_that_is_taken_is_named() -> None:
    """With what would do."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ServeError, match="choose one with --port"):
            bind(ListenSettings(port=taken.getsockname()[1]))


async def test_it_judges_at_a_socket_too(tmp_path: Path, folder: Path) -> None:
    """The same routes and the same token; the socket goes with the server."""
    path = tmp_path / "judge.sock"
    ready = asyncio.Event()
    settings = ListenSettings(path=path, judge=JudgeSettings(folder=folder))
    told: list[str] = []

    def say(where: ListenSettings) -> None:
        told.append(where.address)
        ready.set()

    serving = asyncio.create_task(serve_judge(settings, TOKEN, say))
    await asyncio.wait_for(ready.wait(), 30)
    transport = httpx2.AsyncHTTPTransport(uds=str(path))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    address = "http://localhost/api/v1/judge"
    async with httpx2.AsyncClient(transport=transport, base_url=address) as client:
        body = {"key": "k", "program": "p"}
        assert (await client.post("/sessions", json=body)).status_code == 401
        opened = await client.post("/sessions", json=body, headers=headers)
        assert opened.status_code == 201
        foreign = await client.post("/sessions", json=body, headers={**headers, "Host": "evil"})
        assert foreign.status_code == 421
        page = await client.post("/sessions", json=body, headers={**headers, "Origin": "http://x"})
        assert page.status_code == 403
    assert told == [str(path)]
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert not path.exists()


def test_the_token_lies_with_the_data_of_its_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where agents of ours may not look."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert find_token_file() == tmp_path / "amplifier" / "judge" / "token"


async def test_answers_are_sent_without_delay() -> None:
    """Head and body are two pieces: the second must not wait until the first is acknowledged."""
    listening = bind_address("127.0.0.1", 0)
    accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def look(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = writer.get_extra_info("socket")
        accepted.set_result(line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    server = await asyncio.start_server(look, sock=listening)
    _, writer = await asyncio.open_connection(*listening.getsockname())
    assert await accepted
    writer.close()
    server.close()
