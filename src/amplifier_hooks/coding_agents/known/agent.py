"""Facts about a coding agent, beside its events, which its dialect has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

LABEL = "amplifier"
"""The name of our hooks where they have one."""


@dataclass(frozen=True, slots=True)
class Place:
    """The settings files of one agent in which hooks can stand; ours go into the first of each."""

    find_home: Callable[[Mapping[str, str]], Path]
    user: tuple[str, ...]
    """Below the agent's own folder."""
    project: tuple[str, ...]
    """Below the project's root."""
    system: tuple[str, ...]
    """Below /etc, where no project can overrule them."""


def find_below_home(name: str, variable: str = "") -> Callable[[Mapping[str, str]], Path]:
    """An agent's own folder: of that name, or where the variable says."""

    def find(env: Mapping[str, str]) -> Path:
        if variable and env.get(variable):
            return Path(env[variable]).absolute()
        return Path(env.get("HOME") or Path.home()) / name

    return find


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to start an agent."""

    agent: str
    start: str
    """As a person would type it."""

    holds: bool = True
    """Whether a denied call does not run, and is in the trail."""

    options: frozenset[str] = frozenset()
    """Where it does not hold and other events still arrive: what its command line has then."""

    note: str = ""
    """What people should know about it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What one of our entries in an agent's settings says."""

    line: str
    seconds: float | None
    """How long it may take, in the unit of the agent; None where nothing is written."""
    gate: bool
    matches_tools: bool
    label: str

    def limit(self, key: str) -> dict[str, Any]:
        """How long it may take, under this key."""
        return {} if self.seconds is None else {key: round(self.seconds)}


Switches = Mapping[tuple[str, ...], Any]
"""Settings of an agent that decide about hooks: the keys that lead to each, and its value."""

FindSwitches = Callable[[dict[str, Any]], Iterator[str]]
"""A sentence for each of an agent's settings that keeps hooks from running."""

ListResults = Callable[[Mapping[str, Any]], Iterator[str]]
"""The names of the tools whose results a line of an agent's conversation file shows."""


MOD = "a program inside the agent: it can run commands that no hook is told of, also denied ones"
PLUGIN = "can bring hooks, commands, MCP servers and programs of its own, which run as you"
SKILL = "a text for the model, and scripts; what the model calls because of it is judged"


@dataclass(frozen=True, slots=True)
class Extension:
    """What runs beside or above our hooks in an agent, by name: mod, plugin, extension or skill."""

    kind: str
    name: str
    where: Path
    can: str
    """What it is able to do, in plain words."""


class Surroundings(NamedTuple):
    """Where an agent that is started in a folder looks for extensions."""

    home: Path
    root: Path
    etc: Path
    settings: tuple[Path, ...]
    """The files in which hooks can be switched off."""
    ours: frozenset[Path]
    """The files that our entries go into."""
    read: Callable[[Path], dict[str, Any]]
    """What a settings file says; nothing if it cannot be read."""

    def read_table(self, path: Path, name: str) -> dict[str, Any]:
        """One table of a settings file."""
        found = self.read(path).get(name)
        return found if isinstance(found, dict) else {}


def list_folder(kind: str, folder: Path, pattern: str, can: str) -> Iterator[Extension]:
    """One for each file or folder that fits; named after the first folder below."""
    try:
        found = sorted(folder.glob(pattern))
    except OSError:
        return
    for path in found:
        depth = pattern.count("*/") or 1
        yield Extension(kind, "/".join(path.relative_to(folder).parts[:depth]), path, can)


def list_skills(*folders: Path) -> Iterator[Extension]:
    """The skills below several folders."""
    for folder in folders:
        yield from list_folder("skill", folder / "skills", "*/SKILL.md", SKILL)


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """One agent: where it keeps what, how it is started, and what its settings look like."""

    name: str
    title: str
    place: Place
    build_entry: Callable[[Entry], dict[str, Any]]
    modes: tuple[Mode, ...] = ()
    """The ways to start it that were tried."""
    programs: tuple[str, ...] = ()
    """The names under which it may be on the PATH, if not under its own."""
    grouped: bool = True
    """Whether the handlers of an event stand in groups."""
    comments: bool = False
    """Whether its settings may have comments."""
    versioned: bool = False
    """Whether a file of hooks begins with the version of its form."""
    also_reads: tuple[str, ...] = ()
    """Agents whose settings this one runs as well."""
    looks_up: bool = True
    """Whether it also finds a project's settings when it is started in a folder below."""
    keeps_on: Switches = field(default_factory=dict)
    """For the whole machine: what no project can switch off then."""
    managed_only: Switches = field(default_factory=dict)
    """For the whole machine: no hooks and mods but those of its administrator."""
    speaks_http: bool = False
    """Whether it can call a server instead of a program."""
    takes_typing: bool = False
    """Whether its model can type into a running program, of which no hook is told."""
    is_plugin: bool = False
    """Whether our hooks are a plugin there, a program that calls our lines itself."""
    find_switches: FindSwitches | None = None
    list_results: ListResults | None = None
    list_extensions: Callable[[Surroundings], Iterator[Extension]] | None = None
