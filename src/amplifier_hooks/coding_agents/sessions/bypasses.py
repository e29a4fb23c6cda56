"""Ways in which an agent runs tools past its hooks: modes without any, and shells that wait."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import PROMPT_SUBMIT, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.dialects import Dialect
from amplifier_hooks.coding_agents.dialects.dialect import get_text
from amplifier_hooks.coding_agents.known import KNOWN, can_be_unguarded, find_unguarded
from amplifier_hooks.external.conversation import current_event
from amplifier_hooks.external.incoming import Incoming, UnreadablePayload
from amplifier_hooks.guards.bash import Command, list_all_commands
from amplifier_hooks.modules.registration import read_command

NAME = "guest-modes"
_FIRST = -900
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "busybox"})
_MOST_ANCESTORS = 16


def refuse_prompts(coordinator: SessionCoordinator, agent: str) -> None:
    """Guard the sessions of an agent that has a mode in which it runs tools unasked."""
    if not can_be_unguarded(agent):
        return

    async def judge(event: str, data: dict[str, Any]) -> HookResult:
        under_way = current_event.get()
        mode = None if under_way is None else find_unguarded(agent, under_way.host)
        if mode is None:
            return HookResult()
        reason = (
            f"amplifier: this was started as {mode.start}, where {agent} runs tools without asking "
            "any hook, so nothing could be judged and no prompt is accepted. Start it in a "
            f"terminal or with -p, or use another agent here; 'amplifier guard {agent} --remove' "
            "takes the guard away"
        )
        # An editor shows nothing of a denied prompt, but keeps what the agent says as its log.
        return HookResult(
            action="deny", reason=reason, user_message=reason, user_message_level="error"
        )

    remove = coordinator.hooks.register(PROMPT_SUBMIT, judge, _FIRST, NAME, on_error="deny")
    coordinator.register_cleanup(remove)


def read_host_arguments(client: int, processes: Path = Path("/proc")) -> tuple[str, ...]:
    """The command line of the agent that started a client; empty if the system does not show it.

    Agents run the lines in their settings by a shell, and some start themselves once more with the
    same arguments: the nearest process that is no shell is the agent.
    """
    for process in _list_ancestors(client, processes):
        words = _read_words(process, processes)
        if words and PurePath(words[0].removeprefix("-")).name not in _SHELLS:
            return words
    return ()


def _list_ancestors(process: int, processes: Path) -> Iterator[int]:
    for _ in range(_MOST_ANCESTORS):
        parent = _read_parent(process, processes)
        if parent <= 1:
            return
        yield parent
        process = parent


def _read_parent(process: int, processes: Path) -> int:
    try:
        facts = (processes / str(process) / "stat").read_bytes()
        # The name of the program stands in parentheses, and may hold anything.
        return int(facts.rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _read_words(process: int, processes: Path) -> tuple[str, ...]:
    try:
        line = (processes / str(process) / "cmdline").read_bytes()
    except OSError:
        return ()
    words = line.decode("utf-8", "replace").rstrip("\0").split("\0")
    return tuple(words) if any(words) else ()


SHELLS_NAME = "guest-bare-shells"
_INTERPRETERS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "python", "pypy", "node", "deno", "bun"}
    | {"ruby", "irb", "perl", "php", "lua", "ghci", "erl", "iex", "scala", "julia", "r", "tclsh"}
    | {"expect", "bc", "su"}
)
_CLIENTS = frozenset(
    {"psql", "mysql", "mariadb", "sqlite", "redis-cli", "mongosh", "gdb", "ssh", "telnet", "nc"}
    | {"ncat", "socat", "ftp", "sftp", "screen", "tmux", "script"}
)
_GIVEN = frozenset(
    {"-c", "-e", "-f", "-m", "-p", "-r", "-N", "-V", "-h", "--eval", "--command", "--execute"}
    | {"--version", "--help"}
)
_VERSION = re.compile(r"[\d.]+$")


def deny_bare_shells(coordinator: SessionCoordinator, dialect: Dialect) -> None:
    """Guard the sessions of an agent that has a way to type past its hooks."""
    known = KNOWN.get(dialect.name)
    if known is None or not known.takes_typing:
        return

    async def judge(event: str, data: dict[str, Any]) -> HookResult:
        command = read_command((data.get("tool_input") or {}).get("command"))
        if data.get("tool_name") != "Bash" or not command:
            return HookResult()
        found = find_bare_shell(command)
        if found is None:
            return HookResult()
        reason = (
            f"{found!r} would wait for input, and {dialect.name} lets nobody judge what is typed "
            "into it; give the program what it is to do as an argument or a file"
        )
        return HookResult(action="deny", reason=reason)

    remove = coordinator.hooks.register(TOOL_PRE, judge, _FIRST, SHELLS_NAME, on_error="deny")
    coordinator.register_cleanup(remove)


def find_bare_shell(command: str) -> str | None:
    """The program that would take what it does from its terminal, if the command has one."""
    found = (one for one in list_all_commands(command, SHELLS_NAME) if _waits_for_input(one))
    return next((one.text or str(one.program) for one in found), None)


def _waits_for_input(command: Command) -> bool:
    name = _VERSION.sub("", command.name or "")
    if name not in _INTERPRETERS | _CLIENTS or command.stdin is not None or command.piped_from:
        return False
    if any(redirect.operator.startswith("<") for redirect in command.redirects):
        return False
    if "-i" in command.flags:
        return True
    most = 0 if name in _INTERPRETERS else 1
    return len(command.operands) <= most and _GIVEN.isdisjoint(command.flags)


EXPANSION = "guest:user_prompt_expansion"
_AGENT = "claude"
_SKILL = "Skill"
_FROM_FILES = frozenset({"projectSettings", "userSettings", "localSettings"})
_INLINE = re.compile(r"(?:^|(?<=\s))!`([^`]+)`", re.MULTILINE)
_FENCED = re.compile(r"^```!\s*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ARGUMENT = re.compile(r"\$ARGUMENTS(?:\[(\d+)\])?|\$(\d)\b")
_NAME = re.compile(r"[\w.-]+(?::[\w.-]+)*")
_LONGEST = 1_000_000
_MOST_PLUGIN_FILES = 2_000


async def add_embedded_commands(dialect: Dialect, incoming: Incoming) -> Incoming:
    """The event with the commands of the file that it expands, as further calls.

    UnreadablePayload if the file of a command that stands in one is not found or cannot be read.
    """
    asked = _find_name(incoming) if dialect.name == _AGENT else None
    if asked is None:
        return incoming
    return await asyncio.to_thread(_add, incoming, *asked)


def _add(incoming: Incoming, name: str, arguments: str) -> Incoming:
    files = list(_find_files(name, Path(incoming.cwd or "/")))
    if not files and incoming.data.get("command_source") in _FROM_FILES:
        raise UnreadablePayload(
            f"the file of /{name} is not found in a folder .claude, and commands in it would "
            "run without being judged"
        )
    parts = [
        {"tool_name": "Bash", "tool_input": {"command": command}}
        for file in files
        for command in list_embedded(_read(file), arguments)
    ]
    return replace(incoming, also=(*incoming.also, *parts))


def list_embedded(text: str, arguments: str = "") -> list[str]:
    """The commands in the text of a command or a skill, with these arguments in their places."""
    words = arguments.split()

    def fill(found: re.Match[str]) -> str:
        number = found[1] or found[2]
        if number is None:
            return arguments
        return words[int(number)] if int(number) < len(words) else ""

    commands = [*_INLINE.findall(text), *_FENCED.findall(text)]
    return [_ARGUMENT.sub(fill, command).strip() for command in commands]


def _find_name(incoming: Incoming) -> tuple[str, str] | None:
    """The name of what is expanded and its arguments, if something is."""
    if incoming.event == EXPANSION:
        name = get_text(incoming.data, "command_name")
        arguments = get_text(incoming.data, "command_args")
    elif incoming.data.get("tool_name") == _SKILL and "tool_result" not in incoming.data:
        given: dict[str, Any] = incoming.data["tool_input"]
        name = get_text(given, "skill") or get_text(given, "command")
        arguments = get_text(given, "args")
    else:
        return None
    name = name.strip().removeprefix("/")
    return (name, arguments) if _NAME.fullmatch(name) else None


def _find_files(name: str, folder: Path) -> Iterator[Path]:
    """Every file of that name: which of them counts is the agent's business."""
    own = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    homes = [*(one / ".claude" for one in (folder, *folder.parents)), own]
    for home in dict.fromkeys(homes):
        yield from _find_below(home, name.split(":"))
    plugin, _, inner = name.rpartition(":")
    if plugin:
        for place in _list_plugins(own / "plugins"):
            yield from _find_below(place, inner.split(":"))


def _find_below(home: Path, names: list[str]) -> Iterator[Path]:
    commands = home.joinpath("commands", *names)
    skill = home / "skills" / names[-1] / "SKILL.md"
    for path in (commands.with_name(f"{commands.name}.md"), skill):
        if path.is_file():
            yield path
    # A command is also called by its own name alone, whichever folder it is in.
    if len(names) == 1 and (home / "commands").is_dir():
        yield from (one for one in (home / "commands").rglob(f"*/{names[0]}.md") if one.is_file())


def _list_plugins(folder: Path) -> Iterator[Path]:
    for count, manifest in enumerate(folder.rglob(".claude-plugin/plugin.json")):
        if count < _MOST_PLUGIN_FILES:
            yield manifest.parents[1]


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _LONGEST:
            raise UnreadablePayload(f"{path} is too long to be judged")
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UnreadablePayload(f"{path} cannot be read: {error.strerror}") from error
