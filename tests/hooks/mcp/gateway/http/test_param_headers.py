"""Arguments that a tool's schema wants repeated in a header."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.guards.mcp.frames import Frame, write_frame
from amplifier_hooks.mcp.gateway.http.param_headers import ParamHeaders


def _call(name: str, arguments: Any) -> Frame:
    params = {"name": name, "arguments": arguments}
    return write_frame({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def _tool(**properties: Any) -> dict[str, Any]:
    return {"name": "query", "inputSchema": {"type": "object", "properties": properties}}


def _mark(name: Any, kind: Any = "string") -> dict[str, Any]:
    return {"type": kind, "x-mcp-header": name}


NESTED = _tool(
    region=_mark("Region"),
    size=_mark("Size", "integer"),
    dry=_mark("Dry", ["boolean", "null"]),
    place={"type": "object", "properties": {"zone": _mark("Zone")}},
)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"region": "eu"}, {"Mcp-Param-Region": "eu"}),
        ({"region": "é"}, {"Mcp-Param-Region": "=?base64?w6k=?="}),
        ({"size": 3, "dry": False}, {"Mcp-Param-Size": "3", "Mcp-Param-Dry": "false"}),
        ({"size": 42.0}, {"Mcp-Param-Size": "42"}),
        ({"place": {"zone": "a"}, "zone": "b"}, {"Mcp-Param-Zone": "a"}),
        ({"region": None, "place": "a", "other": 1}, {}),
        ({"region": ["eu"]}, {}),
        (None, {}),
        ("text", {}),
    ],
)
def test_headers_are_read_from_the_arguments_that_are_sent(
    arguments: Any, expected: dict[str, str]
):
    """At the exact path; nothing for what is not there."""
    params = ParamHeaders()
    assert params.learn([NESTED]) == {}
    assert params.list_headers(_call("query", arguments)) == expected


def test_only_calls_of_known_tools_have_them():
    """Other methods, and tools that were not listed, have none."""
    params = ParamHeaders()
    params.learn([NESTED])
    assert params.list_headers(_call("other", {"region": "eu"})) == {}
    got = {"name": "query", "arguments": {"region": "eu"}}
    frame = write_frame({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": got})
    assert params.list_headers(frame) == {}


@pytest.mark.parametrize(
    "tool",
    [
        _tool(a=_mark("")),
        _tool(a=_mark("A\r\nEvil: x")),
        _tool(a=_mark(3)),
        _tool(a=_mark("A"), b=_mark("a")),
        _tool(a=_mark("A", "number")),
        _tool(a=_mark("A", "object")),
        _tool(a=_mark("A", [{}])),
        _tool(a={"type": "array", "items": _mark("A")}),
        _tool(a={"anyOf": [_mark("A")]}),
        {"name": "query", "inputSchema": {"$defs": {"a": _mark("A")}}},
        {"name": "query", "inputSchema": _mark("A")},
    ],
)
def test_a_tool_that_wants_what_is_not_allowed_is_refused(tool: dict[str, Any]):
    """A header must be a name, be there once, and have one fixed argument; none is made else."""
    params = ParamHeaders()
    params.learn([NESTED])
    assert "x-mcp-header" in params.learn([tool])["query"]
    assert params.list_headers(_call("query", {"a": "x", "region": "eu"})) == {}


def test_values_that_only_look_like_marks_are_none():
    """A property may have that name, and an example may show it."""
    tool = _tool(**{"x-mcp-header": {"type": "string", "default": {"x-mcp-header": 1}}})
    assert ParamHeaders().learn([tool, "rubbish", {"name": 3}]) == {}


def test_the_last_list_counts():
    """A tool that no longer wants a header gets none."""
    params = ParamHeaders()
    params.learn([NESTED])
    params.learn([_tool(region={"type": "string"})])
    assert params.list_headers(_call("query", {"region": "eu"})) == {}
