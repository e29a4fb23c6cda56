"""tool-filesystem: Read, Write, Edit and MultiEdit files inside the allowed directories.

Emits       artifact:read, artifact:write
Configure   roots, allowed_write_paths, working_dir, tools, protected, max_bytes, max_lines,
            max_line_length, max_output
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, Field, PositiveInt

from amplifier_core.events import ARTIFACT_READ, ARTIFACT_WRITE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import ToolResult
from amplifier_core.payloads import ArtifactReadData, ArtifactWriteData
from amplifier_core.utils.text import find_closest
from amplifier_hooks.agent.tools.base import InputT, InputTool, Refused, announce, mount_tools
from amplifier_hooks.agent.tools.roots import (
    Place,
    Roots,
    format_path,
    open_file,
    open_parent,
    refuse_protected,
    require_regular,
)
from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.modules.options import parse_known

_LINES_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Replaced:
    """The new text, how often the passage was replaced, and where first (line, from 1)."""

    text: str
    count: int
    line: int


def replace_passage(text: str, old: str, new: str, *, replace_all: bool) -> Replaced:
    """Replace the one occurrence of `old`, or all of them when that is asked for."""
    if not old:
        raise Refused("old_string is empty; to create a file or replace all of it, use Write")
    if old == new:
        raise Refused("old_string and new_string are the same; nothing would change")
    old, new = _adapt_line_ends(text, old, new)
    count = text.count(old)
    if count == 0:
        raise Refused(f"old_string was not found{_hint_at_whitespace(text, old)}")
    if count > 1 and not replace_all:
        raise Refused(
            f"old_string was found {count} times (lines {_list_lines(text, old)}); add surrounding "
            "lines until it is unique, or set replace_all"
        )
    return Replaced(text.replace(old, new), count, _find_line(text, text.index(old)))


def _find_line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _adapt_line_ends(text: str, old: str, new: str) -> tuple[str, str]:
    """The agent writes line feeds; a file with carriage returns keeps them."""
    if "\r\n" not in text or "\r" in old:
        return old, new
    # Some line feeds may be bare: those that are left when the pairs are taken out.
    if "\n" in old and old in text.replace("\r\n", "\r"):
        return old, new
    return old.replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")


def _list_lines(text: str, old: str) -> str:
    found: list[str] = []
    position = text.find(old)
    while position >= 0 and len(found) < _LINES_SHOWN:
        found.append(str(_find_line(text, position)))
        position = text.find(old, position + len(old))
    return ", ".join(found) + (", …" if position >= 0 else "")


def _hint_at_whitespace(text: str, old: str) -> str:
    """Where the words stand, if only the space between them differs."""
    words = old.split()
    if not words:
        return "; it is only white space"
    loose = re.search(r"\s+".join(map(re.escape, words)), text)
    if loose is None:
        return "; read the file again and copy the passage exactly, without line numbers"
    return f"; line {_find_line(text, loose.start())} has the same words with other white space"


_SNIFF = 8192
_guard = threading.Lock()
_locks: weakref.WeakValueDictionary[str, threading.Lock] = weakref.WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file as they were at one moment; `complete` when there are no more."""

    data: bytes
    info: os.stat_result

    @property
    def complete(self) -> bool:
        """Whether this is all of the file."""
        return len(self.data) == self.info.st_size

    @property
    def version(self) -> tuple[int, int, int]:
        """What changes when the file does."""
        return self.info.st_ino, self.info.st_mtime_ns, self.info.st_size


def get_lock(place: Place) -> threading.Lock:
    """One lock for each file of this process, so that parallel edits lose nothing."""
    with _guard:
        return _locks.setdefault(str(place.path), threading.Lock())


def load(place: Place, limit: int) -> Content:
    """The first `limit` bytes of a text file."""
    try:
        with open_parent(place) as (parent, name):
            descriptor = open_file(name, parent, place.asked, place)
    except FileNotFoundError as missing:
        raise Refused(f"No file {place.asked!r}{_suggest_name(place)}") from missing
    with os.fdopen(descriptor, "rb") as file:
        content = Content(file.read(limit), os.fstat(descriptor))
    _refuse_binary(place, content)
    return content


def load_whole(place: Place, limit: int) -> Content:
    """A file small enough to be changed as a whole."""
    content = load(place, limit)
    if not content.complete:
        raise Refused(
            f"{place.asked!r} has {content.info.st_size:,} bytes, over the limit of {limit:,}; "
            "change it with Bash (sed, a script)"
        )
    return content


def decode(place: Place, content: Content) -> str:
    """The text, only if writing it back would change nothing else."""
    try:
        return content.data.decode()
    except UnicodeDecodeError as wrong:
        raise Refused(f"{place.asked!r} is not UTF-8 ({wrong}); editing would damage it") from wrong


