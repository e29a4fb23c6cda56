"""Putting our entries into one settings file, and taking them out again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from amplifier_hooks.coding_agents.installing.agents import AGENTS, Options
from amplifier_hooks.coding_agents.installing.contents import Contents, read_contents
from amplifier_hooks.coding_agents.installing.places import Scope, find_settings
from amplifier_hooks.coding_agents.installing.record import Record, Records
from amplifier_hooks.coding_agents.installing.settings_file import (
    SettingsFile,
    delete_settings,
    list_missing_folders,
    read_settings,
    remove_folders,
    write_settings,
)
from amplifier_hooks.machine.files import compute_digest

_PRIVATE = 0o600
Kind = Literal["installed", "updated", "unchanged", "removed", "absent"]


@dataclass(frozen=True, slots=True)
class Target:
    """The settings of one agent, for the person or for one project."""

    agent: str
    scope: Scope
    root: Path

    @property
    def path(self) -> Path:
        """The file that our entries are in."""
        return find_settings(self.agent, self.scope, self.root)


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a file."""

    path: Path
    kind: Kind


def install(target: Target, options: Options, records: Records, version: str) -> Change:
    """Have the file hold exactly our entries, beside everything else that is in it."""
    file = read_settings(target.path)
    old = records.find(target.path)
    contents = read_contents(AGENTS[target.agent], file)
    before = _find_before(file, contents, old, records)
    content = contents.add(options, before)
    mode = _choose_mode(file, old, options)
    record = _make_record(target, file, old, before, content, options, version)
    if record != old:
        records.save(record, before)
    if content == file.content and mode == file.mode:
        return Change(target.path, "unchanged")
    write_settings(file, content, mode)
    return Change(target.path, "updated" if contents.entries else "installed")


def remove(target: Target, records: Records) -> Change:
    """Have the file as it would be without us, and forget it."""
    file = read_settings(target.path)
    old = records.find(target.path)
    contents = read_contents(AGENTS[target.agent], file)
    if not contents.entries:
        records.forget(target.path)
        return Change(target.path, "absent")
    before = _find_before(file, contents, old, records)
    if before is None:
        delete_settings(file)
        remove_folders(Path(one) for one in (old.folders if old else ()))
    else:
        write_settings(file, before, old.mode if old else file.mode)
    records.forget(target.path)
    return Change(target.path, "removed")


def list_ours(target: Target) -> dict[str, list[Any]]:
    """Our entries in a settings file, by event."""
    return read_contents(AGENTS[target.agent], read_settings(target.path)).entries


def _find_before(
    file: SettingsFile, contents: Contents, old: Record | None, records: Records
) -> bytes | None:
    """What the file would hold without us; None if it would not be there.

    If nobody has changed it since we wrote it, that is exactly what it held before.
    """
    if file.content is None or not contents.entries:
        return file.content
    known = records.read_before(file.path)
    existed = old is not None and old.existed
    is_untouched = old is not None and old.written == compute_digest(file.content)
    if is_untouched and (known is not None or not existed):
        return known
    without = contents.remove(known)
    return without if existed or not contents.is_empty(without) else None


def _choose_mode(file: SettingsFile, old: Record | None, options: Options) -> int | None:
    """A file with our token in it is nobody else's to read; any other keeps its mode."""
    if options.http is not None:
        return _PRIVATE
    return old.mode if old is not None and old.http else file.mode


def _make_record(
    target: Target,
    file: SettingsFile,
    old: Record | None,
    before: bytes | None,
    content: bytes,
    options: Options,
    version: str,
) -> Record:
    made = list_missing_folders(file.target)
    return Record(
        path=str(target.path),
        agent=target.agent,
        scope=target.scope,
        root=str(target.root) if target.scope == "project" else "",
        written=compute_digest(content),
        existed=before is not None,
        mode=old.mode if old else file.mode,
        folders=tuple(map(str, made)) or (old.folders if old else ()),
        http=options.http is not None,
        version=version,
        program=options.version or "",
    )
