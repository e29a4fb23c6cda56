"""Read: a text file with line numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from pydantic import BaseModel, Field

from amplifier_core.models import ToolResult
from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.filesystem.file_tool import FileTool
from amplifier_hooks.agent.tools.filesystem.text_file import Content, load
from amplifier_hooks.agent.tools.roots import Place


class ReadInput(BaseModel):
    """What Read is told."""

    file_path: str = Field(description="Path of the file, absolute or from the working directory")
    offset: int = Field(1, ge=1, description="First line to read, counted from 1")
    limit: int | None = Field(None, ge=1, description="How many lines to read")


class Read(FileTool[ReadInput]):
    """Shows a text file with line numbers."""

    name = "Read"
    description = (
        "Read a text file. Every line comes with its number, a tab and its text. A long file is "
        "read in parts: give `offset` (first line) and `limit` (number of lines). To find files "
        "use Glob, to find text in them use Grep."
    )
    input_model: ClassVar[type[BaseModel]] = ReadInput

    async def run(self, given: ReadInput) -> ToolResult:
        """Read the file in a thread and announce it."""
        place, content, text = await asyncio.to_thread(self._read, given)
        await self._announce_read(place, len(content.data))
        return ToolResult(output=text)

    def _read(self, given: ReadInput) -> tuple[Place, Content, str]:
        place = self._locate(given.file_path)
        content = load(place, self._config.max_bytes)
        return place, content, self._format(place, content, given)

    def _format(self, place: Place, content: Content, given: ReadInput) -> str:
        lines = content.data.decode("utf-8-sig", errors="replace").split("\n")
        if lines[-1] == "":
            lines.pop()
        if not lines:
            return f"({place.asked} is empty)"
        if given.offset > len(lines):
            size = _describe_size(lines, content)
            raise Refused(f"{place.asked!r} has {size}; offset {given.offset} is behind")
        wanted = given.limit or self._config.max_lines
        shown = self._number_lines(lines[given.offset - 1 :][:wanted], given.offset)
        return "\n".join(shown) + _describe_rest(lines, given.offset + len(shown), content)

    def _number_lines(self, lines: Sequence[str], first: int) -> list[str]:
        """As many as fit, at least one."""
        shown: list[str] = []
        room = self._config.max_output
        for number, line in enumerate(lines, first):
            entry = self._number(line.removesuffix("\r"), number)
            room -= len(entry) + 1
            if shown and room < 0:
                break
            shown.append(entry)
        return shown


def _describe_size(lines: Sequence[str], content: Content) -> str:
    if content.complete:
        return f"{len(lines)} lines"
    looked_at = f"{len(content.data):,}"
    return f"{content.info.st_size:,} bytes, of which only the first {looked_at} are looked at"


def _describe_rest(lines: Sequence[str], following: int, content: Content) -> str:
    if following <= len(lines):
        return f"\n({_describe_size(lines, content)}; go on with offset {following})"
    return "" if content.complete else f"\n({_describe_size(lines, content)})"
