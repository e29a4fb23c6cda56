"""tool-filesystem: Read, Write, Edit and MultiEdit files inside the allowed directories.

Emits       artifact:read, artifact:write
Configure   roots, tools, protected, max_bytes, max_lines, max_line_length, max_output
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, Field, PositiveInt

from amplifier_core.events import ARTIFACT_READ, ARTIFACT_WRITE
from amplifier_core.interfaces import Cleanup
from amplifier_core.models import ToolResult
from amplifier_foundation.modules.options import parse_config
from amplifier_foundation.tools.base import I, InputTool, Refused, announce, mount_tools
from amplifier_foundation.tools.edits import Edited, apply_edit
from amplifier_foundation.tools.roots import Place, Roots, refuse_protected, shown
from amplifier_foundation.tools.textfile import (
    Content,
    decode,
    encode,
    load,
    load_whole,
    lock_of,
    replace,
)

T = TypeVar("T")

_CONTEXT = 3  # lines shown around an edit


class FilesystemConfig(BaseModel):
    """Options of tool-filesystem."""

    roots: list[str] | None = None
    tools: list[str] | None = None
    protected: list[str] = [".amplifier/"]
    max_bytes: PositiveInt = 10_000_000
    max_lines: PositiveInt = 2_000
    max_line_length: PositiveInt = 2_000
    max_output: PositiveInt = 200_000


class ReadInput(BaseModel):
    """What Read is told."""

    file_path: str = Field(description="Path of the file, absolute or from the working directory")
    offset: int = Field(1, ge=1, description="First line to read, counted from 1")
    limit: int | None = Field(None, ge=1, description="How many lines to read")


class WriteInput(BaseModel):
    """What Write is told."""

    file_path: str = Field(description="Path of the file, absolute or from the working directory")
    content: str = Field(description="The complete new content of the file")


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


class FileTool(InputTool[I]):
    """What the four have in common: roots, limits, work in a thread, one event after it."""

    def __init__(self, coordinator: Any, config: FilesystemConfig) -> None:
        self._coordinator = coordinator
        self._config = config

    def _locate(self, file_path: str) -> Place:
        return Roots.of(self._coordinator, self._config.roots).locate(file_path)

    def _locate_for_writing(self, file_path: str) -> Place:
        place = self._locate(file_path)
        refuse_protected(place, self._config.protected)
        return place

    async def _announce(self, event: str, place: Place, size: int) -> None:
        await announce(self._coordinator, event, {"path": str(place.path), "bytes": size})


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
        place, content, text = await asyncio.to_thread(self._read, given)
        await self._announce(ARTIFACT_READ, place, len(content.data))
        return ToolResult(output=text)

    def _read(self, given: ReadInput) -> tuple[Place, Content, str]:
        place = self._locate(given.file_path)
        content = load(place, self._config.max_bytes)
        return place, content, self._view(place, content, given)

    def _view(self, place: Place, content: Content, given: ReadInput) -> str:
        lines = content.data.decode("utf-8-sig", errors="replace").split("\n")
        if lines[-1] == "":
            lines.pop()
        if not lines:
            return f"({place.asked} is empty)"
        if given.offset > len(lines):
            raise Refused(
                f"{place.asked!r} has {_counted(lines, content)}; offset {given.offset} is behind"
            )
        wanted = given.limit or self._config.max_lines
        told = self._numbered(lines[given.offset - 1 :][:wanted], given.offset)
        return "\n".join(told) + _rest(lines, given.offset + len(told), content)

    def _numbered(self, lines: Sequence[str], first: int) -> list[str]:
        """As many as fit, at least one."""
        told: list[str] = []
        room = self._config.max_output
        for number, line in enumerate(lines, first):
            entry = (
                f"{number:>6}\t{_short(line.removesuffix(chr(13)), self._config.max_line_length)}"
            )
            room -= len(entry) + 1
            if told and room < 0:
                break
            told.append(entry)
        return told


class Write(FileTool[WriteInput]):
    """Writes a whole file."""

    name = "Write"
    description = (
        "Write a whole file: create it, with the directories it needs, or replace all of its "
        "content. The change happens in one step. To change a part of a file use Edit or MultiEdit."
    )
    input_model: ClassVar[type[BaseModel]] = WriteInput

    async def run(self, given: WriteInput) -> ToolResult:
        place, size, created = await asyncio.to_thread(self._write, given)
        await self._announce(ARTIFACT_WRITE, place, size)
        verb = "Created" if created else "Replaced"
        return ToolResult(output=f"{verb} {shown(place.path)} ({size} bytes)")

    def _write(self, given: WriteInput) -> tuple[Place, int, bool]:
        place = self._locate_for_writing(given.file_path)
        data = encode(place, given.content)
        with lock_of(place):
            return place, len(data), replace(place, data)


class EditingTool(FileTool[I]):
    """Reads, changes and replaces a file, as one step for everybody else."""

    def _edit(self, file_path: str, change: Callable[[str], Edited]) -> tuple[Place, int, Edited]:
        place = self._locate_for_writing(file_path)
        with lock_of(place):
            seen = load_whole(place, self._config.max_bytes)
            edited = change(decode(place, seen))
            data = encode(place, edited.text)
            replace(place, data, seen)
        return place, len(data), edited

    async def _change(self, file_path: str, change: Callable[[str], Edited]) -> ToolResult:
        place, size, edited = await asyncio.to_thread(self._edit, file_path, change)
        await self._announce(ARTIFACT_WRITE, place, size)
        times = "1 replacement" if edited.count == 1 else f"{edited.count} replacements"
        return ToolResult(output=f"Edited {shown(place.path)}: {times}.\n{self._around(edited)}")

    def _around(self, edited: Edited) -> str:
        first = max(edited.line - _CONTEXT, 1)
        lines = edited.text.removesuffix("\n").split("\n")[first - 1 : edited.line + 2 * _CONTEXT]
        limit = self._config.max_line_length
        return "\n".join(
            f"{n:>6}\t{_short(line.rstrip(), limit)}" for n, line in enumerate(lines, first)
        )


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
        return await self._change(given.file_path, lambda text: _apply_all(text, given.edits))


def _apply(text: str, change: Replacement) -> Edited:
    return apply_edit(text, change.old_string, change.new_string, replace_all=change.replace_all)


def _apply_all(text: str, changes: Sequence[Replacement]) -> Edited:
    total, first = 0, 0
    for number, change in enumerate(changes, 1):
        try:
            edited = _apply(text, change)
        except Refused as refusal:
            raise Refused(
                f"Edit {number} of {len(changes)}: {refusal}; nothing was changed"
            ) from refusal
        text, total, first = edited.text, total + edited.count, first or edited.line
    return Edited(text, total, first)


def _short(line: str, limit: int) -> str:
    return line if len(line) <= limit else f"{line[:limit]}… ({len(line) - limit} more characters)"


def _counted(lines: Sequence[str], content: Content) -> str:
    if content.complete:
        return f"{len(lines)} lines"
    looked_at = f"{len(content.data):,}"
    return f"{content.info.st_size:,} bytes, of which only the first {looked_at} are looked at"


def _rest(lines: Sequence[str], following: int, content: Content) -> str:
    if following <= len(lines):
        return f"\n({_counted(lines, content)}; go on with offset {following})"
    return "" if content.complete else f"\n({_counted(lines, content)})"


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> Cleanup:
    """Mount the four file tools, or those that `tools` names."""
    options = parse_config(FilesystemConfig, config, "tool-filesystem")
    kinds: list[type[FileTool[Any]]] = [Read, Write, Edit, MultiEdit]
    tools = [kind(coordinator, options) for kind in kinds]
    return await mount_tools(coordinator, tools, options.tools, "tool-filesystem")
