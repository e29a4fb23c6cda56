"""The gateway between a real agent and a real MCP server: files on disk, and the trail."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.agents.cases import run_with
from tests.agents.programs import Program
from tests.agents.trails import Trail, read_trails
from tests.agents.world import World

pytestmark = pytest.mark.agents

ROOT = Path(__file__).parents[2]
SERVER = "node/node_modules/.bin/mcp-server-filesystem"
DONE = {"text": "Done."}
run_with_clients = run_with("claude", "codex", "gemini")


@pytest.fixture(scope="session")
def filesystem_server() -> Path:
    """The program of the server, which writes files for its client."""
    done = subprocess.run([ROOT / "scripts" / "mcp-servers"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        pytest.fail("scripts/mcp-servers could not install the servers; it says why above")
    return Path(done.stdout.strip()) / SERVER


@pytest.fixture
def connected(bare_world: World, program: Program, filesystem_server: Path) -> World:
    """A machine whose agent has the server, with nothing between them."""
    bare_world.set_up(program)
    bare_world.write_bundle()
    node = shutil.which("node") or "node"
    command = [node, str(filesystem_server.resolve()), str(bare_world.project)]
    program.add_server(bare_world.home, "files", command)
    return bare_world


@run_with_clients
async def test_a_tool_of_a_server_is_judged_by_the_gateway(
    connected: World, program: Program
) -> None:
    """What is denied is not done; the model reads why, and the trail has both calls."""
    connected.amplifier("guard", "mcp", "--client", program.name)
    calls = [_write_file(connected, program, word) for word in ("deny-me", "fine")]
    outcome = await connected.run(program, [*({"tool_calls": [one]} for one in calls), DONE])
    assert connected.read("fine.txt") == ["fine"], outcome.output
    assert connected.read("deny-me.txt") == []
    assert "the-judge-refuses" in outcome.asked[1]
    trails = await asyncio.to_thread(read_trails, connected)
    assert [call for trail in trails for call in _list_calls(trail)] == [
        ("mcp__files__write_file", "deny-me", "deny"),
        ("mcp__files__write_file", "fine", "continue"),
    ]


@run_with_clients
async def test_without_the_gateway_the_tool_is_not_judged(
    connected: World, program: Program
) -> None:
    """The control, after it was put in and taken out again."""
    connected.amplifier("guard", "mcp", "--client", program.name)
    connected.amplifier("guard", "mcp", "--client", program.name, "--remove")
    call = _write_file(connected, program, "deny-me")
    outcome = await connected.run(program, [{"tool_calls": [call]}, DONE])
    assert connected.read("deny-me.txt") == ["deny-me"], outcome.output


@run_with_clients
async def test_a_guarded_agent_cannot_take_the_gateway_out(
    connected: World, program: Program
) -> None:
    """Neither by its shell, nor with its own program."""
    connected.guard(program, "--user")
    connected.amplifier("guard", "mcp", "--client", program.name)
    status = json.loads(connected.amplifier("guard", "mcp", "--status", "--json"))
    (file,) = {one["file"] for found in status["clients"] for one in found["servers"]}
    before = Path(file).read_text()
    commands = [f"echo '{{}}' > {file}", f"{program.name} mcp remove files"]
    calls = [program.call_shell(command) for command in commands]
    outcome = await connected.run(program, [*({"tool_calls": [one]} for one in calls), DONE])
    assert len(outcome.asked) == 3, outcome.output
    assert _count_gateways(Path(file).read_text()) == _count_gateways(before) == 1


@run_with_clients
async def test_the_agent_connects_to_what_was_written_for_it(
    connected: World, program: Program
) -> None:
    """Its own list of servers says so; Codex does not try them for it."""
    connected.amplifier("guard", "mcp", "--client", program.name)
    status = json.loads(connected.amplifier("guard", "mcp", "--status", "--json"))
    assert status["stands"]
    listed = await asyncio.to_thread(_list_servers, connected, program)
    assert "mcp gateway --name files" in listed
    assert {"codex": "enabled"}.get(program.name, "Connected") in listed


def _count_gateways(text: str) -> int:
    return text.count("amplifier_hooks.cli.main")


def _write_file(world: World, program: Program, word: str) -> dict[str, object]:
    input = {"path": str(world.project / f"{word}.txt"), "content": word}
    return program.call_server("files", "write_file", input)


def _list_calls(trail: Trail) -> list[tuple[str, str, str]]:
    return [
        (body["data"]["tool_name"], body["data"]["tool_input"]["content"], body["action"])
        for body in trail.list_events("tool:pre")
    ]


def _list_servers(world: World, program: Program) -> str:
    start = program.build_command(world.locate(program), "")
    words = start[: min(start.index(one) for one in ("-p", "exec") if one in start)]
    env = {**world.env, **program.build_environment(world.home, "http://127.0.0.1:9")}
    done = subprocess.run(
        [*words, "mcp", "list"], cwd=world.project, env=env, capture_output=True, text=True
    )
    return done.stdout + done.stderr
