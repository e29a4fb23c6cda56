"""What a model is shown of one tool of a server."""

from __future__ import annotations

from typing import Any

from amplifier_foundation.mcp.definitions import Definition

_NOTHING_SAID = "The server says nothing about this tool."


def read_description(tool: Definition) -> str:
    """What it does, as far as its server says so."""
    said = tool.get("description") or tool.get("title")
    return said if isinstance(said, str) and said.strip() else _NOTHING_SAID


def read_schema(tool: Definition) -> dict[str, Any]:
    """The schema of its input; models want an object."""
    found = tool.get("inputSchema")
    schema = dict(found) if isinstance(found, dict) else {}
    return schema if schema.get("type") == "object" else {**schema, "type": "object"}