def encode(place: Place, text: str) -> bytes:
    """The bytes to write."""
    try:
        return text.encode()
    except UnicodeEncodeError as wrong:
        raise Refused(f"The text for {place.asked!r} cannot be UTF-8: {wrong}") from wrong


def replace(place: Place, data: bytes, seen: Content | None = None) -> bool:
    """Put `data` in the file's place in one step, keeping its mode; whether the file is new.

    With `seen`, only if the file is still the one that was read.
    """
    with open_parent(place, create=True) as (parent, name):
        old = _inspect(place, name, parent)
        if seen is not None and (old is None or Content(b"", old).version != seen.version):
            raise Refused(f"{place.asked!r} changed while it was being edited; read it again")
        mode = None if old is None else old.st_mode & 0o7777
        owner = None if old is None else (old.st_uid, old.st_gid)
        replace_file(name, data, mode=mode, owner=owner, dir_fd=parent)
    return old is None


def _inspect(place: Place, name: str, parent: int) -> os.stat_result | None:
    """What stands there, if anything does; a refusal if it must not be replaced."""
    try:
        info = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    require_regular(info, place.asked)
    place.check(info)
    if not info.st_mode & 0o222:
        raise Refused(f"{place.asked!r} is read-only; change its mode first if that is meant")
    return info


def _refuse_binary(place: Place, content: Content) -> None:
    if b"\0" in content.data[:_SNIFF]:
        raise Refused(
            f"{place.asked!r} is a binary file of {content.info.st_size:,} bytes, not text; "
            "look at it with Bash (file, xxd) if need be"
        )


def _suggest_name(place: Place) -> str:
    """A hint at a name in the same directory that is nearly the same."""
    directory: Path = place.path.parent
    try:
        names = [entry.name for entry in directory.iterdir()]
    except OSError:
        return f"; the directory {str(directory)!r} cannot be listed or does not exist"
    near = find_closest(place.path.name, names)
    return f"; did you mean {str(directory / near)!r}?" if near else ""


class FilesystemConfig(BaseModel):
    """Options of tool-filesystem."""

    roots: list[str] | None = None
    allowed_write_paths: list[str] | None = None
    working_dir: str | None = None
    tools: list[str] | None = None
    protected: list[str] = [".amplifier/"]
    max_bytes: PositiveInt = 10_000_000
    max_lines: PositiveInt = 2_000
    max_line_length: PositiveInt = 2_000
    max_output: PositiveInt = 200_000


class FileTool(InputTool[InputT]):
    """A tool that reads or writes one file inside the roots."""

    def __init__(self, host: Host, config: FilesystemConfig) -> None:
        self._host = host
        self._config = config

    def _locate(self, file_path: str) -> Place:
        return self._read_roots(self._config.roots).locate(file_path)

    def _read_roots(self, configured: list[str] | None) -> Roots:
        return Roots.from_host(self._host, configured, self._config.working_dir)

    def _locate_for_writing(self, file_path: str) -> Place:
        allowed = self._config.allowed_write_paths
        roots = self._read_roots(self._config.roots if allowed is None else allowed)
        place = roots.locate(file_path, writing=True)
        refuse_protected(place, self._config.protected)
        return place

    async def _announce_read(self, place: Place, size: int) -> None:
        data = ArtifactReadData(path=str(place.path), bytes=size)
        await announce(self._host, ARTIFACT_READ, data)

    async def _announce_write(self, place: Place, size: int) -> None:
        data = ArtifactWriteData(path=str(place.path), bytes=size)
        await announce(self._host, ARTIFACT_WRITE, data)

    def _number(self, line: str, number: int) -> str:
        """A line with its number, cut where it is too long."""
        limit = self._config.max_line_length
        if len(line) > limit:
            line = f"{line[:limit]}… ({len(line) - limit} more characters)"
        return f"{number:>6}\t{line}"


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
    total = 0
    first = 0
    for number, change in enumerate(changes, 1):
        try:
            replaced = _apply(text, change)
        except Refused as refusal:
            raise Refused(
                f"Edit {number} of {len(changes)}: {refusal}; nothing was changed"
            ) from refusal
        text = replaced.text
        total = total + replaced.count
        first = first or replaced.line
    return Replaced(text, total, first)


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


NAME = "tool-filesystem"
_TOOLS: tuple[type[FileTool[Any]], ...] = (Read, Write, Edit, MultiEdit)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Mount the four file tools, or those that `tools` names."""
    options = await parse_known(coordinator, FilesystemConfig, config, NAME)
    tools = [tool(coordinator, options) for tool in _TOOLS]
    return await mount_tools(coordinator, tools, options.tools, NAME)
