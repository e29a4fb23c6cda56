"""hooks-production-guard: ask a person before anything writes to production.

Listens to  tool:pre
Answers     ask_user or deny, or continue
Configure   patterns, tools, shell, action, priority, timeout, approval_*
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, field_validator

from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_foundation.bash import Command, Word, ensure_available, is_harmless, unwrap_command
from amplifier_foundation.modules.guarding import (
    GuardConfig,
    Reply,
    get_base_dir,
    register_guards,
    shorten,
)
from amplifier_foundation.modules.options import parse_config
from amplifier_foundation.policy.editing_tools import EDITING_TOOLS, PATH_KEYS
from amplifier_foundation.policy.paths import match_glob
from amplifier_foundation.policy.territory import Hit, Territory, iterate_texts_under

NAME = "hooks-production-guard"
Keys = str | list[str]
T = TypeVar("T")
_WRITING_PROGRAMS = frozenset({"mkdir", "touch"})


def _list_editing_tools() -> dict[str, Keys]:
    return {tool: list(PATH_KEYS) for tool in sorted(EDITING_TOOLS)}


class Config(GuardConfig):
    """The options of hooks-production-guard."""

    patterns: list[str] = Field(
        default_factory=lambda: ["production/**", "*.env", ".env.*"], min_length=1
    )
    tools: dict[str, Keys] = Field(default_factory=_list_editing_tools)
    shell: dict[str, str] = Field(default_factory=lambda: {"Bash": "command"})
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
        keys = _look_up_tool(self._config.tools, tool)
        command_key = _look_up_tool(self._config.shell, tool)
        if keys is None and command_key is None:
            return HookResult(action="continue")
        return self._judge(tool, given, keys, command_key)

    async def _judge(
        self, tool: str, given: Any, keys: Keys | None, command_key: str | None
    ) -> HookResult:
        try:
            hit = await asyncio.to_thread(self._find_hit, given, keys, command_key)
        except ValueError as wrong:
            return HookResult(action="deny", reason=f"{tool}: {wrong}")
        return HookResult(action="continue") if hit is None else self._answer(tool, hit)

    def _find_hit(self, given: Any, keys: Keys | None, command_key: str | None) -> Hit | None:
        for path in iterate_texts_under(given, keys or ()):
            if hit := self._territory.find_hit(path):
                return hit
        command = given.get(command_key) if command_key and isinstance(given, dict) else None
        return self._find_hit_in_command(command) if isinstance(command, str) else None

    def _find_hit_in_command(self, command: str) -> Hit | None:
        script = unwrap_command(command, NAME)
        bases = [self._base, *_find_directories(script.commands, self._base)]
        written = (
            path for word in _find_written_words(script.commands) for path in _find_paths(word)
        )
        for path in written:
            for base in bases:
                if hit := self._try_hit(path, base):
                    return hit
        return None

    def _try_hit(self, path: str, base: Path) -> Hit | None:
        """A word of a command need not be a path at all."""
        try:
            return self._territory.find_hit(path, base)
        except ValueError:
            return None

    def _answer(self, tool: str, hit: Hit) -> HookResult:
        where = shorten(str(hit.resolved))
        given = "" if hit.given == str(hit.resolved) else f" (given as {shorten(hit.given)!r})"
        prompt = f"Allow {tool} to write to the guarded path {where}{given}?"
        reason = f"{where} is guarded by {hit.pattern!r}; a write to it needs explicit approval"
        if self._config.action == "deny":
            reason = f"{where} is guarded by {hit.pattern!r}; {tool} may not write to it"
        return self._config.ask_or_deny(self._config.action, prompt, reason)


def _look_up_tool(table: Mapping[str, T], tool: str) -> T | None:
    return next((keys for glob, keys in table.items() if fnmatchcase(tool, glob)), None)


def _find_directories(commands: Iterable[Command], base: Path) -> Iterator[Path]:
    for command in commands:
        if command.name in {"cd", "pushd"} and command.arguments and command.arguments[0].value:
            yield base / _expand_home(command.arguments[0])


def _find_written_words(commands: Iterable[Command]) -> Iterator[Word]:
    """What a command may write to: its redirections, and all words unless it only looks."""
    for command in commands:
        yield from (r.target for r in command.redirects if r.writes and r.target.value)
        if not is_harmless(command) or command.name in _WRITING_PROGRAMS:
            yield from (word for word in command.words if word.value)


def _find_paths(word: Word) -> Iterator[str]:
    """The word, and what stands behind its equals sign: `of=…`, `--output=…`."""
    if not word.is_flag:
        yield _expand_home(word)
    if value := (word.value or "").partition("=")[2]:
        yield value


def _expand_home(word: Word) -> str:
    value = word.value or ""
    if word.tilde and (value == "~" or value.startswith("~/")):
        return str(Path.home()) + value[1:]
    return value


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
