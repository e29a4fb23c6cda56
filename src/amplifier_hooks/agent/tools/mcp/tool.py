"""A tool of a server, as a session has it."""

from __future__ import annotations

from typing import Any

from amplifier_core.models import ToolResult
from amplifier_hooks.agent.tools.mcp.calls import Caller, describe_input
from amplifier_hooks.agent.tools.mcp.content import read_tool_answer
from amplifier_hooks.agent.tools.mcp.link import Link, OnProgress, Wire
from amplifier_hooks.guards.mcp.definitions import Definition
from amplifier_hooks.guards.policy.unread_tools import says_read_only

_NOTHING_SAID = "The server says nothing about this tool."


def read_description(tool: Definition) -> str:
    """What a tool does, as far as its server says so."""
    said = tool.get("description") or tool.get("title")
    return said if isinstance(said, str) and said.strip() else _NOTHING_SAID


def read_schema(tool: Definition) -> dict[str, Any]:
    """The schema of its input; models want an object."""
    found = tool.get("inputSchema")
    schema = dict(found) if isinstance(found, dict) else {}
    return schema if schema.get("type") == "object" else {**schema, "type": "object"}


class McpTool:
    """One tool as its server has defined it. Another definition is another object.

    So a call that waits for a person is denied when the definition changes meanwhile.
    """

    def __init__(self, name: str, tool: str, digest: str, caller: Caller) -> None:
        self.name = name
        self.digest = digest
        """Of the definition that the server has given last."""
        self._tool = tool
        self._caller = caller
        self._shown: Definition = {}

    def show(self, definition: Definition) -> None:
        """Have models see this definition: the one that a person allowed, as hooks left it."""
        self._shown = definition

    @property
    def description(self) -> str:
        return read_description(self._shown)

    @property
    def input_schema(self) -> dict[str, Any]:
        return read_schema(self._shown)

    @property
    def only_reads(self) -> bool:
        """Whether its server says that it changes nothing."""
        return says_read_only(self._shown.get("annotations"))

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Call it at the server."""

        async def request(link: Link, on_progress: OnProgress) -> Wire:
            return await link.call(self._tool, input, on_progress)

        about = describe_input(input)
        return await self._caller.ask(self.name, about, request, read_tool_answer)
