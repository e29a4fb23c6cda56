"""Hostile HTTP at every listener, byte for byte: the same decision, no effect, no hang."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from amplifier_hooks.http_guard import guard as guard_module
from amplifier_hooks.http_guard import server as server_module
from tests.hostile.http_doors import OPENERS, Door
from tests.hostile.http_requests import SERVED, Sent, list_requests, write

SECONDS = 20


@pytest.fixture(params=sorted(OPENERS))
async def door(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Door]:
    """Each listener in turn."""
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    async with OPENERS[request.param](folder) as opened:
        yield opened


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Listeners that wait for a short time only."""
    monkeypatch.setattr(server_module, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(guard_module, "BODY_SECONDS", 0.3)


async def send(door: Door, *parts: bytes, ends: bool = True, pause: float = 0.0) -> bytes:
    """All that comes back until the connection is closed, or nothing more comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    answer = b""
    try:
        async with asyncio.timeout(SECONDS):
            with contextlib.suppress(ConnectionError):
                for part in parts:
                    writer.write(part)
                    await writer.drain()
                    await asyncio.sleep(pause)
            with contextlib.suppress(ConnectionError):
                while not (ends and is_complete(answer)) and (got := await reader.read(65536)):
                    answer += got
    finally:
        writer.transport.abort()
    return answer


def is_complete(answer: bytes) -> bool:
    """Whether a whole answer has come, on a connection that may stay open."""
    answer = answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    head, found, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    return bool(found and length and len(body) >= int(length[1]))


def list_statuses(answer: bytes) -> list[int]:
    """The statuses of all answers but 100; every success counts as the same."""
    found = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3})[^\r]*\r\n", answer)]
    return [SERVED if status < 300 else status for status in found if status != 100]


def read_status(door: Door, answer: bytes, status: int | tuple[int, ...]) -> int:
    """The status, or 0. At a gate of an agent, a refusal of a known caller is a denial."""
    statuses = list_statuses(answer)
    found = statuses[0] if statuses else 0
    if door.name == "resident" and status in (413, 415, 408) and b'"deny"' in answer:
        return status if isinstance(status, int) else found
    return found


def find_traces(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged as an error."""
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR]


async def check(door: Door, sent: Sent) -> str | None:
    """What is wrong with the decision."""
    before = door.count()
    answer = await send(door, sent.content)
    expected = sent.status if isinstance(sent.status, tuple) else (sent.status,)
    status = read_status(door, answer, sent.status)
    effects = door.count() - before
    if status not in expected:
        return f"{status} instead of {sent.status}: {answer[-200:]!r}"
    if effects != (status == SERVED):
        return f"{effects} effects with {status}"
    return None


async def test_every_listener_decides_alike(door: Door, caplog: pytest.LogCaptureFixture):
    """Each request alone on its connection."""
    sent = list(list_requests(door))
    assert len({one.name for one in sent}) == len(sent) > 150
    found = {one.name: await check(door, one) for one in sent}
    assert {name: problem for name, problem in found.items() if problem} == {}
    assert find_traces(caplog) == []


async def test_a_refusal_ends_the_connection(door: Door):
    """What follows it was perhaps not meant as a request."""
    before = door.count()
    for bad in (write(door, ("Host", "evil.test"), without=["Host"]), write(door, length="1_0")):
        answer = await send(door, bad + write(door), ends=False)
        assert len(list_statuses(answer)) == 1
        assert b"connection: close" in answer.lower()
    assert door.count() == before


async def test_requests_may_follow_one_another(door: Door):
    """Pipelining: each is answered, in order."""
    before = door.count()
    last = write(door, ("Connection", "close"))
    answer = await send(door, write(door) + last, ends=False)
    assert list_statuses(answer) == [SERVED, SERVED]
    assert door.count() == before + 2


