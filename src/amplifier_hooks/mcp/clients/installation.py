"""Putting the gateway into the settings files of a client on disk, and taking it out again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from amplifier_hooks.coding_agents.installing.record import Record, Records
from amplifier_hooks.coding_agents.installing.settings_file import (
    SettingsFile,
    read_settings,
    write_settings,
)
from amplifier_hooks.guards.mcp.client_files import McpPlace, McpScope, list_mcp_places
from amplifier_hooks.machine.files import compute_digest
from amplifier_hooks.mcp.clients.entries import Wish
from amplifier_hooks.mcp.clients.settings_files import ServersFile

Kind = Literal["changed", "unchanged"]
SCOPES: Mapping[str, frozenset[McpScope]] = {
    "user": frozenset({"user"}),
    "project": frozenset({"local", "project"}),
    "all": frozenset({"user", "local", "project"}),
}


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a file."""

    path: Path
    kind: Kind


def list_files(
    client: str, folder: Path, scopes: Collection[McpScope] = SCOPES["all"]
) -> list[list[McpPlace]]:
    """The tables of servers in files that are there and a person's own, by file."""
    found = list_every_file(client, folder, scopes)
    own = ([place for place in one if not place.foreign] for one in found)
    return [one for one in own if one]


def list_every_file(
    client: str, folder: Path, scopes: Collection[McpScope] = SCOPES["all"]
) -> list[list[McpPlace]]:
    """The same, with those that somebody else looks after."""
    found: dict[Path, list[McpPlace]] = {}
    for place in list_mcp_places(client, folder):
        # What cannot even be looked for, no client of this person reads.
        if place.scope in scopes and os.path.exists(place.path):  # noqa: PTH110
            found.setdefault(place.path, []).append(place)
    return list(found.values())


def put_before(client: str, places: list[McpPlace], wish: Wish, records: Records) -> Change:
    """Have the gateway before every server of these tables, which are in one file."""
    file, every = _open(client, places)
    content = every.add(wish)
    if content == file.content:
        return Change(file.path, "unchanged")
    before = _find_before(client, places, file, records)
    record = Record(
        path=str(file.path),
        agent=client,
        scope="mcp",
        root="",
        written=compute_digest(content),
        existed=True,
        mode=file.mode,
    )
    records.save(record, before)
    write_settings(file, content, file.mode)
    return Change(file.path, "changed")


def take_out(client: str, places: list[McpPlace], records: Records) -> Change:
    """Have these tables, which are in one file, as they would be without us."""
    file, every = _open(client, places)
    if not every.has_ours():
        if not _open_whole(client, places, file).has_ours():
            _forget(file.path, records)  # somebody else has taken it out
        return Change(file.path, "unchanged")
    content = every.remove()
    rest = _open_whole(client, places, replace(file, content=content))
    is_all = not rest.has_ours()
    before = _find_before(client, places, file, records)
    record = records.find(file.path)
    if is_all:
        content = before
    elif record is not None:
        records.save(replace(record, written=compute_digest(content)), before)
    write_settings(file, content, file.mode)
    if is_all:
        _forget(file.path, records)
    return Change(file.path, "changed")


def _forget(path: Path, records: Records) -> None:
    records.forget(path)
    with contextlib.suppress(OSError):  # other data may be there
        records.folder.parent.rmdir()


def _find_before(
    client: str, places: list[McpPlace], file: SettingsFile, records: Records
) -> bytes:
    """What the file would hold without us.

    If nobody has changed it since we wrote it, that is exactly what it held before.
    """
    known = records.read_before(file.path)
    record = records.find(file.path)
    content = file.content or b""
    if known is not None and record is not None and record.written == compute_digest(content):
        return known
    return _open_whole(client, places, file).remove()


def _open(client: str, places: list[McpPlace]) -> tuple[SettingsFile, ServersFile]:
    file = read_settings(places[0].path)
    return file, ServersFile(client, file, tuple(places))


def _open_whole(client: str, places: list[McpPlace], file: SettingsFile) -> ServersFile:
    """The file with all tables that may be in it, also those of other projects."""
    (name,) = {place.keys[-1] for place in places}
    tables = [place.keys for place in places]
    if file.path.name == ".claude.json":
        projects = ServersFile(client, file, (McpPlace("local", file.path, ("projects",)),))
        tables += [(name,), *(("projects", one, name) for _, one, _ in projects.list_servers())]
    whole = [replace(places[0], keys=keys) for keys in dict.fromkeys(tables)]
    return ServersFile(client, file, tuple(whole))
