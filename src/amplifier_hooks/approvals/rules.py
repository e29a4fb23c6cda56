"""Deciding by a file of rules, of which the first that matches counts.

What grants is matched strictly and what restricts widely: one command of a script, or one path of
a call, is enough to deny it, and not enough to allow it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from amplifier_core.approval import AnyApprovalSystem, ApprovalQuestion
from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import TOOL_PRE
from amplifier_hooks.approvals.policy import PolicyApproval, Ruling
from amplifier_hooks.guards.bash import Workspace, unwrap_command
from amplifier_hooks.guards.command_guard import Config, Judge
from amplifier_hooks.guards.policy.paths import match_glob, resolve
from amplifier_hooks.guards.policy.patterns import Pattern, PatternError, compile_pattern
from amplifier_hooks.guards.policy.tool_calls import is_mcp_tool, list_commands
from amplifier_hooks.guards.rules.matching import (
    Condition,
    ConditionError,
    EventView,
    Matcher,
    Unclear,
)
from amplifier_hooks.guards.rules.rule import CONDITIONS, Match, as_list
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.registration import read_command
from amplifier_hooks.yaml_files.node import find_broken, raise_problems, to_plain
from amplifier_hooks.yaml_files.reader import read_file

Test = Callable[[EventView], bool]

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
            self._tests.append(lambda view: condition.holds(view.event, view.data))

    def holds(self, view: EventView) -> bool:
        """Whether every test covers the call."""
        return all(test(view) for test in self._tests)


class _CommandGrant:
    """Commands that the patterns name, or that only look, and nothing else beside them."""

    def __init__(self, patterns: list[str], base: Path) -> None:
        settings = Config(allow=patterns, unlisted="deny", unclear="deny")
        self._judge = Judge(settings, Workspace(base, Path.home().resolve()))

    def __call__(self, view: EventView) -> bool:
        command = _find_command(view)
        if command is None or not command.strip():
            return False
        return not self._judge.find_all(command) and not _writes_files(command)


def _find_command(view: EventView) -> str | None:
    given = view.data.get("tool_input")
    if not isinstance(given, dict):
        return None
    if not is_mcp_tool(view.tool) and read_command(given.get("command")) is None:
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

    def __call__(self, view: EventView) -> bool:
        return bool(view.paths) and all(map(self._covers, view.paths))

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

    def __call__(self, view: EventView) -> bool:
        value = view.look_up(self._field)
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


NAMED_ONLY = frozenset({"hooks-redaction", "tool-bash"})
"""Hooks that ask about secrets or a wider sandbox, which no condition names: `hook` has to."""


class ApprovalRule(Match):
    """A rule as it is written, validated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    description: str | None = None
    event: str | list[str] = TOOL_PRE
    hook: str | list[str] | None = None
    unless: Match | None = None
    decision: Literal["allow", "deny", "ask"]
    reason: str | None = None

    @model_validator(mode="after")
    def _check_conditions(self) -> ApprovalRule:
        if self.decision == "allow" and all(getattr(self, key) is None for key in CONDITIONS):
            known = ", ".join(CONDITIONS)
            raise ValueError(f"a rule that allows needs a condition: one of {known}")
        return self


@dataclass(frozen=True, slots=True)
class LoadedRule:
    """A rule with its compiled tests."""

    rule: ApprovalRule
    matches: Test
    excepts: Test

    def applies_to(self, question: ApprovalQuestion, base: Path) -> bool:
        """Whether it decides; where that cannot be told, it does unless it allows."""
        rule = self.rule
        if not _fits(rule.event, question.event) or not _fits(rule.hook, question.hook):
            return False
        if not _fits(rule.tool, question.tool_name or ""):
            return False
        allows = rule.decision == "allow"
        if allows and rule.hook is None and question.hook in NAMED_ONLY:
            return False
        view = _describe(question, base)
        if not _try(self.matches, view, doubt=not allows):
            return False
        return not _try(self.excepts, view, doubt=allows)


