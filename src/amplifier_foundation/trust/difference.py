"""What a person is shown before trusting: what would be run, or what has changed.

Lines of a file stand behind a margin, and names on one line: no file can look like a part of the
question.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from amplifier_core.mount_plan import MountPlan
from amplifier_foundation.machine.snapshot import compute_digest
from amplifier_foundation.trust.material import Material
from amplifier_foundation.trust.weakening import Lost, find_weakened

_CONTEXT = 3
_MOST_LINES = 20_000
_MARGIN = "│ "


def describe_first_use(material: Material) -> str:
    """What a bundle that nobody has trusted yet would run, and the files themselves."""
    lines = [f"The bundle {_show(material.name)} of {_show(str(material.folder))} would run:"]
    lines += [f"  {_show(line)}" for line in _list_what_runs(material)]
    for name, content in material.files.items():
        lines += ["", f"── {_show(name)}", *_indent(_read_lines(content))]
    return "\n".join(_cut(lines))


def _list_what_runs(material: Material) -> Iterator[str]:
    plan = MountPlan.parse(material.bundle.mount_plan)
    for kind, entry in plan.entries():
        if entry.source is not None:
            yield f"{kind.removesuffix('s')} {entry.module} from {entry.source}"
        if entry.mode == "shadow":
            yield f"{kind.removesuffix('s')} {entry.module} in shadow mode: it would have no effect"
    for command in dict.fromkeys(material.commands):
        yield f"command {command}"
    for name, content in material.files.items():
        yield f"file {name}, {len(content):,} bytes"


def describe_change(files: Mapping[str, bytes], plan: Mapping[str, Any], material: Material) -> str:
    """What is different from files and an outline that were trusted, lost guards first."""
    lost = find_lost(files, plan, material)
    lines = ["Weaker than before:", *(f"  {_show(one.sentence)}" for one in lost)] if lost else []
    if material.commands and _outline_servers(plan) != _outline_servers(material.outline):
        lines += ["", "With other MCP servers, it would run these commands:"]
        lines += [f"  {_show(one)}" for one in dict.fromkeys(material.commands)]
    for name in sorted({*files, *material.files}):
        before, after = files.get(name), material.files.get(name)
        if before != after:
            lines += ["", *_compare(_show(name), before, after)]
    return "\n".join(_cut(lines)).strip() or "Only settings outside the folder differ."


def _outline_servers(outline: Mapping[str, Any]) -> list[Any]:
    tools = [one for one in outline.get("tools") or () if isinstance(one, Mapping)]
    return [one.get("config") for one in tools if one.get("module") == "tool-mcp"]


def find_lost(
    files: Mapping[str, bytes], plan: Mapping[str, Any], material: Material
) -> list[Lost]:
    """The guards and limits that the change would weaken or lose."""
    return find_weakened(plan, material.outline, find_changed_hooks(files, material))


def find_changed_hooks(files: Mapping[str, bytes], material: Material) -> set[str]:
    """The ids of hooks that run a file which is not as it was trusted, or is new to them."""
    changed = {name for name, content in material.files.items() if files.get(name) != content}
    changed |= files.keys() - material.files.keys()
    return {entry.module for entry in material.hooks if changed & set(material.name_files(entry))}


def _compare(name: str, before: bytes | None, after: bytes | None) -> list[str]:
    if before is None:
        return [f"── {name}: new", *_indent(_read_lines(after or b""))]
    if after is None:
        return [f"── {name}: no longer used"]
    rows = difflib.unified_diff(_read_lines(before), _read_lines(after), n=_CONTEXT, lineterm="")
    return [f"── {name}", *_indent(list(rows)[2:])]


def _indent(lines: Iterable[str]) -> list[str]:
    return [_MARGIN + line for line in lines]


def _read_lines(content: bytes) -> list[str]:
    if b"\0" in content:
        return [f"(not text: {len(content):,} bytes, SHA-256 {compute_digest(content)})"]
    text = content.decode("utf-8", "backslashreplace")
    return text.removesuffix("\n").split("\n")


def _cut(lines: list[str]) -> list[str]:
    """What nobody would read to its end is better read in an editor."""
    if len(lines) <= _MOST_LINES:
        return lines
    rest = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], "", f"{rest:,} more lines are not shown: look at the files."]


def _show(text: str) -> str:
    """A text on one line, with every character that moves or hides others spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
