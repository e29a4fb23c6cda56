"""Write: a whole file, in one step."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from pydantic import BaseModel, Field

from amplifier_core.models import ToolResult
from amplifier_hooks.agent.tools.filesystem.file_tool import FileTool
from amplifier_hooks.agent.tools.filesystem.text_file import encode, get_lock, replace
from amplifier_hooks.agent.tools.roots import Place, format_path


class WriteInput(BaseModel):
    """What Write is told."""

    file_path: str = Field(description="Path of the file, absolute or from the working directory")
    content: str = Field(description="The complete new content of the file")


class Write(FileTool[WriteInput]):
    """Writes a whole file."""

    name = "Write"
    description = (
        "Write a whole file: create it, with the directories it needs, or replace all of its "
        "content. The change happens in one step. To change a part of a file use Edit or MultiEdit."
    )
    input_model: ClassVar[type[BaseModel]] = WriteInput

    async def run(self, given: WriteInput) -> ToolResult:
        """Write the file in a thread and announce it."""
        place, size, created = await asyncio.to_thread(self._write, given)
        await self._announce_write(place, size)
        verb = "Created" if created else "Replaced"
        return ToolResult(output=f"{verb} {format_path(place.path)} ({size} bytes)")

    def _write(self, given: WriteInput) -> tuple[Place, int, bool]:
        place = self._locate_for_writing(given.file_path)
        data = encode(place, given.content)
        with get_lock(place):
            return place, len(data), replace(place, data)