def _refuse_origin(match: Match | None, owner: str) -> None:
    if match is None or match.when is None:
        return
    if Condition(match.when, owner).asks_for_origins:
        raise ValueError("'origin' is known where hooks judge (hooks-rules), not to this file")


def load_rule(rule: ApprovalRule, base: Path, owner: str) -> LoadedRule:
    """Compile a rule; what is wrong with it is a ModuleLoadError that names it."""
    allows = rule.decision == "allow"
    try:
        for match in (rule, rule.unless):
            _refuse_origin(match, owner)
        matches = _make_test(rule, base, owner, strict=allows)
        excepts = _make_exception(rule.unless, base, owner, strict=not allows)
    except (PatternError, ConditionError, ValueError) as wrong:
        raise ModuleLoadError(f"{owner}: {wrong}") from None
    return LoadedRule(rule, matches, excepts)


def _make_test(match: Match, base: Path, owner: str, *, strict: bool) -> Test:
    return Grant(match, base, owner).holds if strict else Matcher(match, base, owner).holds


def _make_exception(match: Match | None, base: Path, owner: str, *, strict: bool) -> Test:
    if match is None:
        return lambda view: False
    test = _make_test(match, base, owner, strict=strict)
    return lambda view: _fits(match.tool, view.tool) and test(view)


def _try(test: Test, view: EventView, *, doubt: bool) -> bool:
    """The test's answer, or `doubt` where it has none."""
    try:
        return test(view)
    except (Unclear, ConditionError, ValueError):
        return doubt


def _fits(globs: str | list[str] | None, name: str) -> bool:
    listed: Iterable[str] = as_list(globs)
    return globs is None or any(glob == name or fnmatchcase(name, glob) for glob in listed)


def _describe(question: ApprovalQuestion, base: Path) -> EventView:
    data: dict[str, Any] = {
        "tool_name": question.tool_name,
        "tool_input": question.tool_input,
        "hook": question.hook,
        "prompt": question.prompt,
        "reason": question.reason,
    }
    return EventView(question.event, data, base)


OTHERWISE = "otherwise"


class RulesFile(BaseModel):
    """What an approval file may say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: list[dict[str, Any]] = Field(min_length=1)
    otherwise: Literal["deny", "ask"] = "ask"


class RulesApproval(PolicyApproval):
    """Answers by the rules of a file, which is read once; relative paths count from `folder`."""

    def __init__(
        self, file: Path, folder: Path, otherwise: AnyApprovalSystem | None = None
    ) -> None:
        super().__init__(otherwise)
        self.governing_files = (file.absolute(),)
        self._base = folder.resolve()
        self._rules, self._otherwise_verdict = _read(file, self._base)

    def judge(self, question: ApprovalQuestion) -> Ruling:
        """What the first rule says that the question fits."""
        for loaded in self._rules:
            if loaded.applies_to(question, self._base):
                rule = loaded.rule
                return Ruling(rule.decision, rule.name, rule.reason or "")
        return Ruling(self._otherwise_verdict, OTHERWISE, "no rule allows this without a person")


def _read(file: Path, base: Path) -> tuple[list[LoadedRule], Literal["deny", "ask"]]:
    """All rules or none: what is wrong with one is an error that names it."""
    node = read_file(file, {}, set())
    raise_problems(find_broken(node))
    content = to_plain(node)
    owner = f"the approval rules in {file}"
    given = parse_config(RulesFile, content if isinstance(content, dict) else {}, owner)
    rules = [_parse(entry, number, owner) for number, entry in enumerate(given.rules, 1)]
    names = [rule.name for rule in rules]
    doubled = [name for name in names if names.count(name) > 1 or name == OTHERWISE]
    if doubled:
        raise ModuleLoadError(f"{owner}: the name {doubled[0]!r} is taken; rename the rule")
    loaded = [load_rule(rule, base, f"{owner}: rule {rule.name!r}") for rule in rules]
    return loaded, given.otherwise


def _parse(entry: dict[str, Any], number: int, owner: str) -> ApprovalRule:
    name = entry.get("name")
    return parse_config(ApprovalRule, entry, f"{owner}: rule {name or number!r}")
