"""The agents that can be guarded: what an entry of ours looks like in the settings of each."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.dialect import TOOL, NativeEvent
from amplifier_hooks.coding_agents.installing.document import Form
from amplifier_hooks.coding_agents.installing.line import GuestCommand, UnusablePath, is_line
from amplifier_hooks.coding_agents.known import KNOWN
from amplifier_hooks.coding_agents.known.agent import LABEL, Entry, KnownAgent, Switches

_SECONDS = 20.0
_NUMBERS = re.compile(r"(?<![\d.])(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Program:
    """An agent on this machine; the version is empty if it does not say which it is."""

    path: str
    version: str


def find_program(
    names: tuple[str, ...], folder: Path, env: Mapping[str, str] | None = None
) -> str | None:
    """The first of these programs on the PATH, without places in a folder that anybody may have
    filled: what is in a project must not be run because somebody asks about it."""
    env = os.environ if env is None else env
    inside = Path(os.path.realpath(folder))
    places = [
        one
        for one in env.get("PATH", os.defpath).split(os.pathsep)
        if Path(one).is_absolute() and not _lies_in(one, inside)
    ]
    found = (shutil.which(one, path=os.pathsep.join(places)) for one in names if places)
    return next((one for one in found if one is not None and not _lies_in(one, inside)), None)


def _lies_in(path: str, folder: Path) -> bool:
    # A home may be the folder of a project, and programs are installed in homes.
    if folder == Path(os.path.realpath(Path.home())):
        return False
    return Path(os.path.realpath(path)).is_relative_to(folder)


def ask_version(program: str) -> str:
    """What a program says about itself, such as 2.1.325; empty if it does not."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
            cwd="/",  # where no project has settings
            start_new_session=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _NUMBERS.search(done.stdout)
    return ".".join(found.groups()) if found else ""


def is_older(version: str, other: str) -> bool:
    """Whether a version comes before another one."""
    return _read(version) < _read(other)


def explain_version(agent: str, title: str, version: str) -> str:
    """What is not known about a version; empty if it was tried, or one before it was."""
    tried = DIALECTS[agent].tried
    if not version:
        return (
            f"{title} does not say its version: only events that every version knows are "
            "installed, and nobody knows whether it obeys the guard as those that were tried"
        )
    if tried and is_older(tried, version):
        return (
            f"{title} {version} is newer than any that was tried with this guard ({tried}); "
            f"amplifier guard check {agent} shows whether the guard itself works"
        )
    return ""


