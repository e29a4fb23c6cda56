"""Tools of real MCP servers in a session of our own, all servers at once."""

from __future__ import annotations

from typing import Any

import yaml

from tests.mcp.servers import SERVERS, get_files, has_branch, has_file
from tests.support.mcp.world import BUNDLE, World

WORDS = ("plain", "deny-me", "rewrite-me")


def write_bundle(world: World) -> None:
    """A session with every server, whose model calls a tool of each three times."""
    bundle: dict[str, Any] = yaml.safe_load(BUNDLE)
    commands = {name: server.build(world) for name, server in SERVERS.items()}
    servers = {name: {"command": one[0], "args": one[1:]} for name, one in commands.items()}
    bundle["tools"] = [{"module": "tool-mcp", "config": {"servers": servers}}]
    script: list[dict[str, Any]] = []
    for name, server in SERVERS.items():
        for word in WORDS:
            tool, given = server.call(world, word)
            script.append({"tool_calls": [{"name": f"mcp__{name}__{tool}", "input": given}]})
    provider = {"module": "provider-scripted", "config": {"script": [*script, {"text": "Done."}]}}
    bundle["providers"] = [provider]
    world.write_bundle(yaml.safe_dump(bundle, sort_keys=False))


async def test_tools_of_all_servers_work_in_one_session_and_pass_its_hooks(world: World) -> None:
    """Five servers, in the protocol that each speaks; what is denied has not happened."""
    write_bundle(world)
    said = await world.run_amplifier("run", "do it")
    assert "Done." in said
    trail = world.read_trail()
    called = trail.list_calls()
    assert [name.split("__")[1] for name, _ in called] == [name for name in SERVERS for _ in WORDS]
    assert [action for _, action in called] == ["continue", "deny", "continue"] * len(SERVERS)
    assert has_branch(world, "plain")
    assert has_branch(world, "rewritten")
    assert not has_branch(world, "deny-me")
    assert has_file(world, "rewritten")
    assert not has_file(world, "deny-me")
    assert not (get_files(world) / "rewrite-me").exists()
    finished = [one["body"] for one in trail.records if one["type"] == "tool_finished"]
    assert len(finished) == 2 * len(SERVERS)
