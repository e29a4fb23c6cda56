"""hooks-production-guard: ask a person before anything writes to a guarded path.

Listens to  tool:pre
Answers     ask_user or deny, or continue
Configure   patterns, tools, shell, mcp_*, action, priority, timeout, approval_*
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from glob import iglob
from itertools import islice, product
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_foundation.bash import (
    Command,
    Place,
    Word,
    ensure_available,
    is_harmless,
    list_all_commands,
    list_directories,
)
from amplifier_foundation.modules.guarding import (
    GuardConfig,
    Reply,
    get_base_dir,
    list_lines,
    read_command,
    register_guards,
    shorten,
)
from amplifier_foundation.modules.options import parse_config
from amplifier_foundation.modules.tool_table import look_up_tool
from amplifier_foundation.policy.editing_tools import EDITING_TOOLS, PATH_KEYS
from amplifier_foundation.policy.mcp_tools import (
    MCP_COMMAND_KEYS,
    MCP_PATH_KEYS,
    is_mcp_reading,
    is_mcp_tool,
    list_mcp_commands,
    list_mcp_paths,
)
from amplifier_foundation.policy.paths import match_glob
from amplifier_foundation.policy.territory import Hit, Territory, iterate_texts_under

NAME = "hooks-production-guard"
Keys = str | list[str]
_MOST_FILES = 1_000
_LITERAL_DIRECTORY = re.compile(r"[\"']?([^$`{*?\[\\\"']*/)")
_WRITING_PROGRAMS = frozenset({"mkdir", "touch"})
_FOLDER_PROGRAMS = frozenset({"rm", "mv", "trash", "chmod", "chown", "find", "gfind", "rsync"})


def _list_editing_tools() -> dict[str, Keys]:
    return {tool: list(PATH_KEYS) for tool in sorted(EDITING_TOOLS)}


class UnreadableCommand(ValueError):
    """Not all parts of a command are known."""


class Config(GuardConfig):
    """The options of hooks-production-guard."""

    patterns: list[str] = Field(
        default_factory=lambda: ["production/**", "*.env", ".env.*"], min_length=1
    )
    tools: dict[str, Keys] = Field(default_factory=_list_editing_tools)
    shell: dict[str, str] = Field(default_factory=lambda: {"Bash": "command"})
    mcp_paths: list[str] = Field(default_factory=lambda: list(MCP_PATH_KEYS))
    mcp_commands: list[str] = Field(default_factory=lambda: list(MCP_COMMAND_KEYS))
    action: Literal["ask_user", "deny"] = "ask_user"

    @field_validator("patterns")
    @classmethod
    def _check_globs(cls, value: list[str]) -> list[str]:
        match_glob(Path("/"), value)
        return value


class ProductionGuard:
    """Stands before the tools that write."""

    def __init__(self, config: Config, territory: Territory, base: Path) -> None:
        self._config = config
        self._territory = territory
        self._base = base

    def on_tool(self, event: str, data: dict[str, Any]) -> Reply:
        tool = str(data.get("tool_name", ""))
        given = data.get("tool_input") or {}
        keys = look_up_tool(self._config.tools, tool)
        command_key = look_up_tool(self._config.shell, tool)
        if command_key is None and keys is None:
            return self._on_mcp_tool(tool, given)
        if command_key is None and _names_nothing(given, keys or []):
            return HookResult(action="continue")
        find = partial(self._find_hits, given, keys, command_key)
        return self._judge(tool, given, command_key, find)

    def _on_mcp_tool(self, tool: str, given: Any) -> Reply:
        """A tool of an MCP server that the options do not name; any other is let alone."""
        if not is_mcp_tool(tool):
            return HookResult(action="continue")
        try:
            keys = () if is_mcp_reading(tool) else self._config.mcp_paths
            paths = list(list_mcp_paths(given, keys))
            commands = list_mcp_commands(
                given, self._config.mcp_commands if self._config.shell else ()
            )
        except ValueError as wrong:
            return self._answer_unreadable(tool, wrong, _show_input(given, None))
        if not paths and not commands:
            return HookResult(action="continue")
        return self._judge(tool, given, None, partial(self._find_mcp_hits, paths, commands))

    async def _judge(
        self, tool: str, given: Any, command_key: str | None, find: Callable[[], list[Hit]]
    ) -> HookResult:
        try:
            hits = await asyncio.to_thread(find)
        except UnreadableCommand as wrong:
            return self._answer_unreadable(tool, wrong, _show_input(given, command_key))
        except ValueError as wrong:
            return HookResult(action="deny", reason=f"{tool}: {wrong}")
        if not hits:
            return HookResult(action="continue")
        return self._answer(tool, hits, _show_input(given, command_key))

    def _find_hits(self, given: Any, keys: Keys | None, command_key: str | None) -> list[Hit]:
        """Every guarded path of the call, each real path once, in the order they are written."""
        found = [self._territory.find_hit(path) for path in iterate_texts_under(given, keys or ())]
        if command_key is not None and (command := _find_command(given, command_key)):
            found += self._find_hits_in_command(command)
        return _list_once(found)

    def _find_mcp_hits(self, paths: list[str], commands: list[str]) -> list[Hit]:
        """The same for a tool of an MCP server, which nobody has described to us."""
        found = [self._territory.find_hit(path) for path in paths]
        for command in commands:
            found += self._find_hits_in_command(command)
        return _list_once(found)

    def _find_hits_in_command(self, command: str) -> Iterator[Hit | None]:
        try:
            commands = list_all_commands(command, NAME)
        except ValueError as wrong:
            raise UnreadableCommand(str(wrong)) from wrong
        start = Place(self._base, Path.home())
        bases = dict.fromkeys([self._base, *list_directories(commands, start).known])
        at, below = self._territory.find_hit, self._territory.find_hit_below
        for word, base in product(_find_written_words(commands), bases):
            yield from (_try_hit(at, path, base) for path in _find_paths(word, base))
        for word, base in product(_find_folder_words(commands), bases):
            yield from (_try_hit(below, path, base) for path in _find_paths(word, base))

    def _answer(self, tool: str, hits: list[Hit], shown: str) -> HookResult:
        where = shorten(", ".join(str(hit.resolved) for hit in hits))
        globs = ", ".join(repr(glob) for glob in dict.fromkeys(hit.pattern for hit in hits))
        guarded = f"{where} {'is' if len(hits) == 1 else 'are'} guarded by {globs}"
        if self._config.action == "deny":
            return HookResult(action="deny", reason=f"{guarded}; {tool} may not write there")
        return self._config.ask_user(self._word_question(tool, hits, shown), f"guarded by {globs}")

    def _answer_unreadable(self, tool: str, wrong: Exception, shown: str) -> HookResult:
        """A command that hides what it writes could write anywhere."""
        if self._config.action == "deny":
            return HookResult(action="deny", reason=f"{wrong}; it may write to a guarded path")
        question = f"Allow {tool} to run this? It may write to a guarded path: {wrong}.\n\n{shown}"
        return self._config.ask_user(question, "it may write to a guarded path")

    def _word_question(self, tool: str, hits: list[Hit], shown: str) -> str:
        """All guarded paths and the exact input: an approval covers what was read, nothing else."""
        listed = [self._format_hit(hit) for hit in hits]
        if len(hits) == 1:
            return f"Allow {tool} to write to the guarded path {listed[0]}?\n\n{shown}"
        paths = list_lines(listed)
        return f"Allow {tool} to write to these {len(hits)} guarded paths?\n\n{paths}\n\n{shown}"

    def _format_hit(self, hit: Hit) -> str:
        """Where it leads, and what was given if that does not show it."""
        where = shorten(str(hit.resolved))
        if Path(self._base, hit.given) == hit.resolved:
            return where
        return f"{where} (given as {shorten(hit.given)!r})"


def _try_hit(find: Callable[[str, Path], Hit | None], path: str, base: Path) -> Hit | None:
    """A word of a command need not be a path at all."""
    try:
        return find(path, base)
    except ValueError:
        return None


def _names_nothing(given: Any, keys: Keys) -> bool:
    """Whether a call has no path in it, so that no thread has to look where it leads."""
    try:
        return next(iterate_texts_under(given, keys), None) is None
    except ValueError:
        return False


def _list_once(found: Iterable[Hit | None]) -> list[Hit]:
    """Each real path once, in the order of the call."""
    hits: dict[Path, Hit] = {}
    for hit in found:
        if hit is not None:
            hits.setdefault(hit.resolved, hit)
    return list(hits.values())


def _find_command(given: Any, key: str) -> str | None:
    """The command of a call, if there is one; what cannot be read is an error, which denies."""
    value = given.get(key) if isinstance(given, dict) else given
    command = read_command(value) if isinstance(given, dict) else None
    if command is None and value is not None:
        raise ValueError(f"its input has no text under {key!r} that could be judged")
    return command


def _show_input(given: Any, command_key: str | None) -> str:
    """The command if the input is nothing else; otherwise the input, keys and all."""
    if command_key and isinstance(given, dict) and list(given) == [command_key]:
        return f"The command:\n\n{shorten(str(given[command_key]))}"
    return f"The input:\n\n{shorten(json.dumps(given, ensure_ascii=False, default=repr))}"


def _find_written_words(commands: Iterable[Command]) -> Iterator[Word]:
    """What a command may write to: its redirections, and all words unless it only looks."""
    for command in commands:
        yield from (redirect.target for redirect in command.redirects if redirect.writes)
        if not is_harmless(command) or command.name in _WRITING_PROGRAMS:
            yield from command.words


def _find_folder_words(commands: Iterable[Command]) -> Iterator[Word]:
    """What commands may remove, move or change as a whole, with all that is in it."""
    for command in commands:
        in_git = command.name == "git" and any(w.value in {"rm", "mv"} for w in command.arguments)
        if (in_git or command.name in _FOLDER_PROGRAMS) and not is_harmless(command):
            yield from command.words


def _find_paths(word: Word, base: Path) -> Iterator[str]:
    """The word, what stands behind its equals sign (`of=…`) and behind its letter (`-o…`)."""
    if word.value is None:
        # Of `production/$x` the directory is certain, whatever is in it.
        yield from (f"{found[1]}?" for found in [_LITERAL_DIRECTORY.match(word.raw)] if found)
        return
    if not word.is_flag:
        yield _expand_home(word)
    elif attached := word.value[2:]:
        yield attached
    if value := word.value.partition("=")[2]:
        yield value
    if word.glob:
        yield from _expand_glob(_expand_home(word), base)


def _expand_glob(pattern: str, base: Path) -> list[str]:
    """The files that a glob names now; too many to look at are an error, which denies."""
    # `Path.glob` takes no absolute pattern.
    found = list(islice(iglob(pattern, root_dir=base), _MOST_FILES + 1))  # noqa: PTH207
    if len(found) > _MOST_FILES:
        raise ValueError(f"{pattern!r} names over {_MOST_FILES} files, too many to be looked at")
    return found


def _expand_home(word: Word) -> str:
    value = word.value or ""
    in_home = word.tilde and (value == "~" or value.startswith("~/"))
    return f"{Path.home()}{value[1:]}" if in_home else value


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to guard."""
    settings = parse_config(Config, config, NAME)
    if settings.shell:
        ensure_available(NAME)
    base = get_base_dir(coordinator)
    guarding = ProductionGuard(settings, Territory(settings.patterns, base), base)
    return register_guards(
        coordinator,
        NAME,
        [(TOOL_PRE, guarding.on_tool)],
        priority=settings.priority,
        timeout=settings.timeout,
    )