def _read(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


HTTP_MARK = "X-Amplifier-Guest"
"""The header by which an HTTP entry is known as ours."""
_HTTP_BUNDLE = "X-Amplifier-Bundle"
_HTTP_SECONDS = "X-Amplifier-Seconds"

# Claude Code starts these before it speaks HTTP to anybody.
_NEVER_BY_HTTP = frozenset({"SessionStart", "Setup"})
_HOST_SECONDS = 600
_OUR_SECONDS = 590
_END_SECONDS = (10, 8)
_ENDS = frozenset({"sessionend", "dispose"})
_SHORT = 10.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a hook may take: what is written into the settings (None: nothing), and our own."""

    host: float | None
    ours: float


@dataclass(frozen=True, slots=True)
class Options:
    """What is to be installed."""

    command: GuestCommand
    bundle: Path | None = None
    every_event: bool = False
    http: tuple[int, str] | None = None
    """The port and the token of the resident process, where the agent is to speak HTTP to it."""
    version: str | None = None
    """Only events which this version of the agent knows; all with None, and with an empty text
    those which every version knows."""
    system: bool = False
    """Whether this is for the whole machine, with the switch that keeps hooks running."""
    managed_only: bool = False
    """Whether the agent is to run no hooks and mods but those of the machine."""
    label: str = LABEL
    """The name of our hooks where they have one. A project can switch off a hook by its name, so
    for the whole machine it is one that no project knows."""


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent, and the form of its entries."""

    known: KnownAgent
    name: str
    title: str
    programs: tuple[str, ...]
    form: Form

    def list_events(
        self, *, every_event: bool = False, version: str | None = None
    ) -> dict[str, NativeEvent]:
        """The events that are installed: all that the agent has, but not those that are noisy."""
        return {
            name: row
            for name, row in DIALECTS[self.name].events.items()
            if (every_event or not row.noisy) and _is_known(row, version)
        }

    def list_switches(self, options: Options) -> Switches:
        """What is written beside the entries."""
        keeps_on = self.known.keeps_on if options.system else {}
        return {**keeps_on, **(self.known.managed_only if options.managed_only else {})}

    def get_limits(self, event: str) -> Limits:
        """Long enough for a person to answer, except where the agent ends soon anyway."""
        default = DIALECTS[self.name].get_timeout(event)
        if default <= _SHORT:
            return Limits(None, default * 0.8)
        is_end = event.lower() in _ENDS
        host, ours = _END_SECONDS if is_end else (_HOST_SECONDS, _OUR_SECONDS)
        return Limits(host / DIALECTS[self.name].unit, ours)

    def build_entries(self, options: Options) -> dict[str, Any]:
        """Our entry for each event."""
        events = self.list_events(every_event=options.every_event, version=options.version)
        return {name: self._build_entry(name, row, options) for name, row in events.items()}

    def _build_entry(self, event: str, row: NativeEvent, options: Options) -> dict[str, Any]:
        limits = self.get_limits(event)
        if options.http is not None and event not in _NEVER_BY_HTTP:
            return _build_http(event, limits, row, options)
        line = options.command.build_line(
            self.name,
            event,
            limits.ours,
            gate=row.gate,
            bundle=options.bundle,
            refusal=row.refusal,
        )
        is_tool = row.matched == TOOL
        return self.known.build_entry(Entry(line, limits.host, row.gate, is_tool, options.label))


def _is_known(row: NativeEvent, version: str | None) -> bool:
    if version is None or not row.since:
        return True
    return bool(version) and not is_older(version, row.since)


def list_handlers(entry: Any) -> list[Any]:
    """The handlers of an entry: those in a group, or itself."""
    inner = entry.get("hooks") if isinstance(entry, dict) else None
    return inner if isinstance(inner, list) else [entry]


def get_command(handler: Any) -> str | None:
    """The shell line of a handler, if it has one."""
    found = handler.get("command", handler.get("bash")) if isinstance(handler, dict) else None
    return found if isinstance(found, str) else None


def is_ours(handler: Any) -> bool:
    """Whether a handler in some agent's settings is one that we wrote."""
    if is_line(get_command(handler)):
        return True
    headers = handler.get("headers") if isinstance(handler, dict) else None
    return isinstance(headers, dict) and HTTP_MARK in headers


def _limit(key: str, limits: Limits) -> dict[str, Any]:
    return {} if limits.host is None else {key: round(limits.host)}


def _build_http(event: str, limits: Limits, row: NativeEvent, options: Options) -> dict[str, Any]:
    assert options.http is not None
    port, token = options.http
    headers = {"Authorization": f"Bearer {token}", HTTP_MARK: "1"}
    headers[_HTTP_SECONDS] = f"{limits.ours:g}"
    if options.bundle is not None:
        headers[_HTTP_BUNDLE] = _write_header(options.bundle)
    handler = {
        "type": "http",
        "url": f"http://127.0.0.1:{port}/claude/{event}",
        "headers": headers,
        **_limit("timeout", limits),
        **({"onFailure": "block"} if row.gate else {}),
    }
    return {"hooks": [handler]}


def _write_header(path: Path) -> str:
    """A path as the value of a header, in which Claude Code replaces what follows a `$`."""
    text = str(path)
    if "$" in text or not text.isascii() or not text.isprintable():
        raise UnusablePath(
            f"{text!r} cannot be sent over HTTP; move it to a path of plain letters, or leave "
            "out --http"
        )
    return text


def _make_agent(known: KnownAgent) -> Agent:
    fields = {"version": 1} if known.versioned else {}
    form = Form(is_ours, known.grouped, known.comments, fields)
    return Agent(known, known.name, known.title, known.programs or (known.name,), form)


AGENTS: Mapping[str, Agent] = {name: _make_agent(known) for name, known in KNOWN.items()}
