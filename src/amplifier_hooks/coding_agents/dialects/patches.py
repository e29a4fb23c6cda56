"""Patches of Codex CLI, taken apart into one call of ours for each file that they touch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from posixpath import join
from typing import Any

from amplifier_hooks.external.incoming import Incoming, UnreadablePayload

BEGIN = "*** Begin Patch"
END = "*** End Patch"
_HEADER = re.compile(r"\*\*\* (Add|Delete|Update) File:(.*)\Z")
_MOVE = re.compile(r"\*\*\* Move to:(.*)\Z")
_WRAPPING = re.compile(r"""(?:apply_?patch\s+)?<<-?\s*['"]?\w+['"]?|\w+|\s*""")
_IN_SHELL = re.compile(rf"{re.escape(BEGIN)}[ \t]*\n.*?\n[ \t]*{re.escape(END)}", re.DOTALL)
_PROGRAM = re.compile(r"\bapply_?patch\b")
_FOLDER = re.compile(r"""\bcd\s+(?:--\s+)?('[^']*'|"[^"]*"|[^\s;&|]+)\s*(?:&&|;|\n)""")
_UNKNOWN_TO_US = re.compile(r"[$`]")

Part = dict[str, Any]


@dataclass
class _Change:
    """What a patch does to one file."""

    kind: str
    path: str
    target: str = ""
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


def find_parts(incoming: Incoming) -> tuple[Part, ...]:
    """The files that a call reads or writes where its name or its input do not tell us."""
    name = incoming.data["tool_name"]
    given = incoming.data["tool_input"]
    if name == "view_image":
        path = join(incoming.cwd, given["path"])
        return ({"tool_name": "Read", "tool_input": {"file_path": path}},)
    command = given.get("command")
    if name == "apply_patch":
        return split_patch(command, incoming.cwd)
    if name == "Bash" and isinstance(command, str):
        return tuple(_find_in_shell(command, incoming.cwd))
    return ()


def split_patch(patch: Any, folder: str) -> tuple[Part, ...]:
    """One call of ours for each file that a patch touches; its paths begin in the folder."""
    return tuple(_build_parts(parse_patch(_unwrap(patch)), folder))


def parse_patch(lines: Iterable[str]) -> list[_Change]:
    """The changes between the first line of a patch and the last; UnreadablePayload if unclear."""
    changes: list[_Change] = []
    for number, line in enumerate(lines, 2):
        started = _start_change(line)
        if started is not None:
            changes.append(started)
        elif line.strip() and not (changes and _extend(changes[-1], line)):
            raise UnreadablePayload(f"line {number} of a patch cannot be read: {line[:80]!r}")
    if not changes:
        raise UnreadablePayload("a patch names no file")
    return changes


def _unwrap(command: Any) -> list[str]:
    """The lines between begin and end; around them nothing but the words of a shell."""
    if not isinstance(command, str):
        raise UnreadablePayload(f"a patch must be a text, not {type(command).__name__}")
    lines = _split(command)
    bare = [line.strip() for line in lines]
    if bare.count(BEGIN) != 1 or bare.count(END) != 1 or bare.index(BEGIN) > bare.index(END):
        raise UnreadablePayload(f"a patch must stand between {BEGIN!r} and {END!r}")
    first = bare.index(BEGIN)
    last = bare.index(END)
    if not all(_WRAPPING.fullmatch(line) for line in (*bare[:first], *bare[last + 1 :])):
        raise UnreadablePayload("there is something beside the patch")
    return lines[first + 1 : last]


def _split(text: str) -> list[str]:
    """Lines as their parser sees them: it knows one character that ends a line."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def _start_change(line: str) -> _Change | None:
    """Their parser strips lines before it looks; so a line counts wherever it might count there."""
    found = _HEADER.match(line.strip())
    if found is None:
        return None
    return _Change(found[1], _read_path(found[2]))


def _read_path(text: str) -> str:
    path = text.strip()
    if not path or any(ord(character) < 32 for character in path):
        raise UnreadablePayload(f"a patch names a file that cannot be one: {path[:80]!r}")
    return path


def _extend(change: _Change, line: str) -> bool:
    """Add a line to the change; whether it can be one of its lines."""
    moved = _MOVE.match(line.strip())
    if moved is not None and change.kind == "Update":
        change.target = _read_path(moved[1])
        return True
    if change.kind == "Add":
        change.new.append(line[1:])
        return line.startswith("+")
    if change.kind == "Delete" or line.strip().startswith("***"):
        return line.strip() == "*** End of File" and change.kind == "Update"
    if line.startswith((" ", "-")):
        change.old.append(line[1:])
    if line.startswith((" ", "+")):
        change.new.append(line[1:])
    return line.startswith((" ", "-", "+", "@@"))


def _build_parts(changes: Iterable[_Change], folder: str) -> Iterator[Part]:
    for change in changes:
        path = join(folder, change.path)
        old = "\n".join(change.old)
        new = "\n".join(change.new)
        if change.kind == "Add":
            yield _write(path, f"{new}\n" if change.new else "")
            continue
        edit = {"file_path": path, "old_string": old, "new_string": new}
        yield {"tool_name": "Edit", "tool_input": edit}
        if change.target:
            yield _write(join(folder, change.target), new)


def _write(path: str, content: str) -> Part:
    return {"tool_name": "Write", "tool_input": {"file_path": path, "content": content}}


def _find_in_shell(command: str, folder: str) -> Iterator[Part]:
    """The patches in a command line, with the folder that it changes to before them."""
    if BEGIN not in command or _PROGRAM.search(command) is None:
        return
    found = list(_IN_SHELL.finditer(command))
    if len(found) != command.count(BEGIN):
        raise UnreadablePayload(f"a patch in a command must stand between {BEGIN!r} and {END!r}")
    for patch in found:
        base = folder
        for moved in _FOLDER.finditer(command, 0, patch.start()):
            base = join(base, _require_plain(moved[1].strip("'\"")))
        changes = parse_patch(_split(patch[0])[1:-1])
        for change in changes:
            _require_plain(change.path + change.target)
        yield from _build_parts(changes, base)


def _require_plain(path: str) -> str:
    if _UNKNOWN_TO_US.search(path) or path.startswith("~"):
        raise UnreadablePayload(f"only the shell knows which path this is: {path!r}")
    return path
