"""Commands that Claude Code runs while it expands a command or a skill, without asking any hook.

A file such as `.claude/commands/x.md` may hold !`git status`, whose output takes its place when a
person types `/x`, or the model calls the tool `Skill`. Both are told, so the file is read here and
the commands in it are judged with the event.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.dialects import Dialect
from amplifier_hooks.coding_agents.dialects.dialect import get_text
from amplifier_hooks.external.incoming import Incoming, UnreadablePayload

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
