"""Whether a guard really stands: in the settings, on the disk, and in the eyes of the agent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from amplifier_foundation.guests.client.launch import read_launch
from amplifier_foundation.guests.installing.agents import (
    AGENTS,
    Agent,
    Options,
    get_command,
    list_handlers,
)
from amplifier_foundation.guests.installing.codex.server import CodexError
from amplifier_foundation.guests.installing.codex.trust import CodexTrust, find_program
from amplifier_foundation.guests.installing.contents import read_contents
from amplifier_foundation.guests.installing.gemini_trust import is_folder_trusted
from amplifier_foundation.guests.installing.guard import explain_distrust
from amplifier_foundation.guests.installing.installation import Target, list_ours
from amplifier_foundation.guests.installing.line import GuestCommand, list_words, make_guest_command
from amplifier_foundation.guests.installing.places import PLACES, Scope, find_settings
from amplifier_foundation.guests.installing.settings_file import SettingsError, read_settings
from amplifier_foundation.guests.installing.switches import find_switches
from amplifier_foundation.guests.resident.folder import check_folder

SCOPES: tuple[Scope, Scope] = ("user", "project")


@dataclass(frozen=True, slots=True)
class Installed:
    """The guard in one settings file."""

    scope: Scope
    path: Path
    events: tuple[str, ...]
    problems: tuple[str, ...]
    folder: Path | None = None
    """Of the resident process that the lines ask."""
    bundle: Path | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """The guard of one agent, wherever it is installed."""

    agent: Agent
    program: str | None
    installed: tuple[Installed, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def stands(self) -> bool:
        """Whether it is installed, and nothing keeps it from working."""
        return bool(self.installed) and not self.list_problems()

    def list_problems(self) -> list[str]:
        """All of them, those of each file first."""
        return [*(what for one in self.installed for what in one.problems), *self.problems]


def read_status(name: str, root: Path, *, ask_agent: bool = True) -> Status:
    """Look at everything that a guard needs, without changing anything.

    With `ask_agent`, the agent itself is asked whether it trusts our hooks, where it can be.
    """
    agent = AGENTS[name]
    found, problems = _inspect_all(name, root)
    program = next(filter(None, map(shutil.which, agent.programs)), None)
    problems += _find_outside(name, root, [one.scope for one in found])
    if name == "codex" and ask_agent:
        problems += _find_distrust([Target(name, one.scope, root) for one in found], program)
    return Status(agent, program, tuple(found), tuple(problems), tuple(_note(agent, found, root)))


def _inspect_all(name: str, root: Path) -> tuple[list[Installed], list[str]]:
    """What stands in the settings of the person and of the project; what cannot be read."""
    found: list[Installed] = []
    problems: list[str] = []
    for scope in SCOPES[:1] if _is_home(name, root) else SCOPES:
        try:
            installed = _inspect(Target(name, scope, root))
        except SettingsError as error:
            problems.append(str(error))
            continue
        found += [] if installed is None else [installed]
    return found, problems


def _find_outside(name: str, root: Path, scopes: list[Scope]) -> Iterator[str]:
    """What keeps an installed guard from working, but is not in its own lines."""
    if scopes == ["project"]:
        yield from _find_untrusted_folder(name, root)
    if scopes:
        yield from find_switches(name, root)
        yield from _find_shared(name, root)


def _is_home(name: str, root: Path) -> bool:
    """Whether the project's settings are the person's: in a home, some agents have but one file."""
    return find_settings(name, "project", root) == find_settings(name, "user", root)


def _inspect(target: Target) -> Installed | None:
    """What stands in one file; None if nothing of ours does."""
    agent, entries = AGENTS[target.agent], list_ours(target)
    if not entries:
        return None
    commands = [get_command(one) for found in entries.values() for one in list_handlers(found[0])]
    words = next((found for found in map(list_words, filter(None, commands)) if found), [])
    problems = [*_find_missing_gates(agent, entries), *_find_changed(target, entries, words)]
    problems += _find_missing_files(words)
    bundle = Path(words[8]) if len(words) > 8 else None
    if bundle is not None and not bundle.is_file():
        problems.append(f"the bundle {bundle} is not there; everything is denied")
    folder = Path(words[4]) if len(words) > 4 else None
    return Installed(target.scope, target.path, tuple(entries), tuple(problems), folder, bundle)


def _find_missing_gates(agent: Agent, entries: dict[str, Any]) -> Iterator[str]:
    missing = [
        name for name, row in agent.list_events().items() if row.gate and name not in entries
    ]
    if missing:
        yield f"{', '.join(missing)}: nothing of ours is in front of these events"


def _find_changed(target: Target, entries: dict[str, Any], words: list[str]) -> Iterator[str]:
    """What is not as we write it, or there twice."""
    if len(words) < 8:
        yield "the lines cannot be read; somebody has changed them"
        return
    command = GuestCommand(Path(words[0]), Path(words[3]), Path(words[4]))
    bundle = Path(words[8]) if len(words) > 8 else None
    options = Options(command, bundle, every_event=True, http=_find_http(entries, command.folder))
    if target.agent == "opencode":
        yield from _find_changed_plugin(target, options)
    else:
        yield from _find_changed_entries(AGENTS[target.agent].build_entries(options), entries)
    if command.client != make_guest_command(command.folder).client:
        yield f"the lines are of another installation of amplifier ({command.client.parents[3]})"


def _find_changed_entries(expected: dict[str, Any], entries: dict[str, Any]) -> Iterator[str]:
    for event, found in entries.items():
        if len(found) > 1:
            yield f"{event}: we are there {len(found)} times"
        elif found[0] != expected.get(event):
            yield f"{event}: somebody has changed our entry"


def _find_changed_plugin(target: Target, options: Options) -> Iterator[str]:
    file = read_settings(target.path)
    contents = read_contents(AGENTS[target.agent], file)
    ours = [contents.add(replace(options, every_event=every), None) for every in (True, False)]
    if file.content not in ours:
        yield "our plugin was changed, or is of another version of amplifier"


def _find_http(entries: dict[str, Any], folder: Path) -> tuple[int, str] | None:
    """The port and the token that must stand in entries, if there are any that speak HTTP."""
    handlers = [one for found in entries.values() for one in list_handlers(found[0])]
    if not any(isinstance(one, dict) and one.get("type") == "http" for one in handlers):
        return None
    try:
        http = read_launch(os.fsencode(folder)).http or {}
        return int(http["port"]), str(http["token"])
    except (ValueError, KeyError, TypeError):
        return 0, ""


def _find_missing_files(words: list[str]) -> Iterator[str]:
    if len(words) < 8:
        return
    python, client, folder = words[0], words[3], Path(words[4])
    if not os.access(python, os.X_OK):
        yield f"the interpreter {python} is not there; everything is denied"
    if not Path(client).is_file():
        yield f"the client {client} is not there; everything is denied"
    try:
        check_folder(folder)
        program = read_launch(os.fsencode(folder)).argv[0]
    except (ValueError, OSError) as error:
        yield str(error)
        return
    if not os.access(program, os.X_OK):
        yield f"the interpreter {program} of the resident process is not there"


def _find_untrusted_folder(name: str, root: Path) -> Iterator[str]:
    """Where Gemini leaves out what a project has set up."""
    if name == "gemini" and not is_folder_trusted(root):
        yield (
            f"Gemini CLI does not trust {root} yet, and runs none of its hooks; start gemini "
            "there and trust the folder"
        )


def _find_distrust(targets: list[Target], program: str | None) -> Iterator[str]:
    """What Codex says about our hooks."""
    if not targets:
        return
    if find_program() is None or program is None:
        yield "there is no codex on the PATH that could say whether it trusts our hooks"
        return
    for target in targets:
        try:
            hooks = CodexTrust(target.path, target.root, program).read()
        except CodexError as error:
            yield str(error)
            continue
        why = explain_distrust(hooks, target)
        if why:
            yield why


def read_notes(name: str, root: Path) -> list[str]:
    """What a person should know about a guard that has just been put up."""
    status = read_status(name, root, ask_agent=False)
    return [*status.list_problems(), *status.notes]


def _find_shared(name: str, root: Path) -> Iterator[str]:
    """Lines of ours in the file that a team shares: they are perhaps of another machine."""
    if name != "claude":
        return
    file = read_settings(root / PLACES[name].project[1])
    if file.path == find_settings(name, "user", root):
        return  # in a home, it is the person's own
    try:
        shared = read_contents(AGENTS[name], file).entries
    except SettingsError:
        return  # the agent cannot read it either
    if shared:
        yield f"{file.path} also holds lines of ours, which others would run; remove them there"


def _note(agent: Agent, found: list[Installed], root: Path) -> Iterator[str]:
    """What is not wrong, but good to know."""
    if len(found) > 1:
        yield "installed for you and for this project: every event may be judged twice"
    if [one.scope for one in found] == ["project"] and not agent.looks_up:
        yield (
            f"{agent.title} runs these hooks only when it is started in {root} itself, not in a "
            f"folder below it; amplifier guard {agent.name} --user guards it everywhere"
        )
    for other in agent.also_reads:
        path = find_settings(other, "project", root)
        if found and _has_ours(Target(other, "project", root)):
            yield f"{agent.title} also runs what is in {path}: every event is judged twice"


def _has_ours(target: Target) -> bool:
    try:
        return bool(list_ours(target))
    except SettingsError:
        return False
