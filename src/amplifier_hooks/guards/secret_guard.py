"""hooks-secret-guard: keep what is in secret files, and what stores of credentials print, unread.

Listens to  tool:pre
Answers     deny or ask_user, or continue
Configure   mode, paths, allow, shell, path_keys, command_keys, priority, timeout, approval_*
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards import bash
from amplifier_hooks.guards.policy.paths import match_glob
from amplifier_hooks.guards.policy.secrets.files import (
    SecretFiles,
    describe_secret,
    is_certain,
)
from amplifier_hooks.guards.policy.tool_calls import (
    ARGUMENT_KEYS,
    COMMAND_KEYS,
    FILE_KEYS,
    TOOLS,
    is_reading,
    list_commands,
    list_paths,
)
from amplifier_hooks.guards.policy.unread_tools import offer_reader
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.registration import (
    GuardConfig,
    Reply,
    get_base_dir,
    list_lines,
    look_up_tool,
    register_guards,
    shorten,
)

NAME = "hooks-secret-guard"
Mode = Literal["hidden", "ask", "open"]
_SHOWING = frozenset({"Read", "Edit", "MultiEdit", "NotebookEdit"})
_SOURCE_KEYS = ("source", "src", "source_path", "old_path", "from")
_ADDRESS_KEYS = ("url", "uri", "href")


class Config(GuardConfig):
    """The options of hooks-secret-guard."""

    mode: Mode = "hidden"
    paths: list[str] = Field(default_factory=list)
    allow: list[str] = Field(default_factory=list)
    shell: dict[str, str] = Field(default_factory=lambda: {"Bash": "command"})
    path_keys: list[str] = Field(default_factory=lambda: list(FILE_KEYS))
    command_keys: list[str] = Field(default_factory=lambda: list(COMMAND_KEYS))

    @field_validator("paths", "allow")
    @classmethod
    def _check_globs(cls, value: list[str]) -> list[str]:
        match_glob(Path("/"), value)
        return value


class SecretGuard:
    """Stands before the tools that read, and before commands."""

    def __init__(self, config: Config, files: SecretFiles, base: Path) -> None:
        self._config = config
        self._files = files
        self._base = base

    def on_tool(self, event: str, data: dict[str, Any]) -> Reply:
        tool = str(data.get("tool_name", ""))
        given = data.get("tool_input") or {}
        try:
            commands = self._list_commands(tool, given)
        except ValueError:  # the command guard asks about a command that is no text
            commands = []
        paths = list(self._list_paths(tool, given))
        searches = tool == "Grep" and isinstance(given, Mapping)
        if not commands and not paths and not searches:
            return HookResult(action="continue")
        return asyncio.to_thread(self._judge, tool, given, paths, commands)

    def _list_commands(self, tool: str, given: Any) -> list[str]:
        key = look_up_tool(self._config.shell, tool)
        own = [key] if key else []
        keys = list(dict.fromkeys([*own, *self._config.command_keys]))
        return list_commands(given, keys, tool)

    def _list_paths(self, tool: str, given: Any) -> Iterator[str]:
        """The files that a call would show or copy; of those that only write, what they copy."""
        if tool in {"Grep", "Glob", "Bash"}:
            return
        if tool in _SHOWING or (tool not in TOOLS and is_reading(tool)):
            yield from list_paths(given, self._config.path_keys)
        elif tool not in TOOLS:
            yield from list_paths(given, _SOURCE_KEYS)
        yield from (
            path for path in list_paths(given, _ADDRESS_KEYS) if path.startswith("/")
        )  # fmt: skip

    def _judge(
        self, tool: str, given: Any, paths: Iterable[str], commands: Iterable[str]
    ) -> HookResult:
        reads = [*self._read_named(tool, paths), *self._read_searched(tool, given)]
        printed: list[str] = []
        doubts: list[str] = []
        for text in commands:
            try:
                known = bash.list_all_commands(text, NAME)
            except ValueError:  # too long or too deep, which the command guard says
                continue
            found = self._look_up(known)
            reads += [one for one in found.files if one.comes_out(NAME)]
            doubts += found.doubts
            for one in bash.find_printed(known):
                told = f"{shorten(one.command, 80)!r}"
                if one.sure:
                    printed.append(f"{told} prints {one.what}")
                else:
                    doubts.append(f"{told} prints {one.what}")
        return self._answer(tool, reads, printed, doubts)

    def _look_up(self, commands: Sequence[bash.Command]) -> bash.Reads:
        start = bash.Workspace(self._base, Path.home())
        bases = dict.fromkeys([self._base, *bash.list_directories(commands, start).known])
        return bash.look_up_reads(commands, list(bases), Path.home(), self._files)

    def _read_named(self, tool: str, paths: Iterable[str]) -> Iterator[bash.Read]:
        for path in paths:  # an edit shows what is around it, unless it makes the file
            try:
                hit = self._files.find_hit(path)
            except ValueError:  # what cannot be resolved cannot be read
                continue
            if hit is not None and (
                tool == "Read" or tool not in _SHOWING or hit.resolved.exists()
            ):
                yield bash.Read(hit.resolved, tool, path)

    def _read_searched(self, tool: str, given: Any) -> Iterator[bash.Read]:
        """What a search would show of the lines of a secret file, as `rg` would find them."""
        command = bash.build_search(given) if tool == "Grep" else None
        if command is None:
            return
        yield from (one for one in self._look_up([command]).files if one.comes_out(NAME))

    # Answers

    def _answer(
        self, tool: str, reads: list[bash.Read], printed: list[str], doubts: list[str]
    ) -> HookResult:
        sure = [one for one in reads if self._is_sure(one)]
        told = [*self._describe(sure), *printed]
        if told and self._config.mode == "hidden":
            return HookResult(action="deny", reason=self._word_denial(tool, told))
        told += self._describe([one for one in reads if not self._is_sure(one)])
        told += [f"it may read a secret: {one}" for one in dict.fromkeys(doubts)]
        if not told:
            return HookResult(action="continue")
        listed = list_lines(told)
        prompt = f"Allow {tool} to show secrets to the agent?\n\n{listed}"
        return self._config.ask_user(prompt, f"secrets: {shorten('; '.join(told), 300)}")

    def _is_sure(self, read: bash.Read) -> bool:
        hit = self._files.find_hit(str(read.path))
        return read.sure and (hit is None or is_certain(hit.pattern))

    def _describe(self, reads: Iterable[bash.Read]) -> list[str]:
        told: dict[str, None] = {}
        for read in reads:
            hit = self._files.find_hit(str(read.path))
            what = describe_secret(hit.pattern) if hit is not None else "a secret"
            verb = "reads" if self._is_sure(read) else "may read"
            told[f"it {verb} {self._name(read)}, which holds {what}"] = None
        return list(told)

    def _name(self, read: bash.Read) -> str:
        path = read.path
        shown = path.relative_to(self._base) if path.is_relative_to(self._base) else path
        where = f" (below {shorten(read.given, 60)!r})" if read.below else ""
        return f"{shorten(str(shown), 200)}{where}"

    def _word_denial(self, tool: str, told: list[str]) -> str:
        return (
            f"{tool} would show a secret: {shorten('; '.join(told), 600)}. Secrets stay unread "
            "here. Leave these files out, let a program use them without showing them (`. ./.env "
            "&& command`, `--env-file`), or ask the person, who can allow a file with `allow` "
            f"of {NAME} or say `secrets: ask` in the bundle"
        )


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to guard; with mode `open`, nothing is."""
    settings = parse_config(Config, config, NAME)
    if settings.mode == "open":
        return lambda: None
    bash.ensure_available(NAME)
    base = get_base_dir(coordinator)
    files = SecretFiles(base, settings.paths, settings.allow)
    keys = [*settings.path_keys, *settings.command_keys, *ARGUMENT_KEYS]
    offer_reader(
        coordinator, NAME, keys, lambda tool: look_up_tool(settings.shell, tool) is not None
    )
    return register_guards(
        coordinator,
        NAME,
        [(TOOL_PRE, SecretGuard(settings, files, base).on_tool)],
        priority=settings.priority,
        timeout=settings.timeout,
    )
