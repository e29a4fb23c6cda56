"""Events by HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.daemon import http
from amplifier_hooks.coding_agents.daemon.folder import HttpPort, choose_port
from amplifier_hooks.http_guard import server
from tests.hooks.coding_agents.daemon.conftest import Serve
from tests.support.guest_lines import ask
from tests.support.guest_resident import PlayedJudge
from tests.support.waiting import wait_until


class Line:
    """One connection of an agent."""

    def __init__(self, door: HttpPort) -> None:
        self._door = door

    async def __aenter__(self) -> Line:
        self.reader, self._writer = await asyncio.open_connection("127.0.0.1", self._door.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def post(
        self, payload: Any = None, event: str = "PreToolUse", **headers: str | None
    ) -> tuple[int, bytes]:
        """Status and body; a header that is None is left out."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload or {}).encode()
        head = {
            "Host": f"127.0.0.1:{self._door.port}",
            "Authorization": f"Bearer {self._door.token}",
            "Content-Length": str(len(body)),
            "Content-Type": "application/json",
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"POST /claude/{event} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in head.items() if value is not None]
        self._writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        return await self.read()

    async def read(self) -> tuple[int, bytes]:
        """The next response."""
        status = int((await self.reader.readline()).split()[1])
        length = 0
        while line := (await self.reader.readline()).strip():
            name, _, value = line.lower().partition(b":")
            length = int(value) if name == b"content-length" else length
        return status, await self.reader.readexactly(length)


@pytest.fixture
def door() -> HttpPort:
    """A free port."""
    return choose_port()


def read_denial(body: bytes) -> str:
    """The reason of a denial before a tool, as Claude reads it."""
    specific = json.loads(body)["hookSpecificOutput"]
    assert (specific["hookEventName"], specific["permissionDecision"]) == ("PreToolUse", "deny")
    return str(specific["permissionDecisionReason"])


async def test_many_events_come_on_one_connection(
    serve: Serve, door: HttpPort, judge: PlayedJudge
) -> None:
    """Each is judged as one of Claude's, and marked; the headers say what a command line would."""
    async with serve(http=door), Line(door) as line:
        first = await line.post(X_Amplifier_Seconds="7.5", X_Amplifier_Bundle="mine")
        assert (first[0], json.loads(first[1])["marks"]) == (200, ["HTTP"])
        assert (await line.post(event="Stop"))[0] == 200
    one, other = judge.asked
    assert (one.agent, one.event, one.seconds, one.bundle) == ("claude", "PreToolUse", 7.5, "mine")
    assert (other.event, other.seconds) == ("Stop", 30)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Bearer \u00e4"}, 401),
        ({"Authorization": None}, 401),
        ({"Host": "evil.example:80"}, 421),
        ({"Host": None}, 400),
        ({"event": "SessionStart"}, 404),
        ({"event": "Setup"}, 404),
        ({"event": "Unheard"}, 404),
        ({"event": "../codex/PreToolUse"}, 404),
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"event": "Stop", "X_Amplifier_Seconds": "nan"}, 400),
        ({"event": "Stop", "Content_Length": "99999999999"}, 413),
        ({"X_Long": "x" * 40_000}, 431),
    ],
)
async def test_what_is_no_event_for_us_is_refused(
    serve: Serve, door: HttpPort, judge: PlayedJudge, headers: dict[str, str | None], status: int
) -> None:
    """Before the body is read, and the connection ends."""
    async with serve(http=door), Line(door) as line:
        assert (await line.post(**headers))[0] == status
        assert await line.reader.read() == b""
    assert judge.asked == []


async def test_large_events_pass(serve: Serve, door: HttpPort) -> None:
    """The limit of a line is none for the body."""
    async with serve(http=door), Line(door) as line:
        status, body = await line.post(b" " * 5_000_000)
        assert (status, json.loads(body)["size"]) == (200, 5_000_000)


async def test_only_posts_are_events(serve: Serve, door: HttpPort) -> None:
    """A browser gets nothing, token or not."""
    async with serve(http=door), Line(door) as line:
        token = f"Authorization: Bearer {door.token}\r\nHost: localhost:{door.port}"
        line._writer.write(f"GET /claude/PreToolUse HTTP/1.1\r\n{token}\r\n\r\n".encode())
        assert (await line.read())[0] == 405


