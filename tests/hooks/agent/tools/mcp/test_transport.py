"""Pipes and HTTP, and what a server can do to them."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@pytest.mark.parametrize("fault", ["die", "break_off"])
async def test_a_call_is_lost_with_its_server_and_the_next_one_runs(server, fault):
    """Killed, or ended in the middle of a message."""
    await server.start()
    result = await server.call(fault)
    assert not result.success
    assert "ended during this call" in result.output
    assert (await server.call("echo", text="back")).output == "back"
    await server.wait_for_text("is running again")
    assert server.received.count("tools/call") == 2


async def test_rubbish_on_standard_output_is_no_message(server):
    """The connection goes on."""
    await server.start()
    assert (await server.call("rubbish")).output == "after rubbish"
    assert (await server.call("echo", text="still")).output == "still"


async def test_a_flood_on_standard_error_holds_nobody_up(server):
    """It is read, and only its end is kept."""
    await server.start()
    assert (await server.call("flood")).output == "after the flood"


async def test_a_server_that_ends_at_once_says_why(server):
    """With the last lines of its standard error."""
    (server.folder / "fault").write_text("exit")
    await server.start(restart={"attempts": 0})
    await server.wait_for_text("cannot open the database")


async def test_a_server_that_never_answers_is_left_out(server):
    """After the time that a start may take."""
    (server.folder / "fault").write_text("silent")
    await server.start(start_timeout=0.2, restart={"attempts": 0})
    await server.wait_for_text("did not answer within 0.2 seconds")
    assert server.host.get("tools") == {}


class Remote:
    """A server behind HTTP, as small as can be."""

    def __init__(self):
        remote = self
        self.seen: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.lives = 1

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.reply(*remote.take(dict(self.headers), body))

            def do_GET(self):
                self.reply(405, None)

            def do_DELETE(self):
                self.reply(405, None)

            def reply(self, status, body):
                data = b"" if body is None else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Mcp-Session-Id", str(remote.lives))
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                return None

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/mcp"
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def take(self, head, body):
        """The status, and the answer."""
        self.seen.append((head, body))
        if head["Authorization"] != "Bearer tok-123456":
            return 401, {}
        known = {name.lower(): value for name, value in head.items()}.get("mcp-session-id")
        if known not in (None, str(self.lives)):
            return 400, {}
        return (200, self.answer(body)) if "id" in body else (202, None)

    def answer(self, body):
        results = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "remote", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "hi", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "hello"}]},
        }
        found = results.get(body["method"])
        base = {"jsonrpc": "2.0", "id": body["id"]}
        if found is None:
            return {**base, "error": {"code": -32601, "message": "no such method"}}
        return {**base, "result": found}

    def close(self):
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def remote():
    made = Remote()
    yield made
    made.close()


@pytest.fixture
def at_remote(server, remote, monkeypatch):
    monkeypatch.setenv("DOCS_TOKEN", "tok-123456")
    authorization = {"env": "DOCS_TOKEN", "prefix": "Bearer "}
    server.config = {
        "url": remote.url,
        "headers": {"Authorization": authorization},
        "restart": {"delay": 0.01},
    }
    return server


async def test_http_sends_the_headers_that_are_named(at_remote, remote):
    """A secret is found where the bundle says it is."""
    await at_remote.start()
    assert (await at_remote.call("hi")).output == "hello"
    assert all(head["Authorization"] == "Bearer tok-123456" for head, _ in remote.seen)


async def test_a_server_that_refuses_us_is_told_without_the_secret(at_remote, monkeypatch):
    """Nobody learns the token from an error."""
    monkeypatch.setenv("DOCS_TOKEN", "wrong-token-987")
    await at_remote.start(restart={"attempts": 0}, start_timeout=10)
    await at_remote.wait_for_text("has not started")
    assert "wrong-token-987" not in at_remote.shown


async def test_a_server_that_was_started_anew_is_connected_to_anew(at_remote, remote):
    """It does not know the session of before, and would refuse everything."""
    await at_remote.start()
    remote.lives = 2
    assert not (await at_remote.call("hi")).success
    assert (await at_remote.call("hi")).output == "hello"
    await at_remote.wait_for_text("is running again")
