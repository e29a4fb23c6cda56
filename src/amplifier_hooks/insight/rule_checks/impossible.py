"""Rules that can never match, or never do anything: told from what is written alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache

from amplifier_core.events import ALL_EVENTS, canonical, payload_type
from amplifier_hooks.guards.bash import CommandPattern
from amplifier_hooks.guards.policy.tool_calls import PATH_KEYS
from amplifier_hooks.guards.rules.rule import (
    Match,
    Rule,
    as_list,
    read_command_patterns,
)
from amplifier_hooks.insight.rule_checks.coverage import covers_conditions
from amplifier_hooks.insight.rule_checks.finding import Finding, Kind
from amplifier_hooks.insight.rule_checks.globs import can_match_path, is_literal
from amplifier_hooks.insight.rule_checks.tool_inputs import explain_unknown, lack_keys
from amplifier_hooks.insight.rule_checks.written_rule import (
    AnsweringRule,
    HookRule,
    HookRules,
    Rules,
)

_ALWAYS_THERE = frozenset({"session_id", "timestamp", "parent_id"})


def find_impossible(group: Rules) -> Iterator[Finding]:
    """What is wrong with each rule of a group by itself."""
    commands: tuple[str, ...] = ("command",)
    paths: tuple[str, ...] = PATH_KEYS
    if isinstance(group, HookRules):
        commands, paths = group.command_keys, group.path_keys
    for one in group.rules:
        if isinstance(one, HookRule) and not one.rule.enabled:
            yield _report("disabled", one, "is switched off (enabled: false)")
            continue
        if sentence := explain_unknown(as_list(one.rule.tool)):
            yield _report("unknown tool", one, sentence)
        found = list(_judge_match(one, commands, paths))
        yield from found
        if isinstance(one, HookRule) and not found:
            yield from _judge_effect(one.rule, one)


def _judge_match(
    one: HookRule | AnsweringRule, commands: tuple[str, ...], paths: tuple[str, ...]
) -> Iterator[Finding]:
    match, tools = one.rule, as_list(one.rule.tool)
    for sentence in _explain_events(match, as_list(match.event)):
        yield _report("never matches", one, sentence)
    for given, keys, what in ((match.command, commands, "command"), (match.path, paths, "path")):
        if given is not None and lack_keys(tools, keys):
            sentence = f"looks for a {what}, and calls of {' and '.join(tools)} have none"
            yield _report("never matches", one, sentence)
    yield from _judge_parts(one, list(_explain_paths(as_list(match.path))))
    yield from _judge_parts(one, list(_explain_patterns(read_command_patterns(match.command))))


def _judge_parts(one: HookRule | AnsweringRule, parts: list[str]) -> Iterator[Finding]:
    """Alternatives, each with what is wrong with it, or nothing."""
    if parts and all(parts):
        yield _report("never matches", one, parts[0])
        return
    yield from (_report("part never matches", one, sentence) for sentence in parts if sentence)


def _judge_effect(rule: Rule, one: HookRule) -> Iterator[Finding]:
    if rule.unless is not None and _is_excepted(rule, rule.unless):
        sentence = "its `unless` excepts everything that it matches"
        if rule.unless.command is None:
            yield _report("never matches", one, sentence)
        else:
            words = [one.arguments for one in read_command_patterns(rule.unless.command)]
            more = " or have other words in between" if any(words) else ""
            but = f"{sentence}, except for commands that cannot be read{more}"
            yield _report("excepts everything", one, but)
    if rule.action == "continue" and not (rule.user_message or rule.suppress_output):
        sentence = (
            "answers `continue` without a message, which changes nothing: other rules still "
            "apply. For an exception, use `unless` in the rule that stops the call"
        )
        yield _report("no effect", one, sentence)


def _report(kind: Kind, one: HookRule | AnsweringRule, sentence: str) -> Finding:
    return Finding(kind, (one.name,), (str(one.place),), sentence)


def _explain_events(match: Match, events: list[str]) -> Iterator[str]:
    fields = _list_fields(events)
    if fields is None:
        return
    told = " and ".join(events)
    lacking = [
        (match.tool is not None and not _fits_no_tool(match), {"tool_name"}, "tool"),
        (match.command is not None, {"tool_input"}, "command"),
        (match.path is not None, {"tool_input", "path"}, "path"),
    ]
    for given, needed, key in lacking:
        if given and not fields & needed:
            yield f"has `{key}`, and {told} is not about a tool call"
    expressions = match.regex if isinstance(match.regex, dict) else {}
    for field in expressions:
        first = field.split(".")[0]
        if first not in fields and first in _list_all_fields():
            yield f"looks into {field!r}, and {told} has no field {first!r}"


@cache
def _list_all_fields() -> frozenset[str]:
    """Those of any event: others may come from whoever emits it, and are not judged."""
    payloads = (payload_type(event) for event in ALL_EVENTS)
    found = {field for one in payloads if one is not None for field in one.__annotations__}
    return frozenset(found - _ALWAYS_THERE)


def _fits_no_tool(match: Match) -> bool:
    """Whether `tool` is one that fits where there is none: `*`."""
    return any(fnmatchcase("", glob) for glob in as_list(match.tool))


def _list_fields(events: Iterable[str]) -> set[str] | None:
    """All fields of these events; None if that cannot be told."""
    fields: set[str] = set()
    for event in events:
        payload = payload_type(canonical(event)) if is_literal(event) else None
        if payload is None:  # a pattern, or an event of somebody else
            return None
        fields |= set(payload.__annotations__)
    return fields


def _explain_paths(globs: list[str]) -> Iterator[str]:
    for glob in globs:
        yield (
            ""
            if can_match_path(glob)
            else f"has the path {glob!r}, which fits no file: paths are compared without `..`; "
            "write it from the root"
        )


def _explain_patterns(patterns: Iterable[CommandPattern]) -> Iterator[str]:
    for pattern in patterns:
        options = [one for one in pattern.arguments if all(map(_is_option, one))]
        words = [one for one in pattern.flags if all(map(_is_plain_word, one))]
        if options:
            yield f"has the argument {options[0][0]!r}, which is an option: use `flag` for it"
        elif words:
            yield f"has the flag {words[0][0]!r}, and options begin with `-`"
        else:
            yield ""


def _is_option(glob: str) -> bool:
    return glob.startswith("-") and len(glob) > 1


def _is_plain_word(glob: str) -> bool:
    return is_literal(glob) and not glob.startswith("-")


def _is_excepted(rule: Rule, exception: Match) -> bool:
    """Whether the exception holds for all that the rule matches."""
    if exception.tool is not None and "*" not in as_list(exception.tool):
        return False  # a guard also stops `bash`, and an exception for `Bash` is none for it
    patterns = read_command_patterns(exception.command)
    globs = [glob for pattern in patterns for globs in pattern.arguments for glob in globs]
    return all(map(is_literal, globs)) and covers_conditions(exception, rule)
