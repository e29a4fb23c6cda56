"""Whether all of a call is covered by a match that allows it; what is not sure is not covered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from amplifier_hooks.guards.bash import Workspace, unwrap_command
from amplifier_hooks.guards.command_guard import Config, Judge
from amplifier_hooks.guards.policy.paths import match_glob, resolve
from amplifier_hooks.guards.policy.patterns import Pattern, compile_pattern
from amplifier_hooks.guards.policy.tool_inputs import is_mcp_tool, list_commands
from amplifier_hooks.guards.rules.condition import Condition
from amplifier_hooks.guards.rules.occasion import Occasion
from amplifier_hooks.guards.rules.rule import Match, as_list
from amplifier_hooks.modules.guarding import read_command

Test = Callable[[Occasion], bool]

OWNER = "approval rules"
COMMAND_FIELD = "tool_input.command"


class Grant:
    """The tests of a match beside its tool: every command, every path, the whole of a text."""

    def __init__(self, match: Match, base: Path, owner: str) -> None:
        self._tests: list[Test] = []
        if match.command is not None:
            self._tests.append(_CommandGrant(_read_patterns(match), base))
        if match.path is not None:
            self._tests.append(_PathGrant(as_list(match.path), base))
        if match.regex is not None:
            self._tests += _read_expressions(match, owner)
        if match.when is not None:
            condition = Condition(match.when, owner)
            self._tests.append(lambda occasion: condition.holds(occasion.event, occasion.data))

    def holds(self, occasion: Occasion) -> bool:
        """Whether every test covers the call."""
        return all(test(occasion) for test in self._tests)


class _CommandGrant:
    """Commands that the patterns name, or that only look, and nothing else beside them."""

    def __init__(self, patterns: list[str], base: Path) -> None:
        settings = Config(allow=patterns, unlisted="deny", unclear="deny")
        self._judge = Judge(settings, Workspace(base, Path.home().resolve()))

    def __call__(self, occasion: Occasion) -> bool:
        command = _find_command(occasion)
        if command is None or not command.strip():
            return False
        return not self._judge.find_all(command) and not _writes_files(command)


def _find_command(occasion: Occasion) -> str | None:
    given = occasion.data.get("tool_input")
    if not isinstance(given, dict):
        return None
    if not is_mcp_tool(occasion.tool) and read_command(given.get("command")) is None:
        return None  # what others call a script need not be one of a shell
    return "\n".join(list_commands(given))  # its arguments may stand beside it


def _writes_files(command: str) -> bool:
    """Whether a redirection writes to anything but another stream or nowhere."""
    redirects = (one for part in unwrap_command(command, OWNER).commands for one in part.redirects)
    return any(
        one.writes
        and one.target.value != "/dev/null"
        and not (one.operator == ">&" and str(one.target.value).isdecimal())
        for one in redirects
    )


class _PathGrant:
    """Paths below the folder; elsewhere only those that a pattern names from the root."""

    def __init__(self, patterns: list[str], base: Path) -> None:
        match_glob(Path("/"), patterns)  # a glob that cannot be used is an error now
        self._absolute = [one for one in patterns if one.startswith(("/", "~/"))]
        self._relative = [one for one in patterns if one not in self._absolute]
        self._base = base

    def __call__(self, occasion: Occasion) -> bool:
        return bool(occasion.paths) and all(map(self._covers, occasion.paths))

    def _covers(self, given: str) -> bool:
        real = resolve(given, self._base)
        if match_glob(real, self._absolute):
            return True
        inside = real.is_relative_to(self._base)
        return inside and bool(match_glob("/" / real.relative_to(self._base), self._relative))


class _FieldGrant:
    def __init__(self, field: str, pattern: Pattern) -> None:
        self._field = field
        self._pattern = pattern

    def __call__(self, occasion: Occasion) -> bool:
        value = occasion.look_up(self._field)
        return isinstance(value, str) and self._pattern.occurs_in(value)


def _read_patterns(match: Match) -> list[str]:
    entries = match.command if isinstance(match.command, list) else [match.command]
    texts = [one for one in entries if isinstance(one, str)]
    if len(texts) < len(entries):
        raise ValueError("to allow a command, write it as a text such as 'git status'")
    return texts


def _read_expressions(match: Match, owner: str) -> list[Test]:
    fields = match.regex if isinstance(match.regex, dict) else {}
    if not fields:
        raise ValueError("to allow by 'regex', name the field: regex: {tool_input.url: '…'}")
    if COMMAND_FIELD in fields:
        raise ValueError("to allow commands use 'command', which reads them as a shell does")
    return [
        _FieldGrant(field, compile_pattern(rf"\A(?:{text})\z", owner))
        for field, text in fields.items()
    ]
