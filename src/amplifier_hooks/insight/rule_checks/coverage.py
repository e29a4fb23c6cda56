"""Whether one rule covers another: each event that the narrow one matches, the wide one does.

A yes is certain; a no may also mean that it cannot be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from amplifier_core.events import canonical
from amplifier_hooks.approvals.rules import NAMED_ONLY
from amplifier_hooks.guards.bash import CommandPattern
from amplifier_hooks.guards.rules.rule import Match, as_list, read_command_patterns
from amplifier_hooks.insight.rule_checks.globs import (
    covers_names,
    covers_path,
)
from amplifier_hooks.insight.rule_checks.written_rule import AnsweringRule, HookRule

_PLAIN_TEXT = re.compile(r"[\w /:@=,-]+")


def covers_hook_rule(wide: HookRule, narrow: HookRule) -> bool:
    """For rules of one entry of hooks-rules."""
    return (
        covers_events(wide.rule.event, narrow.rule.event)
        and _covers_tools(wide, narrow)
        and covers_conditions(wide.rule, narrow.rule)
        and _keeps_exception(wide.rule, wide.rule.unless, narrow.rule, narrow.rule.unless)
    )


def covers_answering_rule(wide: AnsweringRule, narrow: AnsweringRule) -> bool:
    """For rules of one approval file. What allows is matched strictly, anything else widely."""
    first, second = wide.rule, narrow.rule
    return (
        covers_events(first.event, second.event)
        and _covers_hooks(wide, narrow)
        and (first.tool is None or _covers_listed(as_list(first.tool), as_list(second.tool)))
        and (
            first.unless is None or (first.unless == second.unless and wide.allows == narrow.allows)
        )
        and _covers_strictly_or_widely(wide, narrow)
    )


def _covers_strictly_or_widely(wide: AnsweringRule, narrow: AnsweringRule) -> bool:
    first, second = wide.rule, narrow.rule
    if not wide.allows:
        # What allows a command also allows what only looks, which no other rule is about.
        mixed = narrow.allows and first.command is not None
        return not mixed and covers_conditions(first, second)
    if not narrow.allows:
        return first.command is first.path is first.regex is first.when is None
    return (
        _lists_commands(first, second)
        and _lists_paths(first, second)
        and first.regex in (None, second.regex)
        and first.when in (None, second.when)
    )


def denies_what_it_names(guard: HookRule, answering: AnsweringRule) -> bool:
    """Whether a rule of hooks-rules is about every call that an approval rule names.

    What an approval rule allows besides, commands that only look, is left aside.
    """
    wide, narrow = guard.rule, answering.rule
    tools = as_list(narrow.tool)
    return (
        covers_events(wide.event, narrow.event)
        and (wide.tool is None or _covers_listed(as_list(wide.tool), tools))
        and wide.unless is None
        and covers_conditions(wide, narrow)
    )


def covers_events(wide: str | list[str], narrow: str | list[str]) -> bool:
    """For names and patterns of events, in any of their spellings."""
    return covers_names(
        [canonical(one) for one in as_list(wide)], [canonical(one) for one in as_list(narrow)]
    )


def covers_conditions(wide: Match, narrow: Match) -> bool:
    """For everything in a match but its tool."""
    return (
        _covers_commands(wide, narrow)
        and _covers_paths(wide, narrow)
        and _covers_regex(wide.regex, narrow.regex)
        and wide.when in (None, narrow.when)
    )


def _covers_tools(wide: HookRule, narrow: HookRule) -> bool:
    tools, others = wide.loaded.tools, narrow.loaded.tools
    if not tools or "*" in tools:
        return True
    if not others:
        return False
    if not wide.rule.guards:
        return not narrow.rule.guards and covers_names(tools, others)
    return _covers_folded(tools, others)


def _covers_folded(tools: Sequence[str], others: Sequence[str]) -> bool:
    # Guards compare names as they are, and without regard to letter case; a name that fits as it
    # is fits in small letters too, unless the glob counts letters.
    folded = [one.casefold() for one in tools], [one.casefold() for one in others]
    counts = any(sign in one for one in others for sign in "?[")
    return covers_names(*folded) and (not counts or covers_names(tools, others))


def _covers_hooks(wide: AnsweringRule, narrow: AnsweringRule) -> bool:
    if wide.rule.hook is None:
        return True
    return _covers_listed(as_list(wide.rule.hook), as_list(narrow.rule.hook))


def leaves_named_hooks(wide: AnsweringRule, narrow: AnsweringRule) -> bool:
    """Whether the wide rule leaves questions to the narrow one that it would have to name."""
    if not wide.allows or wide.rule.hook is not None:
        return False
    hooks = as_list(narrow.rule.hook)
    if not hooks:
        return not narrow.allows
    return any(covers_names([glob], [name]) for glob in hooks for name in NAMED_ONLY)


def _keeps_exception(
    wide: Match, exception: Match | None, narrow: Match, other: Match | None
) -> bool:
    """Whether the exception of the wide rule takes nothing away that the narrow one matches."""
    if exception is None:
        return True
    # An exception is about the commands and paths that its own rule is about.
    same = wide.command == narrow.command and wide.path == narrow.path
    return exception == other and (same or (exception.command is exception.path is None))


def _covers_commands(wide: Match, narrow: Match) -> bool:
    patterns = read_command_patterns(narrow.command)
    if wide.command is None:
        return True
    offered = read_command_patterns(wide.command)
    return bool(patterns) and all(
        any(covers_pattern(one, other) for one in offered) for other in patterns
    )


def covers_pattern(wide: CommandPattern, narrow: CommandPattern) -> bool:
    """For patterns of commands."""
    return (
        covers_names(wide.program, narrow.program)
        and all(any(set(other) <= set(one) for other in narrow.flags) for one in wide.flags)
        and _occur_in_order(wide.arguments, narrow.arguments)
    )


def _occur_in_order(wanted: Iterable[Sequence[str]], given: Iterable[Sequence[str]]) -> bool:
    words = iter(given)
    return all(any(covers_names(globs, word) for word in words) for globs in wanted)


def _lists_commands(wide: Match, narrow: Match) -> bool:
    """To allow, each pattern is compared with the whole command: only the same one covers it."""
    if wide.command is None:
        return True
    offered, wanted = read_command_patterns(wide.command), read_command_patterns(narrow.command)
    return bool(wanted) and set(wanted) <= set(offered)


def _covers_listed(wide: list[str], narrow: list[str]) -> bool:
    return bool(narrow) and covers_names(wide, narrow)


def _lists_paths(wide: Match, narrow: Match) -> bool:
    """To allow, a path that is not written from the root counts below the folder only."""
    if wide.path is None:
        return True
    wanted, given = as_list(narrow.path), as_list(wide.path)
    below = [one for one in given if not one.startswith(("/", "~/"))]
    rest = [one for one in wanted if one not in given]
    return (
        bool(wanted)
        and not any(one.startswith(("/", "~/")) for one in rest)
        and covers_names(below, rest, covers_path)
    )


def _covers_paths(wide: Match, narrow: Match) -> bool:
    if wide.path is None:
        return True
    others = as_list(narrow.path)
    return bool(others) and covers_names(as_list(wide.path), others, covers_path)


def _covers_regex(
    wide: str | Mapping[str, str] | None, narrow: str | Mapping[str, str] | None
) -> bool:
    if wide is None:
        return True
    if isinstance(wide, str) or isinstance(narrow, str):
        return (
            isinstance(wide, str) and isinstance(narrow, str) and _covers_expression(wide, narrow)
        )
    return narrow is not None and all(
        field in narrow and _covers_expression(text, narrow[field]) for field, text in wide.items()
    )


def _covers_expression(wide: str, narrow: str) -> bool:
    """The same expression, or a plain text in which the other one occurs."""
    plain = _PLAIN_TEXT.fullmatch(wide) and _PLAIN_TEXT.fullmatch(narrow)
    return wide == narrow or bool(plain and wide in narrow)
