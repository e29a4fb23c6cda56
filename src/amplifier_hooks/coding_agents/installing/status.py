"""Whether a guard really stands: in the settings, on the disk, and in the eyes of the agent."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.client.launch import read_launch
from amplifier_hooks.coding_agents.daemon.folder import check_folder
from amplifier_hooks.coding_agents.installing.agents import (
    AGENTS,
    Agent,
    Options,
    ask_version,
    explain_version,
    find_program,
    get_command,
    list_handlers,
)
from amplifier_hooks.coding_agents.installing.codex_trust import CodexError, CodexTrust
from amplifier_hooks.coding_agents.installing.contents import read_contents
from amplifier_hooks.coding_agents.installing.guard import explain_distrust
from amplifier_hooks.coding_agents.installing.installation import Target, list_ours
from amplifier_hooks.coding_agents.installing.json_edit import JsonProblem, parse_json
from amplifier_hooks.coding_agents.installing.line import (
    OWN_FOLDER,
    GuestCommand,
    list_words,
    make_guest_command,
    resolve_folder,
)
from amplifier_hooks.coding_agents.installing.places import (
    PLACES,
    Scope,
    find_settings,
    list_scopes,
)
from amplifier_hooks.coding_agents.installing.record import Records
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, read_settings
from amplifier_hooks.coding_agents.installing.switches import (
    find_switches,
    list_extensions,
    parse_settings,
)
from amplifier_hooks.coding_agents.installing.system import open_system_records, read_label
from amplifier_hooks.coding_agents.known import KNOWN, list_unguarded
from amplifier_hooks.coding_agents.known.agent import LABEL, Extension

_FILE_VARIABLE = "GEMINI_CLI_TRUSTED_FOLDERS_PATH"
_EVERYWHERE = "GEMINI_CLI_TRUST_WORKSPACE"
_TRUSTS = ("TRUST_FOLDER", "TRUST_PARENT")


def is_folder_trusted(folder: Path, env: Mapping[str, str] | None = None) -> bool:
    """What its rules say about a folder; the longest that fits decides, as in the program."""
    env = os.environ if env is None else env
    if env.get(_EVERYWHERE) in ("true", "false"):
        return env[_EVERYWHERE] == "true"
    home = PLACES["gemini"].find_home(env)
    security = _read(home / "settings.json").get("security")
    asked = security.get("folderTrust") if isinstance(security, dict) else None
    if isinstance(asked, dict) and asked.get("enabled") is False:
        return True
    rules = _read(Path(env.get(_FILE_VARIABLE) or home / "trustedFolders.json"))
    found = [(len(path), level) for path, level in rules.items() if _fits(path, level, folder)]
    return bool(found) and max(found, key=lambda one: one[0])[1] in _TRUSTS


def _fits(path: str, level: Any, folder: Path) -> bool:
    ruled = Path(path).parent if level == "TRUST_PARENT" else Path(path)
    return Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(ruled))


def _read(path: Path) -> dict[str, Any]:
    """What a file says; nothing, if it cannot be read."""
    try:
        value = parse_json(read_settings(path).text, comments=True).to_value()
    except (JsonProblem, SettingsError):
        return {}
    return value if isinstance(value, dict) else {}


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
    program: str = ""
    """The version of the agent when the guard was installed; empty if it was not known."""


@dataclass(frozen=True, slots=True)
class Status:
    """The guard of one agent, wherever it is installed."""

    agent: Agent
    program: str | None
    installed: tuple[Installed, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    version: str = ""
    """Of the program; empty if nobody asked it, or it does not say."""
    extensions: tuple[Extension, ...] = ()
    """What runs beside or above our hooks."""

    @property
    def stands(self) -> bool:
        """Whether it is installed, and nothing keeps it from working."""
        return bool(self.installed) and not self.list_problems()

    def list_problems(self) -> list[str]:
        """All of them, those of each file first."""
        return [*(what for one in self.installed for what in one.problems), *self.problems]


def read_status(name: str, root: Path, *, ask_agent: bool = True) -> Status:
    """Look at everything that a guard needs, without changing anything.

    With `ask_agent`, the agent itself is asked which version it is, and whether it trusts our
    hooks, where it can be.
    """
    agent = AGENTS[name]
    program = find_program(agent.programs, root)
    version = ask_version(program) if ask_agent and program is not None else ""
    found, problems = _inspect_all(name, root, version)
    problems += _find_outside(name, root, [one.scope for one in found])
    if name == "codex" and ask_agent:
        asked = [Target(name, one.scope, root) for one in found if one.scope != "system"]
        problems += _find_distrust(asked, program)
    notes = [*_note(agent, found, root), *_note_overruled(name, found, root)]
    if ask_agent and program is not None:
        notes += _note_version(agent, found, version)
    extensions = tuple(list_extensions(name, root))
    return Status(agent, program, tuple(found), tuple(problems), tuple(notes), version, extensions)


def _inspect_all(name: str, root: Path, version: str) -> tuple[list[Installed], list[str]]:
    """What stands in the settings of machine, person and project; what cannot be read."""
    found: list[Installed] = []
    problems: list[str] = []
    scopes = list_scopes(name)
    for scope in scopes[:-1] if _is_home(name, root) else scopes:
        try:
            installed = _inspect(Target(name, scope, root), version)
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
        yield from find_switches(name, root, managed="system" in scopes)
        yield from _find_shared(name, root)


def _note_overruled(name: str, found: list[Installed], root: Path) -> Iterator[str]:
    """Switches that have no effect on the guard of the machine."""
    if any(one.scope == "system" for one in found):
        holds = find_switches(name, root, managed=True)
        for one in find_switches(name, root):
            if one not in holds and "allows only the hooks" not in one:
                yield f"{one}. The settings of the machine overrule it"


def _note_version(agent: Agent, found: list[Installed], version: str) -> Iterator[str]:
    if why := explain_version(agent.name, agent.title, version):
        yield why
    for one in found:
        if version and one.program != version:
            before = one.program or "not known"
            yield (
                f"{agent.title} is {version}, and was {before} when the guard was installed: run "
                f"amplifier guard {agent.name} --{one.scope} again"
            )


def _is_home(name: str, root: Path) -> bool:
    """Whether the project's settings are the person's: in a home, some agents have but one file."""
    return find_settings(name, "project", root) == find_settings(name, "user", root)


def _inspect(target: Target, version: str) -> Installed | None:
    """What stands in one file; None if nothing of ours does."""
    agent = AGENTS[target.agent]
    entries = list_ours(target)
    if not entries:
        return None
    commands = [get_command(one) for found in entries.values() for one in list_handlers(found[0])]
    words = next((found for found in map(list_words, filter(None, commands)) if found), [])
    record = (open_system_records() if target.scope == "system" else Records()).find(target.path)
    program = record.program if record is not None else ""
    problems = [*_find_missing_gates(agent, entries, version or program)]
    problems += [*_find_changed(target, entries, words), *_find_missing_files(words)]
    problems += _find_missing_switches(target)
    bundle = Path(words[8]) if len(words) > 8 else None
    if bundle is not None and not bundle.is_file():
        problems.append(f"the bundle {bundle} is not there; everything is denied")
    folder = resolve_folder(words[4]) if len(words) > 4 else None
    events = tuple(entries)
    return Installed(target.scope, target.path, events, tuple(problems), folder, bundle, program)


def _find_missing_gates(agent: Agent, entries: dict[str, Any], version: str) -> Iterator[str]:
    known = agent.list_events(version=version)
    missing = [name for name, row in known.items() if row.gate and name not in entries]
    if missing:
        yield f"{', '.join(missing)}: nothing of ours is in front of these events"


def _find_missing_switches(target: Target) -> Iterator[str]:
    """What keeps hooks running whatever a project says, and is no longer there."""
    if target.scope != "system":
        return
    settings = parse_settings(read_settings(target.path))
    for path, value in KNOWN[target.agent].keeps_on.items():
        found = settings
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        if found != value:
            name = ".".join(path)
            yield f"{name!r} is not {json.dumps(value)} there: a project can switch us off"


def _find_changed(target: Target, entries: dict[str, Any], words: list[str]) -> Iterator[str]:
    """What is not as we write it, or there twice."""
    if len(words) < 8:
        yield "the lines cannot be read; somebody has changed them"
        return
    command = GuestCommand(Path(words[0]), Path(words[3]), Path(words[4]))
    bundle = Path(words[8]) if len(words) > 8 else None
    http = _find_http(entries, resolve_folder(command.folder))
    label = read_label() if target.scope == "system" else LABEL
    options = Options(command, bundle, every_event=True, http=http, label=label)
    if KNOWN[target.agent].is_plugin:
        yield from _find_changed_plugin(target, options)
    else:
        yield from _find_changed_entries(AGENTS[target.agent].build_entries(options), entries)
    if command.client != make_guest_command(command.folder).client:
        yield (
            f"the lines are of another installation of amplifier ({command.client.parents[3]}): "
            f"amplifier guard {target.agent} --{target.scope} puts those of this one in their place"
        )


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
    python = words[0]
    client = words[3]
    folder = resolve_folder(words[4])
    if not os.access(python, os.X_OK):
        yield f"the interpreter {python} is not there; everything is denied"
    if not Path(client).is_file():
        yield f"the client {client} is not there; everything is denied"
    try:
        if words[4] != str(OWN_FOLDER) or folder.exists():  # the first call of a user makes it
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
    if program is None:
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
        names = {"system": "every user", "user": "you", "project": "this project"}
        where = " and for ".join(names[one.scope] for one in found)
        yield f"installed for {where}: every event may be judged more than once"
    if [one.scope for one in found] == ["project"] and not agent.known.looks_up:
        yield (
            f"{agent.title} runs these hooks only when it is started in {root} itself, not in a "
            f"folder below it; amplifier guard {agent.name} --user guards it everywhere"
        )
    yield from list_unguarded(agent.name) if found else ()
    for other in agent.known.also_reads:
        path = find_settings(other, "project", root)
        if found and _has_ours(Target(other, "project", root)):
            yield f"{agent.title} also runs what is in {path}: an event by both is judged once"


def _has_ours(target: Target) -> bool:
    try:
        return bool(list_ours(target))
    except SettingsError:
        return False
