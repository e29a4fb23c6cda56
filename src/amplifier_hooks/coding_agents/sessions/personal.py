"""What is for people only: deciding about an agent, trusting a bundle, guarding; and our records.

An agent whose guard this is has a shell of its own, in which our commands work as in any other.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Sequence
from glob import iglob
from itertools import chain, islice
from pathlib import Path
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.sessions.other_agents import IsGuarded, find_unguarded_agent
from amplifier_hooks.coding_agents.sessions.readings import list_readings
from amplifier_hooks.coding_agents.sessions.uprooting import find_uprooted
from amplifier_hooks.guards.bash import (
    Command,
    Word,
    Workspace,
    list_all_commands,
    list_directories,
)
from amplifier_hooks.guards.policy.agent_programs import AgentProgram
from amplifier_hooks.guards.policy.tool_calls import PATH_KEYS
from amplifier_hooks.machine.user import find_data_home
from amplifier_hooks.modules.guarding import read_command

NAME = "guest-personal"
_FIRST = -950
_PROGRAM = "amplifier"
_PERSONAL = frozenset({"approvals", "guard", "login-code", "serve", "tokens", "trust"})
_ABOUT_TOOLS = frozenset({"allow", "forget"})
"""Of `amplifier mcp tools`: they decide which definitions of tools count."""
_COMMON = frozenset({"serve"})
"""Words that other programs take as well."""
_PACKAGE = "amplifier_"
_PYTHONS = ("python", "pypy")
_MODULE = re.compile(r"-[a-zA-Z]*?m(.*)")
_OUR_CODE = re.compile(
    r"\bamplifier_hooks(\.|\s+import\s[\w\s,(]*?\b)"
    r"(agent\.trust|approvals|cli|coding_agents|external|frameworks|guards\.mcp|mcp|server)\b"
)
_FEEDERS = frozenset({"parallel", "xargs"})
"""They add words that come from elsewhere."""
_LONG = 2_000
_MOST_FILES = 1_000
_RUNNERS = frozenset(
    {"conda", "hatch", "mise", "pdm", "pipx", "pixi", "poetry", "rye", "uv", "uvx"}
)


def deny_personal_acts(
    coordinator: SessionCoordinator,
    folder: Path,
    guarded: Sequence[Path] = (),
    *,
    agent: str = "",
    starts: Sequence[Path] = (),
) -> None:
    """Keep an agent that works in `folder` from what only people do, and from its own guard.

    `starts` are the folders in which that very agent is known to be guarded.
    """
    files = [path.parent if path.name == "**" else path for path in guarded if path.is_absolute()]

    def is_guarded(program: AgentProgram, place: Path) -> bool:
        itself = agent and program.guard == agent and place in starts
        return bool(itself) or has_guard(program, place)

    def find(given: dict[str, Any], command: str | None) -> str | None:
        return _find_reason(given, command, folder, files, is_guarded)

    async def judge(event: str, data: dict[str, Any]) -> HookResult:
        given = data.get("tool_input") or {}
        command = read_command(given.get("command"))
        if command and len(command) > _LONG:  # others wait for this process, too
            reason = await asyncio.to_thread(find, given, command)
        else:
            reason = find(given, command)
        return HookResult(action="deny", reason=reason) if reason else HookResult()

    remove = coordinator.hooks.register(TOOL_PRE, judge, _FIRST, NAME, on_error="deny")
    coordinator.register_cleanup(remove)


def _find_reason(
    given: dict[str, Any],
    command: str | None,
    folder: Path,
    files: Sequence[Path],
    is_guarded: IsGuarded,
) -> str | None:
    """Why a call is not for agents; one hook for all of it, since each costs time at every call."""
    if command and (found := find_personal_act(command)):
        return f"{found!r} is for people: an agent does not decide about itself"
    if command and (found := find_unguarded_agent(command, folder, is_guarded)):
        return (
            f"{found!r} could run an agent without its guard; start one that a person has guarded "
            "there with `amplifier guard`, and without options that leave its guard out"
        )
    if command and (file := find_uprooted(command, folder, files)):
        return f"it would take {file} away, by which this agent is guarded; a person can do that"
    if place := find_records(given, folder):
        return f"{place} is where records and keys of amplifier are kept; tools stay out"
    return None


def has_guard(program: AgentProgram, place: Path) -> bool:
    """Whether a guard was installed, and is still there, for an agent started in a folder."""
    # Only the resident process needs what installing is made of.
    from amplifier_hooks.coding_agents.installing.record import Records

    for record in Records().list():
        if not program.guard or record.agent != program.guard or not Path(record.path).exists():
            continue
        root = Path(record.root)
        if record.scope != "project" or place == root:
            return True
        if program.found_above and place.is_relative_to(root):
            return True
    return False


def find_personal_act(command: str) -> str | None:
    """The part of a command that only a person may run, if it has one."""
    named = _PROGRAM in command
    found = (one for one in list_all_commands(command, NAME) if _is_personal(one, named=named))
    return next((one.text or str(one.program) for one in found), None)


def _is_personal(command: Command, *, named: bool) -> bool:
    """Whether it is ours, and for people. `named`: whether we are named anywhere in the line."""
    if _is_python(command) and _runs_our_package(command):
        return True
    words = _find_our_words(command)
    return words is not None and _is_for_people(words, command, named=named)


def _is_python(command: Command) -> bool:
    return (command.name or "").startswith(_PYTHONS)


def _find_our_words(command: Command) -> list[str] | None:
    """What our program is given, also behind one that starts those of a project; None if it is not.

    Where only the shell knows the program, it may be ours.
    """
    names = [Path(word.value).name for word in command.words if word.value]
    if (_is_python(command) or command.name in _RUNNERS) and _PROGRAM in names:
        return names[names.index(_PROGRAM) + 1 :]
    is_other = command.program is not None and command.name != _PROGRAM
    return None if is_other else names


def _is_for_people(words: Sequence[str], command: Command, *, named: bool) -> bool:
    first = next((word for word in words if not word.startswith("-")), None)
    is_certain = command.program is not None or named
    if first == "mcp" and not _ABOUT_TOOLS.isdisjoint(words):
        return is_certain
    if first in _PERSONAL:
        return is_certain or first not in _COMMON
    is_fed = first is None and not _FEEDERS.isdisjoint(command.via)
    return is_fed and command.program is not None


def _runs_our_package(command: Command) -> bool:
    """With `-m`, however it is written, or in code on the command line or on standard input."""
    values = [word.value or "" for word in command.words]
    for at, value in enumerate(values):
        found = _MODULE.fullmatch(value)
        if found and (found[1] or "".join(values[at + 1 : at + 2])).startswith(_PACKAGE):
            return True
    code = [*values, (command.stdin.value or "") if command.stdin is not None else ""]
    return any(_OUR_CODE.search(text) for text in code)


def find_records(given: dict[str, Any], folder: Path) -> str | None:
    """Our data folder, if a tool or a command is about it, however it is written."""
    command = read_command(given.get("command"))
    named = [given[key] for key in PATH_KEYS if isinstance(given.get(key), str)]
    if not command and not named:
        return None
    records = find_data_home() / _PROGRAM
    if command and any(one in command for one in _list_spellings(records)):
        return str(records)
    paths = chain(
        (os.path.realpath(folder / _expand(one)) for one in named),
        _list_paths(command, folder) if command else (),
    )
    real = os.path.realpath(records)
    inside = any(path == real or path.startswith(f"{real}/") for path in paths)
    return str(records) if inside else None


def _list_paths(command: str, folder: Path) -> Iterator[str]:
    """Every real path that a word of a command may name, also through a glob."""
    commands = list_all_commands(command, NAME)
    workspace = Workspace(folder, Path.home())
    bases = list_directories(commands, workspace).known
    words = [word for one in commands for word in (*one.words, *_list_targets(one))]
    for word, base in list_readings(words, bases):
        path = workspace.find_path(word, base)
        if path is not None:
            yield str(path)
        if word.glob and word.value:
            pattern = str(_expand(word.value))
            found = islice(iglob(pattern, root_dir=base), _MOST_FILES)  # noqa: PTH207
            yield from (os.path.realpath(base / one) for one in found)


def _list_targets(command: Command) -> list[Word]:
    return [redirect.target for redirect in command.redirects]


def _list_spellings(records: Path) -> list[str]:
    """As an absolute path, and from the home folder, whatever that is called there."""
    home = Path.home()
    below = [f"/{records.relative_to(home)}"] if records.is_relative_to(home) else []
    return [str(records), *below]


def _expand(path: str) -> Path:
    return Path.home() / path[2:] if path.startswith("~/") else Path(path)
