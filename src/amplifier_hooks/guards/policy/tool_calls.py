"""Tool calls: what one would run and touch, told by the keys of its input, and how it ended.

Programs, frameworks and servers choose names of tools and keys freely. What is taken for a command
or a path is what those that people use call so; a tool counts as reading only if its name begins
with a word for that, and has none for changing something.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, Field

from amplifier_core.utils.nested import iterate_parts
from amplifier_hooks.guards.policy.paths import match_glob, resolve
from amplifier_hooks.machine.text import to_one_line

_MAX_PARTS = 100_000
EDITING_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})

TOOLS = EDITING_TOOLS | {"Bash", "Delegate", "Glob", "Grep", "Read", "Todo"}
"""The names of all tools of ours; those of coding agents are translated to these."""

PATH_KEYS = ("file_path", "path", "notebook_path")
"""The keys of the path; some tools of the ecosystem say `path`."""


def find_path(tool_input: Any) -> str | None:
    """The file that a tool call is about, as it was given."""
    if not isinstance(tool_input, Mapping):
        return None
    return next(
        (tool_input[key] for key in PATH_KEYS if isinstance(tool_input.get(key), str)), None
    )


def iterate_texts_under(value: Any, keys: str | Iterable[str]) -> Iterator[str]:
    """Every text under one of the keys, at any depth: MultiEdit names a file per edit.

    In any case of letters: some programs do not tell "Path" from "path".
    """
    wanted = {fold_key(one) for one in ([keys] if isinstance(keys, str) else keys)}
    for key, part in iterate_parts(value, _MAX_PARTS):
        if part is None or isinstance(part, list | tuple):
            continue
        if isinstance(key, str) and fold_key(key) in wanted:
            yield str(part)


def fold_key(key: str) -> str:
    """`file_path`, `filePath` and `File-Path` are one key."""
    return key.casefold().replace("_", "").replace("-", "")


FILE_KEYS = (
    *PATH_KEYS, "paths", "file", "files", "filename", "file_paths", "filenames", "source",
    "destination", "src", "dst", "dest", "target", "source_path", "target_path", "target_file",
    "destination_path", "old_path", "new_path", "output_path", "relative_path", "absolute_path",
    "directory", "dir", "folder", "uri",
)  # fmt: skip
"""Where inputs name files. Capitals, `_` and `-` make no difference: `filePath` is `file_path`."""

COMMAND_KEYS = ("command", "cmd", "script", "commands", "shell_command", "command_line", "bash")
"""Where inputs have a shell command."""

ARGUMENT_KEYS = ("args", "arguments", "argv")
"""Where the arguments of a command stand beside it, or a command as a list of them."""

_LINES_KEY = "commands"
_PREFIX = "mcp__"
ORIGINS = "provenance.origins"
"""The capability that tells, for a tool and its input, the label of each argument's origin."""

