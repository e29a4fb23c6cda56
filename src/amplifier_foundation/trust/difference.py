"""What a person is shown before trusting: what would be run, or what has changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amplifier_core.mount_plan import MountPlan
from amplifier_foundation.trust.material import Material
from amplifier_foundation.trust.weakening import Lost, find_weakened

_CONTEXT = 3


def describe_first_use(material: Material) -> str:
    """What a bundle that nobody has trusted yet would run, and the files themselves."""
    lines = [f"The bundle {material.name} of {material.folder} would run:"]
    lines += [f"  {line}" for line in _list_what_runs(material)]
    for name, content in material.files.items():
        lines += ["", f"── {name}", *_read_lines(content)]
    return "\n".join(lines)


def _list_what_runs(material: Material) -> Iterator[str]:
    plan = MountPlan.parse(material.bundle.mount_plan)
    for kind, entry in plan.entries():
        if entry.source is not None:
            yield f"{_singular(kind)} {entry.module} from {entry.source}"
    yield from (f"command {command}" for command in material.commands)
    for name, content in material.files.items():
        yield f"file {name}, {len(content):,} bytes"


def _singular(kind: str) -> str:
    return kind.removesuffix("s")


def describe_change(files: Mapping[str, bytes], plan: Mapping[str, Any], material: Material) -> str:
    """What is different from files and a plan that were trusted, lost guards first."""
    lost = find_lost(files, plan, material)
    lines = ["Weaker than before:", *(f"  {one.sentence}" for one in lost), ""] if lost else []
    for name in sorted({*files, *material.files}):
        if files.get(name) != material.files.get(name):
            lines += [*_compare(name, files.get(name), material.files.get(name)), ""]
    return "\n".join(lines).rstrip() or "Only settings outside the folder differ."


def find_lost(
    files: Mapping[str, bytes], plan: Mapping[str, Any], material: Material
) -> list[Lost]:
    """The guards and limits that the change would weaken or lose."""
    return find_weakened(plan, material.plan, find_changed_hooks(files, material))


def find_changed_hooks(files: Mapping[str, bytes], material: Material) -> set[str]:
    """The ids of hooks whose files are not those that were trusted."""
    changed = {
        name for name, content in material.files.items() if name in files and files[name] != content
    }
    return {
        entry.module
        for entry in MountPlan.parse(material.bundle.mount_plan).hooks
        if changed & set(material.name_files(entry))
    }


def _compare(name: str, before: bytes | None, after: bytes | None) -> list[str]:
    if before is None:
        return [f"── {name}: new", *_read_lines(after or b"")]
    if after is None:
        return [f"── {name}: not used any more"]
    rows = difflib.unified_diff(_read_lines(before), _read_lines(after), n=_CONTEXT, lineterm="")
    return [f"── {name}", *list(rows)[2:]]


def _read_lines(content: bytes) -> Sequence[str]:
    return content.decode("utf-8", "backslashreplace").split("\n")
