"""Acts of an agent against its own guard, which are denied: people decide, and keep records.

An agent whose guard this is has a shell of its own, in which our commands work as in any other.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from glob import iglob
from itertools import chain, islice, product
from pathlib import Path
from typing import Any

from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards.bash import (
    Command,
    Word,
    Workspace,
    list_all_commands,
    list_directories,
)
from amplifier_hooks.guards.bash.commands import find_values
from amplifier_hooks.guards.policy.agent_programs import (
    AGENT_PROGRAMS,
    AGENT_VARIABLES,
    AgentProgram,
)
from amplifier_hooks.guards.policy.tool_calls import PATH_KEYS
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.modules.registration import read_command

MOST_READINGS = 10_000
"""More would keep everybody waiting who is judged by the same process."""


def list_readings(words: Sequence[Word], bases: Sequence[Path]) -> Iterator[tuple[Word, Path]]:
    """Each word with each folder; ValueError where they are too many to be looked at."""
    if len(words) * len(bases) > MOST_READINGS:
        raise ValueError(f"the command has {len(words)} words, too many to be looked at")
    return product(words, bases)


_MOVES_ASKER = "guest-uprooting"
_TRASHING = frozenset({"trash", "trash-put"})
_REMOVING = _TRASHING | {"rm"}
_MOVING = frozenset({"ln", "mv"})
_TO_FOLDER = frozenset({"-t", "--target-directory"})
_CLEANING = {"clean": {"-x", "-X"}, "stash": {"-a", "--all", "-u", "--include-untracked"}}
"""What git removes although it does not know it, by the command and its options."""


def find_uprooted(command: str, folder: Path, files: Sequence[Path]) -> Path | None:
    """The first of the files that a command would move, remove or link with its folder."""
    commands = list_all_commands(command, _MOVES_ASKER)
    workspace = Workspace(folder, Path.home())
    if not any(_list_taken(one) or _cleans(one) for one in commands):
        return None
    bases = list_directories(commands, workspace).known
    roots = {root for one in commands for root in _list_roots(one, workspace, bases)}
    there = (path for path in files if path.exists())
    return next((path for path in there if roots & {*path.parents, *path.resolve().parents}), None)


def _list_roots(command: Command, workspace: Workspace, bases: Sequence[Path]) -> Iterator[Path]:
    """The folders that a command takes away."""
    if _cleans(command):
        yield from (base.resolve() for base in bases)
    found = (workspace.find_path(*one) for one in list_readings(_list_taken(command), bases))
    yield from (path for path in found if path is not None)


def _list_taken(command: Command) -> tuple[Word, ...]:
    if command.name in _REMOVING:
        # Without these, a folder with something in it stays.
        deep = not command.flags.isdisjoint({"-r", "-R", "--recursive"})
        unknown = any(word.value is None for word in command.words)
        return command.operands if deep or unknown or command.name in _TRASHING else ()
    if command.name not in _MOVING:
        return ()
    # The last one is where the others go.
    into = len(command.operands) > 1 and _TO_FOLDER.isdisjoint(command.flags)
    return command.operands[:-1] if into else command.operands


def _cleans(command: Command) -> bool:
    if command.name != "git":
        return False
    done = (flags for word, flags in _CLEANING.items() if word in _list_values(command))
    return any(not command.flags.isdisjoint(flags) for flags in done)


def _list_values(command: Command) -> list[str]:
    return [word.value for word in command.arguments if word.value]


ASKER = "guest-other-agents"

IsGuarded = Callable[[AgentProgram, Path], bool]
"""Whether an agent that is started in a folder has a guard there."""

_BY_NAME = {name: program for program in AGENT_PROGRAMS for name in program.names}
_RUN_FIRST = frozenset({"bunx", "node", "npx", "pnpx", "uvx"})
_RUN_BEHIND = {
    "bun": {"x"},
    "deno": {"run", "x"},
    "nix": {"run"},
    "npm": {"exec", "x"},
    "pipx": {"run"},
    "pnpm": {"dlx", "exec"},
    "uv": {"run"},
    "yarn": {"dlx", "exec"},
}
"""Programs that run another one behind one of these words."""
_ELSEWHERE = frozenset(
    {"bwrap", "chroot", "distrobox", "doas", "docker", "kubectl", "nerdctl", "podman", "runuser"}
    | {"ssh", "su", "sudo", "toolbox", "unshare"}
)
"""What they run has other settings: of another person, in a container, on another machine."""
_IMAGES = frozenset({"docker", "nerdctl", "podman"})
_CONFIG = frozenset({"-c", "--config"})
_EDITORS = frozenset({"config", "hook", "hooks"})
"""Commands of theirs that change their settings."""
_BESIDE = frozenset({"extension", "extensions", "features", "mcp", "plugin", "plugins", "skills"})
_READING: tuple[list[str | None], ...] = ([], ["get"], ["help"], ["list"], ["serve"])
"""Commands of theirs that only look at what stands beside the guard, or are an MCP server."""
_INFORMING = frozenset({"--help", "-h", "--version", "-v", "-V"})
_INFORMING_WORDS = frozenset(
    {"auth", "completion", "doctor", "help", "login", "logout", "models", "status"}
    | {"update", "upgrade", "version", *_BESIDE}
)
_PERMISSION_MODES = frozenset({"bypassPermissions", "yolo"})
_EMPTYING = frozenset({"-", "-i", "--ignore-environment"})


def find_unguarded_agent(
    command: str, folder: Path = Path("/"), is_guarded: IsGuarded = lambda agent, folder: True
) -> str | None:
    """The part of a command that starts an agent which no guard may judge."""
    commands = list_all_commands(command, ASKER)
    found = [found for one in commands if (found := _find_agent(one)) is not None]
    started = [one for one in found if _is_about(*one[:2])]
    if not started:
        return None
    moved = _moves_settings(commands)
    directories = list_directories(commands, Workspace(folder, Path.home()))
    for agent, one, text in started:
        if moved or _switches_off(agent, one) or not _ELSEWHERE.isdisjoint(one.via):
            return text
        if not _runs_agent(one):
            continue
        here = all(is_guarded(agent, place) for place in directories.known)
        anywhere = directories.complete or is_guarded(agent, Path("/"))
        if not here or not anywhere:
            return text
    return None


def _find_agent(command: Command) -> tuple[AgentProgram, Command, str] | None:
    """The agent that a command is about, and its words as the agent gets them."""
    words = list(command.words)
    if command.name in _BY_NAME:
        return _BY_NAME[command.name], command, command.text or str(command.program)
    behind = _RUN_BEHIND.get(command.name or "")
    values = [word.value for word in words]
    if behind is not None:
        at = next((n for n, value in enumerate(values) if value in behind), None)
        words = [] if at is None else words[at + 1 :]
    elif (command.name or "").startswith(("python", "pypy")) and "-m" in values:
        words = words[values.index("-m") + 1 :]
    elif command.name in _IMAGES and "run" in values:
        at = next((n for n, value in enumerate(values) if _is_image(value)), None)
        words = [] if at is None else words[at:]
    elif command.name not in _RUN_FIRST:
        return None
    while words and words[0].is_flag:
        words.pop(0)
    name = _name_package(words[0].value or "") if words else ""
    if name not in _BY_NAME:
        return None
    inner = replace(command, program=name, words=tuple(words[1:]))
    return _BY_NAME[name], inner, command.text or name


def _name_package(text: str) -> str:
    """`@openai/codex@latest`, `nixpkgs#codex` and `/opt/gemini.js`, without what is around it."""
    name = Path(text).name.removeprefix("npm:").rpartition("#")[2]
    return re.split("[@:]|==", name)[0].removesuffix(".js")


def _is_image(text: str | None) -> bool:
    """`ghcr.io/openai/codex:1`, but no folder that a container gets."""
    return not (text or "/").startswith(("/", ".", "~")) and _name_package(text or "") in _BY_NAME


def _moves_settings(commands: Iterable[Command]) -> bool:
    """Whether what is started may look for its settings elsewhere."""
    listed = list(commands)
    emptied = any(one.name == "env" and _list_words(one) & _EMPTYING for one in listed)
    return emptied or any(not AGENT_VARIABLES.isdisjoint(one.assigns) for one in listed)


def _list_words(command: Command) -> frozenset[str]:
    return command.flags | {word.value for word in command.words if word.value}


def _switches_off(agent: AgentProgram, command: Command) -> bool:
    flags = command.flags
    words: Sequence[str | None] = [word.value for word in command.arguments]
    first = set(words[:1])
    if first <= _BESIDE and first and list(words[1:2]) not in _READING:
        return True  # a gateway may be before the servers, and a plugin stands above the guard
    if not flags.isdisjoint(agent.off) or not first.isdisjoint(_EDITORS):
        return True
    options = ("--permission-mode", "--approval-mode")
    modes = [word for long in options for word in find_values(command.words, "--", long)]
    if any(word.value in _PERMISSION_MODES for word in modes):
        return True
    about_hooks = any("hook" in (word.value or "hook") for word in command.words)
    return agent.guard == "codex" and about_hooks and not flags.isdisjoint(_CONFIG)


def _is_about(agent: AgentProgram, command: Command) -> bool:
    """Whether it is the agent, where its program is more than that: `gh copilot`, not `gh pr`."""
    if not agent.starts:
        return True
    if not command.words:
        return agent.starts_alone
    verb = next((word.value for word in command.arguments), None)
    return verb in agent.starts or not command.flags.isdisjoint(agent.starts)


def _runs_agent(command: Command) -> bool:
    """Whether it does more than say something about itself."""
    first = next((word.value for word in command.words), None)
    verb = next((word.value for word in command.arguments), None)
    return first not in _INFORMING and verb not in _INFORMING_WORDS


NAME = "guest-personal"
_FIRST = -950
_PROGRAM = "amplifier"
_PERSONAL = frozenset({"approvals", "guard", "judge", "login-code", "serve", "tokens", "trust"})
_ABOUT_TOOLS = frozenset({"allow", "forget"})
"""Of `amplifier mcp tools`: they decide which definitions of tools count."""
_COMMON = frozenset({"judge", "serve"})
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
    coordinator: Host,
    folder: Path,
    guarded: Sequence[Path],
    has_guard: IsGuarded,
    *,
    agent: str = "",
    starts: Sequence[Path] = (),
) -> None:
    """Keep an agent that works in `folder` from what only people do, and from its own guard.

    `starts` are the folders in which that very agent is known to be guarded; of others, `has_guard`
    says it.
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
