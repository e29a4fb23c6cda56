"""Which servers of a client the gateway stands before, and why not before the others."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from amplifier_foundation.gateway.clients.dialects import DIALECTS
from amplifier_foundation.gateway.clients.entry import (
    Unbridgeable,
    Wish,
    find_line,
    find_own_line,
)
from amplifier_foundation.gateway.clients.installation import SCOPES, list_every_file
from amplifier_foundation.gateway.clients.line import Line, make_gateway
from amplifier_foundation.gateway.clients.program import is_our_python, is_our_script
from amplifier_foundation.gateway.clients.servers_file import ServersFile
from amplifier_foundation.gateway.clients.steering import find_steering
from amplifier_foundation.guests.installing.settings_file import SettingsError, read_settings
from amplifier_foundation.mcp.client_files import McpPlace, McpScope

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
    """Files that cannot be read."""

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
    servers, problems = list[ServerStatus](), list[str]()
    for places in list_every_file(client, folder, scopes):
        try:
            servers += _read_file(client, places)
        except SettingsError as error:
            problems.append(str(error))
    return ClientStatus(client, program, tuple(servers), tuple(problems))


def _read_file(client: str, places: list[McpPlace]) -> Iterator[ServerStatus]:
    file = ServersFile(client, read_settings(places[0].path), tuple(places))
    for place, name, entry in file.list_servers():
        yield _judge(client, place, name, entry)


def _judge(client: str, place: McpPlace, name: str, entry: Any) -> ServerStatus:
    ours, own = find_line(entry), find_own_line(entry)
    line = ours or own
    if line is not None:
        state: State = "guarded" if own is not None else "not guarded"
        bundle, folder = _find_rules(line, entry, place)
        wrong = [*_find_wrong(line, bundle), *_find_steered(line, entry, place, ours is None)]
        detail = " ".join(wrong)
        return ServerStatus(name, place.scope, place.path, state, detail, bundle, folder)
    state, why = _explain(client, place, name, entry)
    if DIALECTS[client].is_off(entry):
        state = "disabled"
    return ServerStatus(name, place.scope, place.path, state, why)


def _explain(client: str, place: McpPlace, name: str, entry: Any) -> tuple[State, str]:
    if place.foreign:
        return "cannot be guarded", place.foreign
    try:
        DIALECTS[client].wrap(name, entry, Wish(make_gateway(None)))
    except Unbridgeable as error:
        return "cannot be guarded", str(error)
    return "not guarded", ""


def _find_rules(line: Line, entry: Any, place: McpPlace) -> tuple[Path | None, Path | None]:
    """The bundle that a command names, and the folder whose bundle judges otherwise."""
    cwd = entry.get("cwd")
    base = place.folder or Path.cwd()
    base = base if cwd is None else base / Path(str(cwd)).expanduser()
    bundle = None if line.bundle is None else base / line.bundle
    if line.folder is not None:
        return bundle, base / line.folder
    return bundle, None if cwd is None else base


def _find_steered(line: Line, entry: Any, place: McpPlace, is_own: bool) -> Iterator[str]:
    steering = find_steering(entry, by_name=is_own)
    if steering:
        yield f"It {steering}, so the gateway may not judge by your rules."
    if line.unknown:
        yield f"It is started with {line.unknown!r}, which is new to us here."
    _, folder = _find_rules(line, entry, place)
    if place.folder is None or folder is None:
        return
    if folder != place.folder:
        yield (
            f"The rules of {folder} judge, and not those of the project; name the project's folder "
            "with --folder."
        )


def _find_wrong(line: Line, bundle: Path | None) -> Iterator[str]:
    """What keeps the gateway from starting, or starts another: then we know of none."""
    if "/" in line.program and not os.access(line.program, os.X_OK):
        yield f"The program {line.program} is not there, so the server does not start."
    elif not is_our_python(line.program) and not is_our_script(line.program):
        yield f"It is started by another installation of amplifier ({line.program})."
    if bundle is not None and not bundle.is_file():
        yield f"The bundle {bundle} is not there, so the server does not start."
