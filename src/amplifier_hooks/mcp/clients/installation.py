"""Putting the gateway into the settings files of a client on disk, taking it out again, and which
servers it stands before."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from amplifier_hooks.coding_agents.installing.record import Record, Records
from amplifier_hooks.coding_agents.installing.settings_file import (
    SettingsError,
    SettingsFile,
    read_settings,
    write_settings,
)
from amplifier_hooks.guards.mcp.client_files import McpPlace, McpScope, list_mcp_places
from amplifier_hooks.machine.files import compute_digest
from amplifier_hooks.mcp.clients.command_line import (
    Line,
    is_our_python,
    is_our_script,
    make_gateway,
)
from amplifier_hooks.mcp.clients.entries import (
    DIALECTS,
    GatewayOptions,
    Unbridgeable,
    find_line,
    find_own_line,
)
from amplifier_hooks.mcp.clients.settings_files import ServersFile
from amplifier_hooks.mcp.clients.steering import find_steering, find_steering_files

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


def add_gateway(
    client: str, places: list[McpPlace], options: GatewayOptions, records: Records
) -> Change:
    """Have the gateway before every server of these tables, which are in one file."""
    file, every = _open(client, places)
    content = every.add(options)
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


def remove_gateway(client: str, places: list[McpPlace], records: Records) -> Change:
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


State = Literal["guarded", "not guarded", "cannot be guarded", "disabled"]
_PROGRAMS = {"cursor": ("cursor", "cursor-agent"), "vscode": ("code", "code-insiders", "codium")}


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One server of a client."""

    name: str
    scope: McpScope
    path: Path
    state: State
    detail: str = ""
    """Why it cannot be guarded, or what is wrong with its guard."""
    bundle: Path | None = None
    """That is named for it; else the one of its folder."""
    folder: Path | None = None
    """That is named for it, or in which it starts; else the one that the client works in."""
    is_own: bool = False
    """Whether a person has written the gateway's command."""

    @property
    def stands(self) -> bool:
        """Whether the gateway judges what is asked of it, or nothing is asked of it."""
        return self.state == "disabled" or (self.state == "guarded" and not self.detail)


@dataclass(frozen=True, slots=True)
class ClientStatus:
    """The servers of one client."""

    client: str
    program: str | None
    servers: tuple[ServerStatus, ...]
    problems: tuple[str, ...] = ()
    """Files that cannot be read, or lead gateways to other rules."""

    @property
    def stands(self) -> bool:
        """Whether nothing can be asked of a server without being judged."""
        return not self.problems and all(one.stands for one in self.servers)


def read_client(
    client: str, folder: Path, scopes: Collection[McpScope] = SCOPES["all"]
) -> ClientStatus:
    """Look at all servers that a client in a folder would start, without changing anything."""
    names = _PROGRAMS.get(client, (client,))
    program = next(filter(None, map(shutil.which, names)), None)
    servers = list[ServerStatus]()
    problems = list[str]()
    for places in list_every_file(client, folder, scopes):
        try:
            servers += _read_file(client, places)
        except SettingsError as error:
            problems.append(str(error))
    guarded = [one for one in servers if one.state == "guarded"]
    if guarded:
        by_name = any(one.is_own for one in guarded)
        problems += find_steering_files(client, folder, by_name=by_name)
    return ClientStatus(client, program, tuple(servers), tuple(problems))


def _read_file(client: str, places: list[McpPlace]) -> Iterator[ServerStatus]:
    file = ServersFile(client, read_settings(places[0].path), tuple(places))
    for place, name, entry in file.list_servers():
        yield _judge(client, place, name, entry)


def _judge(client: str, place: McpPlace, name: str, entry: Any) -> ServerStatus:
    ours = find_line(entry)
    own = find_own_line(entry)
    line = ours or own
    if line is None:
        state, why = _explain(client, place, name, entry)
        off = DIALECTS[client].is_off(entry)
        return ServerStatus(name, place.scope, place.path, "disabled" if off else state, why)
    bundle, folder = _find_rules(line, entry, place)
    wrong = [*_find_wrong(line, bundle, folder), *_find_steered(line, entry, ours is None)]
    if place.folder is not None and folder not in (None, place.folder):
        wrong.append(f"The rules of {folder} judge, not the project's; name that with --folder.")
    hindrance = DIALECTS[client].find_obstacle(entry)
    if hindrance:
        wrong.append(f"The gateway may not work there: {hindrance}.")
    return ServerStatus(
        name=name,
        scope=place.scope,
        path=place.path,
        state="guarded" if own is not None else "not guarded",
        detail=" ".join(wrong),
        bundle=bundle,
        folder=folder,
        is_own=ours is None,
    )


def _explain(client: str, place: McpPlace, name: str, entry: Any) -> tuple[State, str]:
    if place.foreign:
        return "cannot be guarded", place.foreign
    try:
        DIALECTS[client].wrap(name, entry, GatewayOptions(make_gateway(None)))
    except Unbridgeable as error:
        return "cannot be guarded", str(error)
    return "not guarded", ""


def _find_rules(line: Line, entry: Any, place: McpPlace) -> tuple[Path | None, Path | None]:
    """The bundle that a command names, and the folder whose bundle judges otherwise."""
    cwd = entry.get("cwd")
    if place.folder is None and "$" in str(cwd):
        cwd = None  # a person's own variable, mostly for the folder that the client works in
    base = place.folder or Path.cwd()
    base = base if cwd is None else base / os.path.expanduser(str(cwd))  # noqa: PTH111
    bundle = None if line.bundle is None else base / line.bundle
    if line.folder is not None:
        return bundle, base / line.folder
    return bundle, None if cwd is None else base


def _find_steered(line: Line, entry: Any, is_own: bool) -> Iterator[str]:
    steering = find_steering(entry, by_name=is_own)
    if steering:
        yield f"It {steering}, so the gateway may not judge by your rules."
    if line.unknown:
        yield f"It is started with {line.unknown!r}, which is new to us here."


def _find_wrong(line: Line, bundle: Path | None, folder: Path | None) -> Iterator[str]:
    """What keeps the gateway from starting, or starts another: then we know of none."""
    # Unlike those of a Path, these functions know no name that they cannot bear.
    if "/" in line.program and not os.path.isfile(line.program):  # noqa: PTH113
        yield f"The program {line.program} is not there, so the server does not start."
    elif not is_our_python(line.program) and not is_our_script(line.program):
        yield f"It is started by another installation of amplifier ({line.program})."
    if line.outdated:
        yield (
            "An earlier version of amplifier wrote it, so the server does not start: "
            "run amplifier guard mcp."
        )
    if bundle is not None and not os.path.isfile(bundle):  # noqa: PTH113
        yield f"The bundle {bundle} is not there, so the server does not start."
    if folder is not None and not os.path.isdir(folder):  # noqa: PTH112
        yield f"The folder {folder} is not there, so the server does not start."
