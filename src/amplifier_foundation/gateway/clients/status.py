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
    find_steering,
    is_guarded,
)
from amplifier_foundation.gateway.clients.installation import SCOPES, list_every_file
from amplifier_foundation.gateway.clients.line import Line, make_gateway
from amplifier_foundation.gateway.clients.servers_file import ServersFile
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
    """That is named for it; else the one of the folder that the client works in."""

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
    line = find_line(entry)
    if line is not None:
        wrong = " ".join((*_find_wrong(line), *_find_steered(entry)))
        return ServerStatus(name, place.scope, place.path, "guarded", wrong, line.bundle)
    if is_guarded(entry):
        wrong = " ".join(_find_steered(entry))
        return ServerStatus(name, place.scope, place.path, "guarded", wrong)
    state, why = _explain(client, place, name, entry)
    if _is_disabled(entry):
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


def _is_disabled(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    return entry.get("disabled") is True or entry.get("enabled") is False


def _find_steered(entry: Any) -> Iterator[str]:
    variable = find_steering(entry)
    if variable:
        yield f"Its environment sets {variable}, so the gateway may not judge by your rules."


def _find_wrong(line: Line) -> Iterator[str]:
    """What keeps the gateway from starting: the server cannot be used then."""
    if not os.access(line.python, os.X_OK):
        yield f"The interpreter {line.python} is not there, so the server does not start."
    elif line.python != make_gateway(None).python:
        yield f"It is started by another installation of amplifier ({line.python})."
    if line.bundle is not None and not line.bundle.is_file():
        yield f"The bundle {line.bundle} is not there, so the server does not start."
