"""hooks-command-guard: check shell commands before they run; deny or ask about dangerous ones.

Listens to  tool:pre
Answers     deny, ask_user, or continue
Configure   profile, tools, command_keys, deny, ask, allow, off, unlisted, unclear, priority,
            timeout, approval_*

A seat belt, not a wall: it reads what a command says, not what the programs in it do.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, field_validator

from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_core.utils.text import suggest
from amplifier_hooks.guards import bash
from amplifier_hooks.guards.policy.profile import Profile
from amplifier_hooks.guards.policy.tool_calls import ARGUMENT_KEYS, COMMAND_KEYS, list_commands
from amplifier_hooks.guards.policy.unread_tools import offer_reader
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.registration import (
    GuardConfig,
    Reply,
    get_base_dir,
    look_up_tool,
    read_command,
    register_guards,
    shorten,
)

NAME = "hooks-command-guard"
_MOST_REASONS = 8


class Config(GuardConfig):
    """The options of hooks-command-guard."""

    tools: dict[str, str] = Field(default_factory=lambda: {"Bash": "command"}, min_length=1)
    command_keys: list[str] = Field(
        default_factory=lambda: list(COMMAND_KEYS),
        validation_alias=AliasChoices("command_keys", "mcp_commands"),  # as older bundles say
    )
    deny: list[str] = Field(default_factory=list)
    ask: list[str] = Field(default_factory=list)
    allow: list[str] = Field(default_factory=list)
    off: list[str] = Field(default_factory=list)
    profile: Profile | None = None
    unlisted: Literal["continue", "ask", "deny"] | None = None
    unclear: Literal["ask", "deny"] | None = None

    @field_validator("deny", "ask", "allow")
    @classmethod
    def _check_patterns(cls, value: list[str]) -> list[str]:
        for pattern in value:
            bash.CommandPattern.read(pattern)
        return value

    @field_validator("off")
    @classmethod
    def _find_known(cls, value: list[str]) -> list[str]:
        for rule in value:
            if rule not in bash.RULES:
                raise ValueError(f"there is no rule {rule!r}; {suggest(rule, bash.RULES)}")
        return value


def choose_profile(config: Config) -> Profile:
    """`calm`, unless the options say another, or say themselves what is unclear."""
    if config.profile is not None:
        return config.profile
    is_older = config.unlisted is not None or config.unclear is not None
    return "careful" if is_older else "calm"


class Judge:
    """Decides about the text of a command. Pure but for looking where symlinks lead."""

    def __init__(self, config: Config, workspace: bash.Workspace) -> None:
        profile = choose_profile(config)
        stands: Literal["ask", "deny"] = "deny" if profile == "strict" else "ask"
        self._calm = profile == "calm"
        self._strict = profile == "strict"
        self.unclear: Literal["ask", "deny"] = config.unclear or stands
        """What is done about what cannot be understood."""
        self._unlisted = config.unlisted or ("deny" if profile == "strict" else "continue")
        self._config = config
        self._off = frozenset(config.off)
        self._workspace = workspace

    # Read when the first command is judged, as all that reads commands is imported then.

    @cached_property
    def _listed(self) -> tuple[bash.ListedCommand, ...]:
        own = [*_list_own("deny", self._config.deny), *_list_own("ask", self._config.ask)]
        return (*own, *bash.LISTED)

    @cached_property
    def _allowed(self) -> tuple[bash.CommandPattern, ...]:
        return tuple(bash.CommandPattern.read(text) for text in self._config.allow)

    def find_all(self, source: str) -> list[bash.Finding]:
        """What speaks against it, denials first; an empty list lets it run."""
        script = bash.unwrap_command(source, NAME)
        found = [
            *self._find_known(script),
            *self._find_unclear(script, source),
            *self._find_unknown(script),
            *self._find_unlisted(script),
        ]
        return sorted(dict.fromkeys(found), key=lambda finding: finding.action != "deny")

    def _find_known(self, script: bash.Script) -> Iterator[bash.Finding]:
        for situation, finding in bash.find_dangers(
            script, self._workspace, self._listed, self._off
        ):
            if finding.action == "deny" or not self._is_left_out(situation, finding.rule):
                yield finding

    def _is_left_out(self, situation: bash.Situation, rule: str) -> bool:
        """Whether the configuration allows the command, or the profile needs no question."""
        return self._is_allowed(situation.command) or (
            self._calm and bash.is_settled(rule, situation)
        )

    def _is_allowed(self, command: bash.Command) -> bool:
        return any(pattern.permits(command) for pattern in self._allowed)

    def _find_unclear(self, script: bash.Script, source: str) -> Iterator[bash.Finding]:
        for reason in script.unclear:
            if not (self._calm and bash.is_harmless_doubt(reason, source)):
                yield bash.Finding(self.unclear, "unclear", reason, source)

    def _find_unknown(self, script: bash.Script) -> Iterator[bash.Finding]:
        for situation in bash.list_situations(script, self._workspace):
            command = situation.command
            if command.certain or command.program is None or bash.is_harmless(command):
                continue
            if _calls_function(command, script) or _is_unwrapped(command, script):
                continue
            if self._is_allowed(command) or (self._calm and bash.needs_no_words(situation)):
                continue
            reason = f"{command.name} gets words that only running it would tell"
            yield bash.Finding(self.unclear, "unclear-words", reason, command.text)

    def _find_unlisted(self, script: bash.Script) -> Iterator[bash.Finding]:
        if self._unlisted == "continue":
            return
        for command, reason in bash.find_unlisted(
            script, self._is_allowed, self._is_allowed_by_words
        ):
            yield bash.Finding(self._unlisted, "unlisted", reason, command.text)
        for situation in bash.list_situations(script, self._workspace) if self._strict else ():
            far = bash.find_read_elsewhere(situation)
            if far is not None and not self._is_allowed(situation.command):
                reason = f"{situation.command.name} reads {far.raw}, which is not in the project"
                yield bash.Finding(self._unlisted, "unlisted", reason, situation.command.text)

    def _is_allowed_by_words(self, command: bash.Command) -> bool:
        """By a pattern that names more than the program: `bash run.sh`, not `bash`."""
        return any(pattern.arguments and pattern.permits(command) for pattern in self._allowed)


def _calls_function(command: bash.Command, script: bash.Script) -> bool:
    """Whether it surely runs a function of the script, whose commands are judged in its place."""
    removed = {
        word.value for other in script.commands if other.name == "unset" for word in other.words
    }
    return command.calls_function and not removed & {command.program, None}


def _is_unwrapped(command: bash.Command, script: bash.Script) -> bool:
    """Whether the commands inside it were found, so that they are judged in its place."""
    inside = (*command.via, command.name)
    return any(other.via == inside for other in script.commands)


def _list_own(verdict: Literal["deny", "ask"], patterns: list[str]) -> Iterator[bash.ListedCommand]:
    for text in patterns:
        reason = f"it matches {text!r}, which the configuration has under {verdict!r}"
        yield bash.ListedCommand(verdict, f"own:{text}", bash.CommandPattern.read(text), reason)


class CommandGuard:
    """Stands before the tools that run shell commands."""

    def __init__(self, config: Config, judge: Judge) -> None:
        self._config = config
        self._judge = judge

    def on_tool(self, event: str, data: dict[str, Any]) -> Reply:
        tool = str(data.get("tool_name", ""))
        key = look_up_tool(self._config.tools, tool)
        if key is None:
            return self._judge_all(tool, data.get("tool_input"), self._config.command_keys)
        if not key:  # it has no command, whatever its keys are called
            return HookResult(action="continue")
        given = data.get("tool_input") or {}
        if read_command(given.get(key)) is None:
            reason = f"{tool} got no text under {key!r} that could be judged"
            return HookResult(action="deny", reason=reason)
        return self._judge_all(tool, given, [key, *self._config.command_keys])

    def _judge_all(self, tool: str, given: Any, keys: list[str]) -> Reply:
        """A call runs every command that its input has, with the arguments beside it."""
        try:
            commands = list_commands(given, list(dict.fromkeys(keys)), tool)
        except ValueError as wrong:
            finding = bash.Finding(self._judge.unclear, "unclear", f"{tool}: {wrong}", tool)
            return self._answer(json.dumps(given, ensure_ascii=False, default=repr), [finding])
        if not commands:
            return HookResult(action="continue")
        return self._judge_command("\n".join(commands))

    async def _judge_command(self, command: str) -> HookResult:
        found = await asyncio.to_thread(self._judge.find_all, command)
        return self._answer(command, found)

    def _answer(self, command: str, found: list[bash.Finding]) -> HookResult:
        if not found:
            return HookResult(action="continue")
        denied = [finding for finding in found if finding.action == "deny"]
        reasons = _format_findings(denied or found)
        if denied:
            return HookResult(action="deny", reason=f"The command is not allowed: {reasons}")
        prompt = f"Run this command?\n\n{shorten(command)}\n\nWhy you are asked: {reasons}"
        return self._config.ask_user(prompt, f"The command needs approval: {reasons}")


def _format_findings(found: list[bash.Finding]) -> str:
    shown = [f"{finding.reason} [{finding.rule}]" for finding in found[:_MOST_REASONS]]
    rest = len(found) - len(shown)
    return "; ".join([*shown, f"and {rest} more reasons"] if rest else shown)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to guard."""
    settings = parse_config(Config, config, NAME)
    bash.ensure_available(NAME)
    workspace = bash.Workspace(get_base_dir(coordinator), Path.home().resolve())
    guarding = CommandGuard(settings, Judge(settings, workspace))
    read = [*settings.command_keys, *ARGUMENT_KEYS]
    offer_reader(
        coordinator, NAME, read, lambda tool: look_up_tool(settings.tools, tool) is not None
    )
    return register_guards(
        coordinator,
        NAME,
        [(TOOL_PRE, guarding.on_tool)],
        priority=settings.priority,
        timeout=settings.timeout,
    )