async def test_nothing_is_hidden_in_a_body(door: Door):
    """Smuggling: a request in the body of another one is a body, or the whole is refused."""
    before = door.count()
    chunked = ("Transfer-Encoding", "chunked")
    hidden = write(door)
    for body, more in (
        (b"0\r\n\r\n" + hidden, [chunked]),
        (b"0\r\n\r\n" + hidden, [("Transfer-Encoding", "xchunked")]),
        (b"0\r\n\r\n" + hidden, [("Transfer-Encoding", "chunked, identity")]),
        (b"0\r\n\r\n" + hidden, [chunked, chunked]),
    ):
        answer = await send(door, write(door, *more, body=body), ends=False)
        assert len(list_statuses(answer)) == 1
        assert list_statuses(answer)[0] in (400, 501)
    assert door.count() == before


async def test_more_than_was_stated_is_no_request(door: Door):
    """The first is served, the rest refused."""
    before = door.count()
    answer = await send(door, write(door) + b"and more\r\n\r\n", ends=False)
    assert list_statuses(answer) == [SERVED, 400]
    assert door.count() == before + 1


async def test_less_than_was_stated_is_no_request(door: Door, caplog: pytest.LogCaptureFixture):
    """A client that leaves in the middle of a body or a head has asked nothing."""
    before = door.count()
    whole = write(door)
    for part in (whole[:-1], whole[:20], whole[: whole.index(b"\r\n\r\n") + 2]):
        _, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.write(part)
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    await asyncio.sleep(0.1)
    assert list_statuses(await send(door, whole)) == [SERVED]
    assert door.count() == before + 1
    assert find_traces(caplog) == []


@pytest.mark.usefixtures("hurried")
async def test_nobody_is_waited_for(door: Door, caplog: pytest.LogCaptureFixture):
    """Slow heads and slow bodies are refused, an empty connection is closed."""
    before = door.count()
    whole = write(door)
    head = whole.index(b"\r\n\r\n")
    began = time.monotonic()
    assert await send(door, b"", ends=False) == b""
    for part in (whole[:10], whole[:head]):
        assert list_statuses(await send(door, part, ends=False)) == [408]
    slow = await send(door, whole[:-1], ends=False)
    assert read_status(door, slow, 408) == 408
    drops = [bytes([one]) for one in whole[: head - 1]]
    # What is sent after the refusal resets the connection, and may drop it.
    assert list_statuses(await send(door, *drops, ends=False, pause=0.02)) in ([408], [])
    assert time.monotonic() - began < SECONDS
    assert door.count() == before
    assert find_traces(caplog) == []


async def test_a_body_is_asked_for_only_if_it_may_come(door: Door):
    """Expect: 100-continue."""
    expects = ("Expect", "100-continue")
    whole = write(door, expects)
    head, body = whole[: -len(door.body)], door.body
    assert b"100 Continue" in await send(door, head, body, pause=0.1)
    refused = write(door, expects, without=["Authorization"])[: -len(door.body)]
    answer = await send(door, refused)
    assert b"100 Continue" not in answer
    assert list_statuses(answer) == [401]


async def test_connections_are_limited_and_idle_ones_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Whoever opens hundreds keeps others out for a moment only."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(server_module, "HEAD_SECONDS", 3.0)
    create = server_module.GuardedConfig.__init__

    def limit(self: server_module.GuardedConfig, app: object, **settings: object) -> None:
        create(self, app, **{**settings, "most_connections": 40})  # type: ignore[arg-type]

    monkeypatch.setattr(server_module.GuardedConfig, "__init__", limit)
    async with AsyncExitStack() as stack:
        doors = []
        for name, open_door in OPENERS.items():
            folder = tmp_path / name
            folder.mkdir()
            doors.append(await stack.enter_async_context(open_door(folder)))
        await asyncio.gather(*map(crowd, doors))


async def crowd(door: Door) -> None:
    """Open more connections than there may be, and wait until the idle ones have gone."""
    idle = [await asyncio.open_connection("127.0.0.1", door.port) for _ in range(120)]
    assert list_statuses(await send(door, write(door))) in ([503], [])
    async with asyncio.timeout(SECONDS):
        while list_statuses(await send(door, write(door))) != [SERVED]:
            await asyncio.sleep(0.2)
    for _, writer in idle:
        writer.transport.abort()
