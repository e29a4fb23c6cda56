"""Which servers of a client the gateway stands before, and why not before the others."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, read_settings
from amplifier_hooks.guards.mcp.client_files import McpPlace, McpScope
from amplifier_hooks.mcp.clients.command_line import (
    Line,
    is_our_python,
    is_our_script,
    make_gateway,
)
from amplifier_hooks.mcp.clients.entries import (
    DIALECTS,
    Unbridgeable,
    Wish,
    find_line,
    find_own_line,
)
from amplifier_hooks.mcp.clients.installation import SCOPES, list_every_file
from amplifier_hooks.mcp.clients.settings_files import ServersFile
from amplifier_hooks.mcp.clients.steering import find_steering, find_steering_files

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
    hindrance = DIALECTS[client].find_hindrance(entry)
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
        DIALECTS[client].wrap(name, entry, Wish(make_gateway(None)))
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
