"""amplifier mcp gateway: stand between an MCP client and a server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from amplifier_hooks.cli.commands.mcp.gateway import _read_headers
from tests.hooks.cli.program import invoke

SERVER = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    said = os.environ.get("MARK", "") + json.dumps(asked.get("params", {}).get("arguments"))
    result = {"content": [{"type": "text", "text": said}]}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
HELLO = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n'


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "Give the server's command"),
        (["--http", "http://x/mcp", "--", "server"], "Give the server's command"),
        (["--http", "http://x/mcp", "--http-env", "A"], "Give the server's command"),
        (["--http-env", "UNSET_HERE"], "UNSET_HERE is not set"),
        (["--folder", "nowhere", "--", "server"], "'nowhere' does not exist"),
        (["--header-env", "A=B", "--", "server"], "--header-env is for"),
        (["--token-env", "A", "--", "server"], "are for --listen"),
        (["--pass-authorization", "--", "server"], "are for --listen"),
        (["--allow-host", "tools", "--", "server"], "are for --listen"),
        (["--allow-origin", "http://x", "--", "server"], "are for --listen"),
        (["--name", "a__b", "--", "server"], "no name for a server"),
        (["--http", "http://x/mcp", "--header-env", "A=UNSET_HERE"], "UNSET_HERE is not set"),
        (["--listen", "x:y:z", "--", "server"], "no [HOST:]PORT"),
        (["--listen", "0.0.0.0:1", "--", "server"], "need a token"),
    ],
)
def test_what_does_not_go_together_is_said(home: Path, arguments: list[str], why: str) -> None:
    """With exit code 2, before anything is started."""
    done = invoke("mcp", "gateway", *arguments)
    assert done.code == 2
    assert why in " ".join(done.stderr.split())


def test_a_header_has_the_value_of_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the word before it that the person has written."""
    monkeypatch.setenv("TOKEN", "a b=c")
    given = ("X-Key=TOKEN", "Authorization=Bearer TOKEN")
    assert _read_headers(given) == {"X-Key": "a b=c", "Authorization": "Bearer a b=c"}


@pytest.mark.parametrize("given", ["X-Key", "=TOKEN", "X-Key=", "X-Key=Bearer ", "X-Key=UNSET"])
def test_a_header_without_a_value_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server would answer something that nobody understands."""
    monkeypatch.delenv("UNSET", raising=False)
    with pytest.raises(click.BadParameter):
        _read_headers((given,))


def start(home: Path, *arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "amplifier_hooks.cli.main", "mcp", "gateway", *arguments]
    env = {**os.environ, "MARK": "of the server: "}
    return subprocess.Popen(command, cwd=home, env=env, stderr=subprocess.PIPE, **streams)


def test_a_client_speaks_with_a_server_through_it(home: Path) -> None:
    """The server has the environment of the gateway; it ends when the client goes."""
    (home / "server.py").write_text(SERVER)
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    running = start(home, "--name", "x", "--", sys.executable, "server.py", **piped)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    asked = json.dumps({**call, "params": {"name": "a", "arguments": {"b": 1}}}) + "\n"
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write(asked.encode())
    running.stdin.flush()
    answer = json.loads(running.stdout.readline())
    assert answer["result"]["content"][0]["text"] == 'of the server: {"b": 1}'
    assert running.communicate(timeout=60) == (b"", b"")
    assert running.returncode == 0


def test_a_server_that_is_not_there_is_an_error_for_both(home: Path) -> None:
    """For the client in the answer to its first request, for the person in the diagnostics."""
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    running = start(home, "--", "/there/is/none", **piped)
    out, err = running.communicate(HELLO, timeout=60)
    assert "cannot be started" in json.loads(out)["error"]["message"]
    assert b"cannot be started" in err
    assert running.returncode == 1


def test_the_rules_of_another_folder_judge_if_it_is_named(home: Path) -> None:
    """Not those of the folder in which a client starts the server."""
    project = home / "project"
    project.mkdir()
    (project / "amplifier.yaml").write_text("hooks: [{module: hooks-rules}]\n")
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    running = start(home, "--folder", "project", "--", sys.executable, "-c", "", **piped)
    out, err = running.communicate(HELLO, timeout=60)
    assert running.returncode == 3
    assert str(project) in err.decode()
    assert "amplifier trust" in json.loads(out)["error"]["message"]


def test_a_key_in_an_address_is_told_to_nobody(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither to who lists processes nor to who reads diagnostics, answers or files."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        monkeypatch.setenv("ADDRESS", f"http://127.0.0.1:{taken.getsockname()[1]}/mcp?key=s3cret")
        piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        running = start(home, "--http-env", "ADDRESS", **piped)
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(HELLO)
        running.stdin.flush()
        out = running.stdout.readline()
        rest, err = running.communicate(timeout=60)
    assert b"127.0.0.1" in out
    written = b"".join(one.read_bytes() for one in home.rglob("*") if one.is_file())
    assert b"mcp" in written
    assert b"s3cret" not in out + rest + err + written


async def test_clients_connect_by_http_until_a_signal_ends_it(home: Path) -> None:
    """The address is said where a person reads it."""
    (home / "server.py").write_text(SERVER)
    words = ("--allow-host", "tools", "--allow-origin", "http://page")
    running = start(home, "--listen", "0", *words, "--", sys.executable, "server.py")
    assert running.stderr is not None
    said = await asyncio.to_thread(running.stderr.readline)
    address = said.decode().split()[-1]
    host, _, port = address.removeprefix("http://").removesuffix("/mcp").partition(":")
    assert said.startswith(b"amplifier: clients connect to ")
    with socket.create_connection((host, int(port)), 30) as connection:
        connection.sendall(b"GET /nothing HTTP/1.1\r\nHost: tools\r\nOrigin: http://page\r\n\r\n")
        assert b"404" in connection.recv(1_000)
    running.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(running.wait, 60) == 0
    running.stderr.close()


def test_nobody_is_let_in_under_a_bundle_that_nobody_trusts(home: Path) -> None:
    """It is said at once, not when the first client comes."""
    (home / "amplifier.yaml").write_text("hooks: [hooks-rules]\n")
    running = start(home, "--listen", "0", "--", sys.executable, "-c", "")
    _, said = running.communicate(timeout=60)
    assert b"amplifier trust" in said
    assert running.returncode == 3
