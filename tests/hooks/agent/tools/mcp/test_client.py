"""A client of one server: what is sent and read, how it ends, what the server printed."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.tools.live_output import CAPABILITY
from amplifier_hooks.agent.tools.mcp.client import StderrTail
from tests.support.waiting import wait_until

SDK = Path(__file__).parents[4] / "support" / "mcp_server_sdk.py"


async def test_tools_resources_and_images_come_through(server):
    """From a real process."""
    await server.start()
    assert (await server.call("echo", text="hi")).output == "hi"
    (image,) = (await server.call("picture")).content
    assert image.source["media_type"] == "image/png"
    assert (await server.call("read_resource", uri="small://a")).output == "content"
    assert "mcp__small__list_prompts" not in server.host.get("tools")


async def test_all_pages_of_a_list_are_read_once(server):
    """A server that gives the same page again and again is not asked for ever."""
    await server.start()
    pages = (await server.call("list_resources")).output
    assert [one["name"] for one in pages] == ["None", "again"]


async def test_progress_comes_through(server):
    """To whoever looks on."""
    shown = []

    class View:
        def feed(self, stream, text):
            shown.append(text)

        def close(self):
            shown.append("closed")

    server.host.register_capability(CAPABILITY, lambda tool, about: View())
    await server.start()
    assert (await server.call("progress")).output == "done"
    assert shown == ["1/2 step 1\n", "2/2 step 2\n", "closed"]


async def test_a_cancelled_call_is_cancelled_at_the_server(server):
    """By the notification that the protocol has for it."""
    await server.start()
    call = asyncio.ensure_future(server.call("hold"))
    await wait_until(lambda: "tools/call" in server.received)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await wait_until(lambda: "notifications/cancelled" in server.received)


@pytest.mark.parametrize("kind", ["tools", "prompts"])
async def test_changes_and_log_messages_are_heard(server, kind):
    """Without being asked for."""
    await server.start()
    await server.call("grow", text=kind)
    await wait_until(lambda: "mcp__small__more" in server.host.get("tools"))
    await wait_until(lambda: "mcp__small__get_prompt" in server.host.get("tools"))
    await server.wait_for_text("low on memory")


async def test_servers_are_offered_neither_our_model_nor_questions(server):
    """They know beforehand, and can do without."""
    await server.start()
    first = json.loads((server.folder / "received").read_text().splitlines()[0])
    text = json.dumps(first["params"])
    assert not any(word in text for word in ("sampling", "elicitation", "roots"))


async def test_what_the_server_refuses_is_told(server):
    """It is no lost connection."""
    await server.start(restart={"attempts": 0})
    result = await server.call("refuse", text="not today")
    assert result.output == "The MCP server 'small' refused: not today"
    assert (await server.call("picture")).success


@pytest.mark.slow
@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25"])
async def test_a_server_of_the_sdk_works_in_both_eras(server, era):
    """With images, progress, changes, log messages, cancellation and a death."""
    server.config["args"] = [str(SDK), str(server.folder)]
    if era < "2026":
        server.config["args"].append("legacy")
    await server.start()
    assert (await server.call("add", a=1, b=2)).output == 3
    assert not (await server.call("add", a="x", b=2)).success
    assert [one.type for one in (await server.call("picture")).content] == ["image"]
    assert (await server.call("read_resource", uri="sdk://a")).output == "content"
    hold = asyncio.ensure_future(server.call("hold"))
    await wait_until((server.folder / "held").exists)
    hold.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hold
    await wait_until((server.folder / "cancelled").exists)
    assert (await server.call("grow")).output == "grown"
    await server.wait_for_text("low on memory")
    assert (server.folder / "era").read_text() == era
    if era < "2026":  # the SDK tells older clients of no changes
        return
    await wait_until(lambda: "mcp__small__more" in server.host.get("tools"))
    assert "ended during this call" in (await server.call("die")).output
    assert (await server.call("add", a=5, b=6)).output == 11


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


@pytest.fixture
async def tail():
    made = StderrTail("calc")
    yield made
    made.close()


async def test_the_last_lines_are_kept(tail):
    """They say why a server ended."""
    tail.writer.write("".join(f"line {number}\n" for number in range(10)))
    tail.writer.flush()
    assert tail.describe().splitlines() == [f"line {number}" for number in range(5, 10)]


async def test_nothing_said_is_nothing(tail):
    """Most servers are silent."""
    assert tail.describe() == ""


async def test_whoever_prints_much_does_not_wait(tail):
    """More than a pipe holds, and no more of it is kept than is shown."""

    def flood():
        for _ in range(50):
            tail.writer.write("x" * 10_000 + "\n")
        tail.writer.write("the end\n")
        tail.writer.flush()

    await asyncio.wait_for(asyncio.to_thread(flood), 30)
    assert tail.describe().endswith("the end")
    assert len(tail._kept) <= 4_000


async def test_bytes_that_are_no_text_are_shown_as_such(tail):
    """And a line that is long is cut."""
    tail.writer.buffer.write(b"\xff\xfe odd\n" + b"y" * 3_000 + b"\n")
    tail.writer.buffer.flush()
    odd, long = tail.describe().splitlines()
    assert odd.endswith(" odd")
    assert len(long) == 300
