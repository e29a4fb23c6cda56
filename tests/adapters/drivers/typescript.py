"""A loop written in TypeScript, with the messages of OpenAI's chat completions."""

from __future__ import annotations

from typing import Any, ClassVar

from tests.adapters.drivers.driver import Ran
from tests.support.typescript import CANNOT, NodeDriver, need_build, read_calls

need_build("typescript")


class TypeScriptDriver(NodeDriver):
    """A loop written in TypeScript, with the messages of OpenAI's chat completions."""

    name: ClassVar[str] = "typescript"
    kind: ClassVar[str] = "own-loop"
    cannot: ClassVar[dict[str, str]] = CANNOT | {
        "a_stream_is_governed": "this loop does not stream",
        "a_denied_prompt_streams_nothing": "this loop does not stream",
        "tools_of_an_mcp_server_are_governed": "this loop has no MCP client",
    }

    def keep(self, told: dict[str, Any]) -> Ran:
        return Ran(told["answer"], read_calls(told), told["requests"], told["pieces"])


DRIVER_CLASS = TypeScriptDriver
