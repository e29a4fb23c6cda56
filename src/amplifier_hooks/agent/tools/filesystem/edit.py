"""Edit and MultiEdit: exact replacements in a file, all of them or none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from pydantic import BaseModel, Field

from amplifier_core.models import ToolResult
from amplifier_hooks.agent.tools.base import InputT, Refused
from amplifier_hooks.agent.tools.filesystem.file_tool import FileTool
from amplifier_hooks.agent.tools.filesystem.replacement import Replaced, replace_passage
from amplifier_hooks.agent.tools.filesystem.text_file import (
    decode,
    encode,
    get_lock,
    load_whole,
    replace,
)
from amplifier_hooks.agent.tools.roots import Place, format_path

_CONTEXT = 3  # lines shown around an edit


class Replacement(BaseModel):
    """One replacement in a file."""

    old_string: str = Field(
        description="The passage to replace, exactly as in the file, with its indentation"
    )
    new_string: str = Field(description="What stands there afterwards")
    replace_all: bool = Field(False, description="Replace every occurrence, not just a unique one")


class EditInput(Replacement):
    """What Edit is told."""

    file_path: str = Field(description="Path of the file, absolute or from the working directory")


class MultiEditInput(BaseModel):
    """What MultiEdit is told."""

    file_path: str = Field(description="Path of the file, absolute or from the working directory")
    edits: list[Replacement] = Field(
        min_length=1, description="Replacements in order; each sees the result of the one before"
    )


class EditingTool(FileTool[InputT]):
    """Reads, changes and replaces a file, as one step for everybody else."""

    async def _change(self, file_path: str, change: Callable[[str], Replaced]) -> ToolResult:
        place, size, replaced = await asyncio.to_thread(self._rewrite, file_path, change)
        await self._announce_write(place, size)
        times = "1 replacement" if replaced.count == 1 else f"{replaced.count} replacements"
        shown = self._show_surroundings(replaced)
        return ToolResult(output=f"Edited {format_path(place.path)}: {times}.\n{shown}")

    def _rewrite(
        self, file_path: str, change: Callable[[str], Replaced]
    ) -> tuple[Place, int, Replaced]:
        place = self._locate_for_writing(file_path)
        with get_lock(place):
            seen = load_whole(place, self._config.max_bytes)
            replaced = change(decode(place, seen))
            data = encode(place, replaced.text)
            replace(place, data, seen)
        return place, len(data), replaced

    def _show_surroundings(self, replaced: Replaced) -> str:
        first = max(replaced.line - _CONTEXT, 1)
        lines = replaced.text.removesuffix("\n").split("\n")
        around = lines[first - 1 : replaced.line + 2 * _CONTEXT]
        return "\n".join(self._number(line.rstrip(), n) for n, line in enumerate(around, first))


class Edit(EditingTool[EditInput]):
    """Replaces one passage."""

    name = "Edit"
    description = (
        "Replace a passage of a file. `old_string` must be exactly what stands in the file (white "
        "space too, without the line numbers of Read) and must occur once, unless `replace_all` is "
        "set. Read the file first."
    )
    input_model: ClassVar[type[BaseModel]] = EditInput

    async def run(self, given: EditInput) -> ToolResult:
        """Make the one replacement."""
        return await self._change(given.file_path, lambda text: _apply(text, given))


class MultiEdit(EditingTool[MultiEditInput]):
    """Replaces several passages, or none."""

    name = "MultiEdit"
    description = (
        "Make several replacements in one file, in order, each on the result of the one before. "
        "The rules are those of Edit. If one of them cannot be made, the file stays as it was."
    )
    input_model: ClassVar[type[BaseModel]] = MultiEditInput

    async def run(self, given: MultiEditInput) -> ToolResult:
        """Make all replacements before anything is written."""
        return await self._change(given.file_path, lambda text: _apply_all(text, given.edits))


def _apply(text: str, change: Replacement) -> Replaced:
    return replace_passage(
        text, change.old_string, change.new_string, replace_all=change.replace_all
    )


def _apply_all(text: str, changes: Sequence[Replacement]) -> Replaced:
    total, first = 0, 0
    for number, change in enumerate(changes, 1):
        try:
            replaced = _apply(text, change)
        except Refused as refusal:
            raise Refused(
                f"Edit {number} of {len(changes)}: {refusal}; nothing was changed"
            ) from refusal
        text, total, first = replaced.text, total + replaced.count, first or replaced.line
    return Replaced(text, total, first)
