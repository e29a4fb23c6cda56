"""The gateway between a real agent and an MCP server elsewhere: its token arrives as before."""

from __future__ import annotations

import json
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.agents.cases import run_with
from tests.agents.programs import PROGRAMS, Program
from tests.agents.world import World

pytestmark = pytest.mark.agents

TOOL = {"name": "say", "description": "Say a word.", "inputSchema": {"type": "object"}}
SECRETS = {"WEB_TOKEN": "t0ken", "WEB_KEY": "k3y"}
DONE = {"text": "Done."}


class Server(ThreadingHTTPServer):
    """A server with one tool, which keeps what was called, with the headers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.calls: list[tuple[str, str | None, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/mcp"

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """The result of a request; None for what it does not know."""
        version = message.get("params", {}).get("protocolVersion")
        about = {"name": "web", "version": "1"}
        results: dict[str, dict[str, Any]] = {
            "initialize": {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": about,
            },
            "tools/list": {"tools": [TOOL]},
            "tools/call": {"content": [{"type": "text", "text": "the-server-says-it"}]},
        }
        return results.get(message["method"])


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if message.get("method") == "tools/call":
            word = message["params"]["arguments"]["word"]
            given = (self.headers["Authorization"], self.headers["X-Key"])
            self.server.calls.append((word, *given))
        if "id" not in message:
            self._send(202, b"")
            return
        result = self.server.answer(message)
        unknown = {"error": {"code": -32601, "message": "unknown method"}}
        body = {"result": result} if result is not None else unknown
        self._send(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}).encode())

    def do_GET(self) -> None:
        self._send(405, b"")

    def do_DELETE(self) -> None:
        self._send(405, b"")

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    """On this machine, until the test ends."""
    with Server() as one:
        thread = threading.Thread(target=one.serve_forever)
        thread.start()
        try:
            yield one
        finally:
            one.shutdown()
            thread.join()


@run_with("claude", "codex", "gemini")
async def test_a_server_elsewhere_gets_its_token_through_the_gateway(
    bare_world: World, program: Program, server: Server
) -> None:
    """From the agent's variables, for calls that are allowed and for no others."""
    world = bare_world
    world.set_up(program)
    world.write_bundle()
    path = _add_server(program, world.home, server.url)
    before = path.read_text()
    world.amplifier("guard", "mcp", "--client", program.name)
    assert "t0ken" not in path.read_text()
    calls = [program.call_server("web", "say", {"word": word}) for word in ("deny-me", "fine")]
    script: list[dict[str, Any]] = [*({"tool_calls": [one]} for one in calls), DONE]
    outcome = await world.run(program, script, env=SECRETS)
    assert server.calls == [("fine", "Bearer t0ken", "k3y")], outcome.output
    assert "the-judge-refuses" in outcome.asked[1]
    assert "the-server-says-it" in outcome.asked[2]
    world.amplifier("guard", "mcp", "--client", program.name, "--remove")
    assert _read_server(path, path.read_text()) == _read_server(path, before)


def _add_server(program: Program, home: Path, url: str) -> Path:
    """In the form of each; Codex names variables where the others write them into texts."""
    if program is PROGRAMS["codex"]:
        path = home / ".codex" / "config.toml"
        table = f'\n[mcp_servers.web]\nurl = "{url}"\nbearer_token_env_var = "WEB_TOKEN"\n'
        table += 'env_http_headers = { X-Key = "WEB_KEY" }\nrequired = true\n'
        path.write_text(path.read_text() + table)
        return path
    is_claude = program is PROGRAMS["claude"]
    path = home / (".claude.json" if is_claude else ".gemini/settings.json")
    headers = {"Authorization": "Bearer ${WEB_TOKEN}", "X-Key": "${WEB_KEY}"}
    address = {"type": "http", "url": url} if is_claude else {"httpUrl": url}
    settings = json.loads(path.read_text()) if path.exists() else {}
    settings["mcpServers"] = {"web": {**address, "headers": headers}}
    path.write_text(json.dumps(settings))
    return path


def _read_server(path: Path, text: str) -> object:
    if path.suffix == ".toml":
        return tomllib.loads(text)["mcp_servers"]["web"]
    return json.loads(text)["mcpServers"]["web"]