_READING = re.compile(
    r"(?:read|get|list|search|find|stat|view|show|describe|directory_tree|tree|count|grep|glob|"
    r"head|tail|diff|status|log|ls|cat|resources/read|prompts/get)(?:$|[_\-A-Z])"
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
_PATCH = "*** Begin Patch"
_PATCH_TOOL = "apply_patch"
_PATCHED = re.compile(r"(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to):\s*(.*?)\s*$")
_TABLES = frozenset({"files", "paths"})  # `files: {path: content}`
_LONGEST_PATH = 4_096


def is_mcp_tool(tool: str) -> bool:
    """Whether the name is that of a server's tool, as sessions and coding agents write it."""
    return tool[: len(_PREFIX)].casefold() == _PREFIX


def is_reading(tool: str) -> bool:
    """Whether a tool only looks, by its name; of a server's tool, by its name there."""
    name = tool[len(_PREFIX) :].partition("__")[2] if is_mcp_tool(tool) else tool
    plain = name.lower() if name.isupper() else name[:1].lower() + name[1:]
    if not (_READING.match(plain) or _READING_LAST.search(plain)):
        return False
    return _CHANGING.isdisjoint(word.lower() for word in _WORD.findall(name))


def list_paths(given: Any, keys: Iterable[str] = FILE_KEYS) -> Iterator[str]:
    """The files that a call names, also as the tool may read it: `file://…`, `~/…`, a patch."""
    wanted = {fold_key(key) for key in keys}
    for key, part in iterate_parts(given, _MAX_PARTS) if wanted else ():
        folded = fold_key(key) if isinstance(key, str) else ""
        if isinstance(part, Mapping):
            if folded in _TABLES and wanted.isdisjoint(fold_key(str(name)) for name in part):
                yield from (name for name in part if isinstance(name, str))
        elif part is None or isinstance(part, list | tuple):
            continue
        elif folded in wanted:
            yield from _list_readings(str(part))
        elif isinstance(part, str) and part.lstrip().startswith(_PATCH):
            yield from filter(None, _PATCHED.findall(part))


def _list_readings(text: str) -> Iterator[str]:
    if text[:5].casefold() == "file:":
        yield unquote(urlsplit(text).path) or text
    elif text.startswith("~/"):
        yield str(Path.home()) + text[1:]
    if 0 < len(text) <= _LONGEST_PATH:  # an optional path that is left out; a whole file
        yield text


def list_commands(given: Any, keys: Sequence[str] = COMMAND_KEYS, tool: str = "") -> list[str]:
    """The commands that a call would run, with their arguments.

    Codex has the text of a patch under `command`; of a shell, that would be a command like any
    other. ValueError for what stands in the place of a command and cannot be read as one.
    """
    found: list[str] = []
    for _, part in iterate_parts(given, _MAX_PARTS) if keys else ():
        if isinstance(part, Mapping):
            here = list(_list_here(part, keys))
            found += here or _read_list_of_arguments(part)
    if tool.casefold() == _PATCH_TOOL:
        return [one for one in found if not one.lstrip().startswith(_PATCH)]
    return found


def _list_here(part: Mapping[Any, Any], keys: Sequence[str]) -> Iterator[str]:
    folded = {fold_key(str(name)): value for name, value in part.items()}
    for key in keys:
        if fold_key(key) in folded:
            for value in _list_values(part, key):
                yield from _read_commands(folded, key, value)


def _list_values(part: Mapping[Any, Any], key: str) -> list[Any]:
    """What stands under a key for programs that do not tell "Command" from "command"."""
    return [value for name, value in part.items() if fold_key(str(name)) == fold_key(key)]


def _read_commands(part: Mapping[str, Any], key: str, value: Any) -> Iterator[str]:
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
        yield " ".join([command, *_read_arguments(part, key)])


def _read_arguments(part: Mapping[str, Any], of: str) -> Iterator[str]:
    for key in ARGUMENT_KEYS:
        given = None if key == of else part.get(key)
        if isinstance(given, str):
            yield given
        elif isinstance(given, list):
            yield shlex.join(str(word) for word in given)


def _read_list_of_arguments(part: Mapping[Any, Any]) -> Iterator[str]:
    """A command that is nothing but its arguments: `{"argv": ["git", "push"]}`."""
    for key in ARGUMENT_KEYS:
        for value in _list_values(part, key):
            if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
                yield value[0] if len(value) == 1 else shlex.join(value)


def read_success(data: Mapping[str, Any]) -> bool | None:
    """Whether a call succeeded; None if nobody says so.

    Loops of the ecosystem say it in the result only, and some call that `result`.
    """
    if "success" in data:
        return bool(data["success"])
    result = data.get("tool_result", data.get("result"))
    if isinstance(result, Mapping):
        said = result.get("success")
    else:
        said = getattr(result, "success", None)
    return said if isinstance(said, bool) else None


def _check_globs(patterns: tuple[str, ...]) -> tuple[str, ...]:
    match_glob(Path("/probe"), patterns)
    return patterns


FilePatterns = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_check_globs)]


def find_edited_file(data: dict[str, Any], tools: frozenset[str], base: str) -> Path | None:
    """The path of a successful edit; None for everything else."""
    tool = data.get("tool_name")
    if not isinstance(tool, str) or tool not in tools or not read_success(data):
        return None
    try:
        return resolve(find_path(data.get("tool_input")) or "", Path(base))
    except ValueError:
        return None


def format_path(path: Path, base: str) -> str:
    """The path for messages: relative to the working directory, if it is inside."""
    root = Path(base).resolve()
    return to_one_line(str(path.relative_to(root) if path.is_relative_to(root) else path), 300)
