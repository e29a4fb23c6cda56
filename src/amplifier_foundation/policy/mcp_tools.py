"""Tools of MCP servers: what guards can tell by their names and the keys of their input.

Servers choose both freely. What is taken for a path or a command is what the servers that people
use call so; a tool counts as reading only if its name begins with a word for that, and has none for
changing something.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from amplifier_core.utils.nested import iterate_parts
from amplifier_foundation.policy.editing_tools import PATH_KEYS
from amplifier_foundation.policy.territory import iterate_texts_under

MCP_PATH_KEYS = (
    *PATH_KEYS, "paths", "filePath", "filepath", "file", "files", "filename", "source",
    "destination", "src", "dst", "dest", "target", "source_path", "sourcePath", "target_path",
    "targetPath", "destination_path", "destinationPath", "old_path", "oldPath", "new_path",
    "newPath", "output_path", "outputPath", "directory", "dir", "folder", "uri",
)  # fmt: skip
"""Where their input names files."""

MCP_COMMAND_KEYS = ("command", "cmd", "script", "commands", "shell_command", "command_line", "bash")
"""Where their input has a shell command."""

_ARGUMENT_KEYS = ("args", "arguments", "argv")
_LINES_KEY = "commands"
_PREFIX = "mcp__"
_READING = re.compile(
    r"(?:read|get|list|search|find|stat|view|show|describe|directory_tree|tree|count|grep|glob|"
    r"head|tail|diff|status|log|resources/read|prompts/get)(?:$|[_\-A-Z])"
)
_READING_LAST = re.compile(r"_(?:read|get|list|search|status|log|diff|diff_staged|show)$")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CHANGES = (
    "add append apply copy create delete drop edit execute insert kill merge modify move overwrite "
    "patch post purge put remove rename replace reset restore revert run save send set stage "
    "truncate unlink update upload upsert write"
)
"""`search_and_replace` begins with a word for looking, and changes files."""
_CHANGING = frozenset(_CHANGES.split())
_MAX_PARTS = 100_000


def is_mcp_tool(tool: str) -> bool:
    """Whether the name is that of a server's tool, as sessions and coding agents write it."""
    return tool[: len(_PREFIX)].casefold() == _PREFIX


def is_mcp_reading(tool: str) -> bool:
    """Whether a server's tool only looks, by its name."""
    name = tool[len(_PREFIX) :].partition("__")[2]
    if not is_mcp_tool(tool) or not (_READING.match(name) or _READING_LAST.search(name)):
        return False
    return _CHANGING.isdisjoint(word.lower() for word in _WORD.findall(name))


def list_mcp_paths(given: Any, keys: Iterable[str]) -> Iterator[str]:
    """The files that a call names, also as the server may read it: `file://…` and `~/…`."""
    for text in iterate_texts_under(given, keys):
        if text[:5].casefold() == "file:":
            yield unquote(urlsplit(text).path) or text
        elif text.startswith("~/"):
            yield str(Path.home()) + text[1:]
        if text:  # an optional path that is left out
            yield text


def list_mcp_commands(given: Any, keys: Sequence[str]) -> list[str]:
    """The commands that a call would run, with their arguments.

    ValueError for what stands in the place of a command and cannot be read as one.
    """
    found: list[str] = []
    for _, part in iterate_parts(given, _MAX_PARTS):
        if isinstance(part, Mapping):
            folded = {str(name).casefold(): value for name, value in part.items()}
            for key in keys:
                if key.casefold() in folded:
                    for value in _list_values(part, key):
                        found += _read_commands({**folded, key: value}, key)
    return found


def _list_values(part: Mapping[Any, Any], key: str) -> list[Any]:
    """What stands under a key for servers that do not tell "Command" from "command"."""
    return [value for name, value in part.items() if str(name).casefold() == key.casefold()]


def _read_commands(part: Mapping[Any, Any], key: str) -> Iterator[str]:
    value = part.get(key)
    if value is None or value in ("", []):
        return
    words = value if isinstance(value, list) else [value]
    if not all(isinstance(word, str) for word in words):
        if all(isinstance(word, Mapping) for word in words):
            return  # its own parts are looked at by themselves
        raise ValueError(f"its input has no text under {key!r} that could be judged")
    if key == _LINES_KEY:
        yield from words
    else:
        command = value if isinstance(value, str) else shlex.join(words)
        yield " ".join([command, *_read_arguments(part)])


def _read_arguments(part: Mapping[Any, Any]) -> Iterator[str]:
    for key in _ARGUMENT_KEYS:
        given = part.get(key)
        if isinstance(given, str):
            yield given
        elif isinstance(given, list):
            yield shlex.join(str(word) for word in given)
