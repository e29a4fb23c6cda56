"""All rules of a session, found by event and tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import TOOL_PRE, canonical
from amplifier_hooks.guards.policy.patterns import PatternError
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS, TOOLS
from amplifier_hooks.guards.rules.condition import ConditionError
from amplifier_hooks.guards.rules.matcher import Matcher, Unclear
from amplifier_hooks.guards.rules.occasion import Occasion
from amplifier_hooks.guards.rules.rule import Rule, as_list
from amplifier_hooks.modules.tool_table import fits_glob

_MOST_REMEMBERED = 1_024


@dataclass(frozen=True, slots=True)
class LoadedRule:
    """A rule with its compiled matchers."""

    rule: Rule
    events: tuple[str, ...]
    tools: tuple[str, ...]
    matcher: Matcher
    unless: Matcher | None
    unless_tools: tuple[str, ...]

    @property
    def looks_at_files(self) -> bool:
        """Whether the match or its exception is about paths, which are looked up on the disk."""
        return any(one.looks_at_files for one in (self.matcher, self.unless) if one is not None)

    @property
    def judges_calls(self) -> bool:
        """Whether it can stop a tool call."""
        return self.rule.enabled and self.rule.guards and _matches_any(self.events, TOOL_PRE)

    def describes(self, tool: str) -> bool:
        """Whether it judges this tool by its name, or whatever its input has in it."""
        by_keys = self.rule.path is not None or self.rule.command is not None
        return self._fits_name(tool) if self.tools else not by_keys

    def listens_to(self, event: str, tool: str) -> bool:
        """Whether event and tool are among the rule's."""
        return _matches_any(self.events, event) and (not self.tools or self._names(tool))

    def _names(self, tool: str) -> bool:
        """A rule that stops calls also stops those of `bash` and `shell`, if it names `Bash`."""
        if not self.rule.guards:
            return _matches_any(self.tools, tool)
        return self._fits_name(tool) or (tool not in TOOLS and bool(_find_kinds(self.tools)))

    def _fits_name(self, tool: str) -> bool:
        same = ("Edit", tool) if tool in EDITING_TOOLS - {"Write"} else (tool,)
        return any(fits_glob(name, glob) for glob in self.tools for name in same)

    def _is_meant(self, occasion: Occasion) -> bool:
        """Whether the tool has a name of the rule's, or does what one of ours does."""
        if not self.tools or not self.rule.guards or self._fits_name(occasion.tool):
            return True
        kinds = _find_kinds(self.tools)
        return ("run" in kinds and occasion.runs) or ("change" in kinds and occasion.changes)

    def applies_to(self, occasion: Occasion) -> bool:
        """Whether the rest of the match holds, too."""
        if not self._is_meant(occasion):
            return False
        return self.matcher.holds(occasion) and not self._is_excepted(occasion)

    def _is_excepted(self, occasion: Occasion) -> bool:
        """An exception that cannot be told to hold is none."""
        if self.unless is None:
            return False
        if self.unless_tools and not _matches_any(self.unless_tools, occasion.tool):
            return False
        try:
            return self.unless.holds(occasion)
        except Unclear:
            return False


def _find_kinds(tools: Iterable[str]) -> set[str]:
    """What the tools of ours do that a rule names: `shell` of a framework is its `Bash`."""
    kinds = {"bash": "run", "write": "change", "edit": "change"}
    return {kinds[name] for name in map(str.casefold, tools) if name in kinds}


def load_rule(rule: Rule, base: Path, owner: str) -> LoadedRule:
    """Compile a rule; what is wrong with it is a ModuleLoadError naming rule and key."""
    return LoadedRule(
        rule,
        tuple(canonical(event) for event in as_list(rule.event)),
        tuple(as_list(rule.tool)),
        _make_matcher(rule, base, owner, ""),
        _make_matcher(rule, base, owner, "unless.") if rule.unless else None,
        tuple(as_list(rule.unless.tool)) if rule.unless else (),
    )


def _make_matcher(rule: Rule, base: Path, owner: str, prefix: str) -> Matcher:
    try:
        if prefix and rule.unless:
            return Matcher(rule.unless, base, owner, excepted_from=rule)
        return Matcher(rule, base, owner)
    except PatternError as wrong:
        key, reason = f"{prefix}regex", str(wrong)
    except ConditionError as wrong:
        key, reason = f"{prefix}when", str(wrong)
    except ValueError as wrong:
        key, reason = f"{prefix}path", str(wrong)
    raise ModuleLoadError(f"{owner}: option {key!r}: {reason}")


class RuleSet:
    """Rules of one action. Which of them listen to an event and tool is worked out once."""

    def __init__(self, rules: Iterable[LoadedRule]) -> None:
        self._rules = tuple(rules)
        self._remembered: dict[tuple[str, str], tuple[LoadedRule, ...]] = {}

    def __iter__(self) -> Iterator[LoadedRule]:
        return iter(self._rules)

    def find_rules(self, event: str, tool: str) -> tuple[LoadedRule, ...]:
        """The rules that listen, in the order they are written."""
        key = (event, tool)
        found = self._remembered.get(key)
        if found is None:
            name = canonical(event)
            found = tuple(rule for rule in self._rules if rule.listens_to(name, tool))
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = found
        return found


def _matches_any(globs: Iterable[str], name: str) -> bool:
    return any(glob == name or fnmatchcase(name, glob) for glob in globs)
