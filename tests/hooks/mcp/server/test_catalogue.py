"""What the tools are called, and what they say of themselves."""

from __future__ import annotations

import json
import re
from pathlib import Path

from amplifier_hooks.mcp.server.catalogue import INSTRUCTIONS, TEXTS
from amplifier_hooks.mcp.server.tool import Tool
from tests.hooks.mcp.server.world import World

ROOT = Path(__file__).parents[4]
DECIDES = re.compile(
    r"allow|approve|decide|grant|nonce|revoke|withdraw|vote|password|token|rule_id", re.IGNORECASE
)


def list_members(schema: object) -> set[str]:
    """The names of all members, however deep."""
    if isinstance(schema, list):
        return {name for one in schema for name in list_members(one)}
    if not isinstance(schema, dict):
        return set()
    own = set(schema.get("properties", {}))
    return own | {name for one in schema.values() for name in list_members(one)}


def test_every_tool_is_told_of_and_has_exact_schemas(full_world: World) -> None:
    """Objects that take nothing unknown, with a description for each argument."""
    tools: list[Tool] = list(full_world.open().tools.values())
    assert [one.name for one in tools] == list(TEXTS)
    for tool in tools:
        assert tool.name in INSTRUCTIONS
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["additionalProperties"] is False
        assert all("description" in one for one in tool.input_schema.get("properties", {}).values())
        assert len(json.dumps(tool.input_schema)) < 2_000


def test_no_tool_takes_anything_with_which_one_could_decide(full_world: World) -> None:
    """Neither by its name nor by an argument; who allowed something may be shown."""
    for tool in full_world.open().tools.values():
        assert not DECIDES.search(tool.name)
        assert not [one for one in list_members(tool.input_schema) if DECIDES.search(one)]
    shown = {
        name
        for tool in full_world.open().tools.values()
        for name in list_members(tool.output_schema)
        if DECIDES.search(name)
    }
    assert shown == {"allowed_by", "requester_may_approve"}


def test_the_page_names_every_tool(full_world: World) -> None:
    """And nothing that is not there."""
    page = (ROOT / "docs" / "mcp" / "server.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert rows == list(full_world.open().tools)
