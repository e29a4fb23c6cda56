"""The decisions about one request; `tests/hostile` has them over real sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from amplifier_hooks.http_guard import Door, Head, HttpGuard, Message, Refusal
from amplifier_hooks.http_guard import guard as guard_module
from amplifier_hooks.http_guard.guard import check_host, list_own_hosts, read_body, read_head

DOOR = Door(hosts=frozenset({"a.test"}), origins=frozenset({"https://a.test"}))
TLS_PORT = 443


class World:
    """An application behind a door, and what it was asked and answered."""

    def __init__(self, door: Door) -> None:
        self.bodies: list[bytes] = []
        self.sent: list[Message] = []
        self._guard = HttpGuard(self._answer, door)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        self.bodies.append((await receive()).get("body"))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})

    async def ask(self, *, kind: str = "http", body: bytes = b"", **headers: str) -> int:
        """The status of the answer."""
        given = {"host": "a.test", **{k.replace("_", "-"): v for k, v in headers.items()}}
        scope = {
            "type": kind,
            "method": "POST",
            "path": "/x",
            "headers": [(k.encode(), v.encode("latin-1")) for k, v in given.items()],
        }

        async def receive() -> Message:
            return {"type": "http.request", "body": body}

        await self._guard(scope, receive, self._send)
        status: int = self.sent[0].get("status", 0)
        return status

    async def _send(self, message: Message) -> None:
        self.sent.append(message)

    @property
    def headers(self) -> Mapping[bytes, bytes]:
        """Of the answer."""
        return dict(self.sent[0]["headers"])


def receive_all(*messages: Message) -> Any:
    """A `receive` that gives these, and then waits."""
    left = list(messages)

    async def receive() -> Message:
        if not left:
            await asyncio.Event().wait()
        return left.pop(0)

    return receive


def part(body: bytes, more: bool = False) -> Message:
    """A part of a body."""
    return {"type": "http.request", "body": body, "more_body": more}


async def test_the_application_sees_what_was_let_in():
    """With the whole body, and then whatever comes."""
    world = World(DOOR)
    assert await world.ask(body=b"{}", content_length="2", content_type="application/json") == 200
    assert world.bodies == [b"{}"]
    assert world.headers[b"cache-control"] == b"no-store"


async def test_a_refusal_has_a_code_a_sentence_and_what_the_status_asks_for():
    """The connection is closed: nobody read the rest of the body."""
    for door, status, name, value in (
        (replace(DOOR, token="t"), 401, b"www-authenticate", b"Bearer"),
        (replace(DOOR, methods=("GET", "PUT")), 405, b"allow", b"GET, PUT"),
    ):
        world = World(door)
        assert await world.ask() == status
        assert world.headers[name] == value
        assert world.headers[b"connection"] == b"close"
        error = json.loads(world.sent[1]["body"])["error"]
        assert error["code"]
        assert error["message"].endswith(".")
        assert world.bodies == []


async def test_a_handshake_is_refused_before_it_is_accepted():
    """By closing it, where the server cannot send a status."""
    world = World(DOOR)
    assert await world.ask(kind="websocket", origin="https://evil.test") == 0
    assert (world.sent[0]["type"], world.sent[0]["code"]) == ("websocket.close", 1008)


async def test_who_does_not_read_an_answer_is_given_up(monkeypatch: pytest.MonkeyPatch):
    """A stuck answer holds its place only for so long."""
    monkeypatch.setattr(guard_module, "SEND_SECONDS", 0.01)
    world = World(DOOR)

    async def never(message: Message) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(world, "_send", never)
    with pytest.raises(TimeoutError):
        await world.ask()


async def test_a_body_is_read_to_its_end_and_no_further_than_the_limit(
    monkeypatch: pytest.MonkeyPatch,
):
    """In as many parts as it comes; whatever the head says, and not for ever."""
    assert await read_body(receive_all(part(b"ab", True), part(b"c")), 3) == b"abc"
    gone = receive_all(part(b"a", True), {"type": "http.disconnect"})
    assert await read_body(gone, 10) is None
    with pytest.raises(Refusal, match="at most 3 bytes") as large:
        await read_body(receive_all(part(b"ab", True), part(b"cd", True)), 3)
    monkeypatch.setattr(guard_module, "BODY_SECONDS", 0.01)
    with pytest.raises(Refusal) as slow:
        await read_body(receive_all(part(b"a", True)), 10)
    assert (large.value.status, slow.value.status) == (413, 408)


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [
        ("127.0.0.1", 8411, {"127.0.0.1:8411", "localhost:8411", "[::1]:8411"}),
        ("127.0.0.2", 1, {"127.0.0.2:1", "127.0.0.1:1", "localhost:1", "[::1]:1"}),
        ("10.0.0.5", 8411, {"10.0.0.5:8411"}),
        ("fd00::1", TLS_PORT, {"[fd00::1]:443", "[fd00::1]"}),
        ("0.0.0.0", 1, {"127.0.0.1:1", "localhost:1", "[::1]:1"}),
    ],
)
def test_a_listener_knows_its_own_names(host: str, port: int, expected: set[str]):
    """Loopback by three; the port of the scheme may be left out, as browsers do."""
    assert list_own_hosts(host, port, TLS_PORT) == expected


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("tools", 0),
        ("tools:1", 0),
        ("tools:65535", 0),
        ("tools:x", 421),
        ("tools:", 421),
        ("tools.", 421),
        ("x.tools", 421),
        ("10.0.0.5:80", 0),
        ("10.0.0.6:80", 421),
        ("10.0.0.5", 421),
    ],
)
def test_further_names_come_with_any_port_and_addresses_as_the_connection_came(
    host: str, status: int
):
    """Not every number is ours."""
    door = Door(hosts=frozenset(), names=frozenset({"tools"}), any_own_address=True)
    head = Head("POST", "/", (("host", host),), own_address="10.0.0.5:80")
    if status:
        with pytest.raises(Refusal) as refused:
            check_host(head, door)
        assert refused.value.status == status
    else:
        check_host(head, door)


def test_headers_are_found_in_any_case_and_every_value_is_kept():
    """So that two values are never taken for one of them."""
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/x",
        "headers": [(b"Host", b"a"), (b"host", b"b")],
        "server": ("::1", 80),
    }
    head = read_head(scope)
    assert (head.method, head.path, head.own_address) == ("GET", "/x", "[::1]:80")
    assert head.list("host") == ["a", "b"]
    assert head.get("HOST") == "a, b"
    assert head.get("origin") is None


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, True),
        ("*/*", True),
        ("text/event-stream", True),
        ("application/json, Text/Event-Stream;q=0.5", True),
        ("text/*", True),
        ("application/json", False),
        ("", False),
    ],
)
def test_what_a_client_accepts(accept: str | None, expected: bool):
    """Everything, if it does not say."""
    headers = (("accept", accept),) if accept is not None else ()
    assert Head("GET", "/mcp", headers).accepts("text/event-stream") is expected
