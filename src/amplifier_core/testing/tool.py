"""A tool that answers as it was told."""

from __future__ import annotations

from typing import Any
from unittest.mock import AsyncMock

from amplifier_core.models import ToolResult


class MockTool:
    """Answers with an output, a function of its input, or an exception.

    `execute` can be asked how it was called; a subclass that defines its own keeps it as it is.
    """

    def __init__(
        self,
        name: str = "mock_tool",
        output: Any = "Success",
        *,
        description: str = "A tool for tests",
        input_schema: dict[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.input_schema = input_schema or {"type": "object", "properties": {}}
        self.output = output
        self.calls: list[dict[str, Any]] = []
        if type(self).execute is MockTool.execute:
            vars(self)["execute"] = AsyncMock(side_effect=self.execute)

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Note the call and answer."""
        self.calls.append(input)
        answer = self.output(input) if callable(self.output) else self.output
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, ToolResult) else ToolResult(output=answer)

    @property
    def call_count(self) -> int:
        """How often it was called."""
        return len(self.calls)