async def test_what_fails_at_a_gate_is_a_denial(serve: Serve, door: HttpPort) -> None:
    """An error would let the call through; a denial does not."""
    async with serve(http=door):
        async with Line(door) as line:
            status, body = await line.post({"raise": "no rules"})
            assert (status, "no rules" in read_denial(body)) == (200, True)
            status, body = await line.post({"sleep": 90}, X_Amplifier_Seconds="0.1")
            assert (status, "within 0.1 seconds" in read_denial(body)) == (200, True)
            status, body = await line.post({"raise": "x"}, event="PermissionRequest")
            assert json.loads(body)["hookSpecificOutput"]["decision"]["behavior"] == "deny"
            status, body = await line.post({"raise": "x"}, event="UserPromptSubmit")
            assert json.loads(body)["decision"] == "block"
        async with Line(door) as line:
            status, body = await line.post(Content_Length="99999999999")
            assert (status, "67108864 bytes" in read_denial(body)) == (200, True)


async def test_what_fails_elsewhere_is_an_error(serve: Serve, door: HttpPort) -> None:
    """A block at a stop would make the agent go on."""
    async with serve(http=door), Line(door) as line:
        status, body = await line.post({"raise": "no disk"}, event="Stop")
        assert (status, b"no disk" in body) == (500, True)
        assert (await line.post())[0] == 200


async def test_a_stranger_is_not_waited_for(
    serve: Serve, door: HttpPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has not shown the token has a few seconds."""
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.02)
    async with serve(http=door), Line(door) as line:
        assert await line.reader.read() == b""


async def test_strangers_cannot_take_all_connections(
    serve: Serve, door: HttpPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are so many and no more."""
    monkeypatch.setattr(http, "_MOST_CONNECTIONS", 1)
    async with serve(http=door), Line(door) as first:
        assert (await first.post())[0] == 200
        async with Line(door) as second:
            assert (await second.read())[0] == 503


async def test_what_is_open_is_answered_before_the_end(
    serve: Serve, door: HttpPort, judge: PlayedJudge
) -> None:
    """Who waits for an answer gets it, who only keeps a connection is hung up on."""
    async with serve(http=door) as resident, Line(door) as busy, Line(door) as idle:
        assert (await idle.post())[0] == 200
        asking = asyncio.create_task(busy.post({"sleep": 0.05}))
        await wait_until(lambda: len(judge.asked) == 2)
        resident.end("a test")
        assert (await asking)[0] == 200
        assert await idle.reader.read() == b""
    assert judge.closed


async def test_what_takes_too_long_at_the_end_is_denied(
    serve: Serve, door: HttpPort, judge: PlayedJudge
) -> None:
    """There is no client here that could ask the next process."""
    async with serve(http=door, grace=0.05) as resident, Line(door) as line:
        asking = asyncio.create_task(line.post({"sleep": 90}))
        await wait_until(lambda: bool(judge.asked))
        resident.end("a test")
        assert "replaced" in read_denial((await asking)[1])


async def test_a_port_that_is_taken_costs_only_http(
    folder: Path, serve: Serve, door: HttpPort
) -> None:
    """The clients at the socket are served, and the status says what is wrong."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", door.port))
        other.listen()
        async with serve(http=door):
            assert (await ask(folder))[0] == 0
            facts = json.loads((await ask(folder, agent="-", event="status"))[1])
    assert facts["http"] == {
        "port": door.port,
        "listening": False,
        "problem": facts["http"]["problem"],
    }
    assert "in use" in facts["http"]["problem"]


async def test_a_missing_package_costs_only_http(
    folder: Path, serve: Serve, door: HttpPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status names it with its extra."""
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    async with serve(http=door):
        assert (await ask(folder))[0] == 0
        facts = json.loads((await ask(folder, agent="-", event="status"))[1])
    assert not facts["http"]["listening"]
    assert "'uvicorn'" in facts["http"]["problem"]
