"""A tool of a server in a session."""

from __future__ import annotations

import pytest

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools.mcp.calls import Caller
from amplifier_hooks.agent.tools.mcp.tool import McpTool, read_description, read_schema
from tests.support.mcp_links import ADD, FakeServer


async def test_it_is_called_at_the_server_by_its_own_name():
    """With what hooks left of the input."""
    server = FakeServer()
    connection = server.connect()
    await connection.start()
    tool = McpTool("mcp__calc__add", "add", "digest", Caller(TestCoordinator(), connection, 60))
    tool.show(ADD)
    assert (await tool.execute({"a": 1, "b": 2})).output == "3"
    assert server.calls == [("add", {"a": 1, "b": 2})]
    assert tool.description == "Adds."
    assert tool.input_schema == ADD["inputSchema"]
    await connection.close()


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ({"description": "Adds.", "title": "Add"}, "Adds."),
        ({"title": "Add"}, "Add"),
        ({"description": "  "}, "The server says nothing about this tool."),
        ({"description": 3}, "The server says nothing about this tool."),
        ({}, "The server says nothing about this tool."),
    ],
)
def test_models_always_get_a_description(tool, said):
    """They choose by it."""
    assert read_description(tool) == said


@pytest.mark.parametrize(
    ("given", "schema"),
    [
        ({"type": "object", "$defs": {}}, {"type": "object", "$defs": {}}),
        ({"properties": {}}, {"properties": {}, "type": "object"}),
        (None, {"type": "object"}),
        ("odd", {"type": "object"}),
    ],
)
def test_models_always_get_the_schema_of_an_object(given, schema):
    """Some servers leave it out."""
    assert read_schema({"inputSchema": given}) == schema
