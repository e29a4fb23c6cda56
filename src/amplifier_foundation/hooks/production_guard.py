"""hooks-production-guard: ask a person before anything writes to production.

Listens to  tool:pre
Answers     ask_user or deny, or continue
Configure   patterns, tools, shell, action, priority, timeout, approval_*
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Cleanup
from amplifier_core.models import HookResult
from amplifier_foundation.bash import Word, ensure_available, is_harmless, unwrap_command
from amplifier_foundation.modules.guarding import GuardConfig, Reply, base_dir, guard, shown
from amplifier_foundation.modules.options import parse_config
from amplifier_foundation.policy.paths import matches
from amplifier_foundation.policy.territory import Hit, Territory, texts_under

NAME = "hooks-production-guard"

_WRITING_TOOLS = ("Write", "Edit", "MultiEdit", "NotebookEdit")
_WRITING_PROGRAMS = frozenset({"mkdir", "touch"})
_PATH_KEYS = ("file_path", "path", "notebook_path")


def _default_tools() -> dict[str, str | list[str]]:
    return {tool: list(_PATH_KEYS) for tool in _WRITING_TOOLS}


class Config(GuardConfig):
    """The options of hooks-production-guard."""

    patterns: list[str] = Field(
        default_factory=lambda: ["production/**", "*.env", ".env.*"], min_length=1
    )
    tools: dict[str, str | list[str]] = Field(default_factory=_default_tools)
    shell: dict[str, str] = Field(default_factory=lambda: {"Bash": "command"})
    action: Literal["ask_user", "deny"] = "ask_user"

    @field_validator("patterns")
    @classmethod
    def _usable(cls, value: list[str]) -> list[str]:
        matches(Path("/"), value)
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
        keys = _for_tool(self._config.tools, tool)
        command_key = _for_tool(self._config.shell, tool)
        if keys is None and command_key is None:
            return HookResult(action="continue")
        return self._judged(tool, given, keys, command_key)

    async def _judged(self, tool: str, given: Any, keys: Any, command_key: Any) -> HookResult:
        try:
            hit = await asyncio.to_thread(self._first_hit, given, keys, command_key)
        except ValueError as wrong:
            return HookResult(action="deny", reason=f"{tool}: {wrong}")
        return HookResult(action="continue") if hit is None else self._answer(tool, hit)

    def _first_hit(self, given: Any, keys: Any, command_key: Any) -> Hit | None:
        for path in texts_under(given, keys or ()):
            if hit := self._territory.hit(path):
                return hit
        command = given.get(command_key) if command_key else None
        return self._hit_of_command(command) if isinstance(command, str) else None

    def _hit_of_command(self, command: str) -> Hit | None:
        script = unwrap_command(command, NAME)
        bases = [self._base, *_directories(script.commands, self._base)]
        written = (path for word in _written_words(script.commands) for path in _paths(word))
        for path in written:
            for base in bases:
                if hit := self._hit_or_none(path, base):
                    return hit
        return None

    def _hit_or_none(self, path: str, base: Path) -> Hit | None:
        """A word of a command need not be a path at all."""
        try:
            return self._territory.hit(path, base)
        except ValueError:
            return None

    def _answer(self, tool: str, hit: Hit) -> HookResult:
        where = shown(str(hit.resolved))
        given = "" if hit.given == str(hit.resolved) else f" (given as {shown(hit.given)!r})"
        prompt = f"Allow {tool} to write to the guarded path {where}{given}?"
        reason = f"{where} is guarded by {hit.pattern!r}; a write to it needs explicit approval"
        if self._config.action == "deny":
            reason = f"{where} is guarded by {hit.pattern!r}; {tool} may not write to it"
        return self._config.answer(self._config.action, prompt, reason)


def _for_tool(table: dict[str, Any], tool: str) -> Any:
    return next((keys for glob, keys in table.items() if fnmatchcase(tool, glob)), None)


def _directories(commands: Iterable[Any], base: Path) -> Iterator[Path]:
    for command in commands:
        if command.name in {"cd", "pushd"} and command.arguments and command.arguments[0].value:
            yield base / _expanded(command.arguments[0])


def _written_words(commands: Iterable[Any]) -> Iterator[Word]:
    """What a command may write to: its redirections, and all words unless it only looks."""
    for command in commands:
        yield from (r.target for r in command.redirects if r.writes and r.target.value)
        if not is_harmless(command) or command.name in _WRITING_PROGRAMS:
            yield from (word for word in command.words if word.value)


def _paths(word: Word) -> Iterator[str]:
    """The word, and what stands behind its equals sign: `of=…`, `--output=…`."""
    if not word.is_flag:
        yield _expanded(word)
    if value := (word.value or "").partition("=")[2]:
        yield value


def _expanded(word: Word) -> str:
    value = word.value or ""
    if word.tilde and (value == "~" or value.startswith("~/")):
        return str(Path.home()) + value[1:]
    return value


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to guard."""
    settings = parse_config(Config, config, NAME)
    if settings.shell:
        ensure_available(NAME)
    base = base_dir(coordinator)
    guarding = ProductionGuard(settings, Territory(settings.patterns, base), base)
    return guard(coordinator, NAME, settings, [(TOOL_PRE, guarding.on_tool)])
