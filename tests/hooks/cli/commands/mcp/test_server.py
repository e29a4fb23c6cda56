"""amplifier mcp server, as a client starts it."""

from __future__ import annotations

import os
import re
import socket
import sys
from pathlib import Path

import pytest

from amplifier_hooks.cli.commands.mcp import server as command
from tests.hooks.cli.program import invoke


def test_help_says_what_it_can_and_cannot_do(home: Path) -> None:
    """Every tool by its name, and how a client is told of it."""
    told = invoke("mcp", "server", "--help").stdout
    for text in ("check_call", "verify_trail", "Nothing in it can", "claude mcp add", "--all"):
        assert text in told


def test_in_a_folder_that_holds_everything_it_does_not_start(home: Path) -> None:
    """Here the home itself: the agents of one project would see those of all."""
    refused = invoke("mcp", "server")
    assert refused.code == 2
    assert "--folder, or say --all" in refused.stderr


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("0.0.0.0:8765", "may be another machine's"),
        ("example.com:80", "may be another machine's"),
        (":8765x", "is no place to listen"),
        ("0", "is no place to listen"),
        ("99999", "is no place to listen"),
    ],
)
def test_it_listens_on_this_machine_only(home: Path, place: str, told: str) -> None:
    """What it shows is for one person."""
    refused = invoke("mcp", "server", "--all", "--listen", place)
    assert refused.code == 2
    assert told in refused.stderr


@pytest.mark.parametrize(
    ("given", "place"),
    [("8765", ("127.0.0.1", 8765)), ("localhost:80", ("localhost", 80)), ("[::1]:80", ("::1", 80))],
)
def test_a_place_is_a_port_with_or_without_a_host(given: str, place: tuple[str, int]) -> None:
    """Without one it is 127.0.0.1."""
    assert command.read_place(None, None, given) == place  # type: ignore[arg-type]


def test_without_the_sdk_it_says_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a command to paste."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    refused = invoke("mcp", "server", "--all")
    assert refused.code == 1
    assert "needs the mcp package" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_client_starts_it_and_asks_a_thousand_times(home: Path, era: str) -> None:
    """Over standard input and output, in both eras."""
    from mcp import Client, StdioServerParameters

    (home / "project").mkdir()
    program = [sys.executable, "-m", "amplifier_hooks.cli.main", "mcp", "server"]
    started = StdioServerParameters(
        command=program[0], args=program[1:], env=dict(os.environ), cwd=home / "project"
    )
    async with Client(started, mode=era) as client:
        for number in range(1000):
            given = {"tool_name": "Bash", "tool_input": {"command": f"rm -rf /{number % 7}"}}
            told = await client.call_tool("check_call", given)
            assert told.structured_content["answer"] in ("deny", "ask_user")


@pytest.mark.slow
async def test_over_a_port_a_client_needs_the_token(home: Path) -> None:
    """Which the server prints for its person, and nobody else."""
    import asyncio

    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    (home / "project").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = ["-m", "amplifier_hooks.cli.main", "mcp", "server", "--listen", str(port)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *program, cwd=home / "project", stderr=asyncio.subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        token = (await process.stderr.readline()).decode().split()[-1]
        await process.stderr.readline()
        url = f"http://127.0.0.1:{port}/mcp"
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
            for _ in range(200):
                try:
                    await http.get(url)
                    break
                except httpx2.ConnectError:
                    await asyncio.sleep(0.1)
            async with Client(streamable_http_client(url, http_client=http)) as client:
                told = await client.call_tool("list_sessions", {})
                assert told.structured_content["sessions"] == []
        async with httpx2.AsyncClient() as stranger:
            assert (await stranger.post(url, json={})).status_code == 401
    finally:
        process.terminate()
        await process.communicate()


def test_the_page_names_every_option() -> None:
    """As the help does."""
    page = (Path(__file__).parents[5] / "docs" / "mcp" / "server.md").read_text()
    options = {name for one in command.server.params for name in one.opts}
    assert options == {one.split()[0] for one in re.findall(r"^\| `(--[^`]*)`", page, re.MULTILINE)}


@pytest.mark.slow
def test_at_a_terminal_it_says_what_it_waits_for_and_ctrl_c_ends_it(home: Path) -> None:
    """A person who tries it sees neither nothing nor a traceback."""
    import pexpect

    (home / "project").mkdir()
    words = ["-m", "amplifier_hooks.cli.main", "mcp", "server"]
    program = pexpect.spawn(sys.executable, words, cwd=str(home / "project"), timeout=60)
    program.expect("waits for an MCP client")
    program.sendline('{"jsonrpc": "2.0", "id": 1, "method": "ping"}')
    program.expect('"(result|error)"')
    program.sendintr()
    program.expect(pexpect.EOF)
    program.close()
    assert program.exitstatus == 130
