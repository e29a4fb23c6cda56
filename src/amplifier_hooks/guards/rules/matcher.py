"""Whether a rule's match holds for an occasion; what cannot be told is an `Unclear`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from amplifier_hooks.guards.bash import (
    Command,
    CommandPattern,
    Script,
    ensure_available,
    find_script_run,
    is_harmless,
)
from amplifier_hooks.guards.policy.guarded_paths import GuardedPaths
from amplifier_hooks.guards.policy.patterns import Pattern, compile_pattern
from amplifier_hooks.guards.rules.condition import Condition
from amplifier_hooks.guards.rules.occasion import Occasion
from amplifier_hooks.guards.rules.rule import Match, as_list, read_command_patterns

Test = Callable[[Occasion], bool]


class Unclear(ValueError):
    """The event does not tell whether the rule applies."""


class Matcher:
    """The tests of a match beside its tool, cheapest first."""

    def __init__(
        self, match: Match, base: Path, owner: str, excepted_from: Match | None = None
    ) -> None:
        """`excepted_from` is what the match is an exception from, if it is one."""
        self._tests: list[Test] = []
        self.looks_at_files = match.path is not None
        if match.regex is not None:
            self._tests += _make_regex_tests(match.regex, owner)
        if match.command is not None:
            ensure_available(owner)
            self._tests.append(_make_command_test(match, excepted_from))
        if match.path is not None:
            self._tests.append(_make_path_test(match.path, base, excepted_from))
        if match.when is not None:
            condition = Condition(match.when, owner)
            self._tests.append(lambda occasion: condition.holds(occasion.event, occasion.data))

    def holds(self, occasion: Occasion) -> bool:
        """Whether every test holds. A clear no beats an unclear part."""
        unclear: Unclear | None = None
        for test in self._tests:
            try:
                if not test(occasion):
                    return False
            except Unclear as doubt:
                unclear = unclear or doubt
        if unclear:
            raise unclear
        return True


class _PathTest:
    def __init__(self, guarded: GuardedPaths) -> None:
        self._guarded = guarded

    def __call__(self, occasion: Occasion) -> bool:
        for given in occasion.paths:
            if hit := self._guarded.find_hit(given):
                occasion.notes["path"] = str(hit.resolved)
                return True
        return False


class _ExceptedPathTest:
    """One path that is excepted does not except those beside it."""

    def __init__(self, guarded: GuardedPaths, judged: GuardedPaths | None) -> None:
        self._guarded = guarded
        self._judged = judged

    def __call__(self, occasion: Occasion) -> bool:
        paths = [
            one for one in occasion.paths if self._judged is None or self._judged.find_hit(one)
        ]
        return bool(paths) and all(self._guarded.find_hit(one) for one in paths)


def _make_path_test(path: str | list[str], base: Path, excepted_from: Match | None) -> Test:
    guarded = GuardedPaths(as_list(path), base)
    if excepted_from is None:
        return _PathTest(guarded)
    judged = excepted_from.path
    return _ExceptedPathTest(
        guarded, None if judged is None else GuardedPaths(as_list(judged), base)
    )


class _CommandTest:
    def __init__(self, patterns: tuple[CommandPattern, ...]) -> None:
        self._patterns = patterns

    def __call__(self, occasion: Occasion) -> bool:
        for script in _read_scripts(occasion):
            for command in script.commands:
                if any(pattern.matches(command) for pattern in self._patterns):
                    occasion.notes["program"] = command.name or ""
                    return True
        self._refuse_to_guess(occasion)
        return False

    def _refuse_to_guess(self, occasion: Occasion) -> None:
        for script in occasion.scripts:
            if script.unclear:
                raise Unclear(script.unclear[0])
            for command in script.commands:
                if self._could_be(command):
                    raise Unclear(f"only running it would tell what {command.text!r} is")

    def _could_be(self, command: Command) -> bool:
        """Whether running it might show that the rule is about it."""
        if command.program is None:
            return True
        script = find_script_run(command)
        names = (command.name, None if script is None else script.name)
        named = any(pattern.matches_name(name) for pattern in self._patterns for name in names)
        return named and not command.certain


class _ExceptedCommandTest:
    """One command that is excepted does not except those beside it, but for what only looks."""

    def __init__(
        self, patterns: tuple[CommandPattern, ...], judged: tuple[CommandPattern, ...]
    ) -> None:
        self._patterns = patterns
        self._judged = judged

    def __call__(self, occasion: Occasion) -> bool:
        commands = _list_clear_commands(occasion)
        excepted = list(filter(self._is_excepted, commands))
        return bool(excepted) and not any(
            self._is_judged(one) for one in commands if one not in excepted
        )

    def _is_excepted(self, command: Command) -> bool:
        return any(pattern.covers(command) for pattern in self._patterns)

    def _is_judged(self, command: Command) -> bool:
        if self._judged:
            return any(pattern.matches(command) for pattern in self._judged)
        return not is_harmless(command)


def _list_clear_commands(occasion: Occasion) -> list[Command]:
    """All commands; Unclear if there may be more of them."""
    scripts = _read_scripts(occasion)
    for script in scripts:
        if script.unclear:
            raise Unclear(script.unclear[0])
    return [command for script in scripts for command in script.commands]


def _make_command_test(match: Match, excepted_from: Match | None) -> Test:
    patterns = read_command_patterns(match.command)
    if excepted_from is None:
        return _CommandTest(patterns)
    return _ExceptedCommandTest(patterns, read_command_patterns(excepted_from.command))


def _read_scripts(occasion: Occasion) -> list[Script]:
    try:
        return occasion.scripts
    except ValueError as wrong:
        raise Unclear(str(wrong)) from wrong


def _make_regex_tests(regex: str | dict[str, str], owner: str) -> list[Test]:
    if isinstance(regex, str):
        return [_AnywhereTest(compile_pattern(regex, owner))]
    return [_FieldTest(field, compile_pattern(text, owner)) for field, text in regex.items()]


class _AnywhereTest:
    """A pattern without a field: in any text of the tool's input, or else of the data."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern

    def __call__(self, occasion: Occasion) -> bool:
        where = occasion.data.get("tool_input", occasion.data)
        return any(self._pattern.occurs_in(text) for text in occasion.iterate_texts(where))


class _FieldTest:
    def __init__(self, field: str, pattern: Pattern) -> None:
        self._field = field
        self._pattern = pattern

    def __call__(self, occasion: Occasion) -> bool:
        value = occasion.look_up(self._field)
        return any(self._pattern.occurs_in(text) for text in occasion.iterate_texts(value))
