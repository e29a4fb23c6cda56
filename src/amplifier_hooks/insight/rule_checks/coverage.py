"""Whether one rule covers another: each event that the narrow one matches, the wide one does.

A yes is certain; a no may also mean that it cannot be told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache, lru_cache

from pydantic import BaseModel

from amplifier_core.events import ALL_EVENTS, TOOL_PRE, canonical, payload_type
from amplifier_hooks.approvals.rules import NAMED_ONLY
from amplifier_hooks.guards.bash import CommandPattern
from amplifier_hooks.guards.policy.tool_calls import PATH_KEYS
from amplifier_hooks.guards.rules.rule import (
    CONDITIONS,
    Match,
    Rule,
    as_list,
    read_command_patterns,
)
from amplifier_hooks.insight.rule_checks.rules import (
    AnsweringRule,
    Finding,
    HookRule,
    HookRules,
    Kind,
    Rules,
)

_WILDCARD = re.compile(r"[*?\[]")
_ANY_TEXT = "\ue000"
_ANY_LETTER = "\ue001"
"""They stand for the wildcards of the narrow glob, where only wildcards of the wide one fit."""


def is_literal(glob: str) -> bool:
    """Whether a glob is just a name."""
    return not _WILDCARD.search(glob)


def covers_name(wide: str, narrow: str) -> bool:
    """For globs of names, as `fnmatch` reads them."""
    if wide in (narrow, "*"):
        return True
    if is_literal(narrow):
        return fnmatchcase(narrow, wide)
    if "[" in wide or "[" in narrow or ("?" in wide and "*" in narrow):
        return False
    return fnmatchcase(narrow.replace("*", _ANY_TEXT).replace("?", _ANY_LETTER), wide)


def covers_names(
    wide: Iterable[str], narrow: Iterable[str], covers: Callable[[str, str], bool] = covers_name
) -> bool:
    """For lists of globs, of which one must fit."""
    return all(any(covers(one, other) for one in wide) for other in narrow)


def covers_path(wide: str, narrow: str) -> bool:
    """For globs of paths, as `policy.paths.match_glob` reads them."""
    if wide in (narrow, "**"):
        return True
    # The rest is for globs that count at any depth: others may begin with a link.
    if any(_is_intricate(glob) for glob in (wide, narrow)):
        return False
    return _covers_parts(_split(wide), _split(narrow))


def _is_intricate(glob: str) -> bool:
    return glob.startswith(("/", "~")) or not glob.isascii() or any(sign in glob for sign in "[{}")


def _split(glob: str) -> tuple[str, ...]:
    parts = (part.lower() for part in glob.split("/") if part not in {"", "."})
    return ("**", *parts, *(("**",) if glob.endswith("/") else ()))


@lru_cache(maxsize=4096)  # with several `**`, the same rest is come across many times
def _covers_parts(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    """`**` of the narrow glob stands for any number of names, which only `**` covers."""
    if not wide:
        return not narrow
    if wide[0] == "**":
        rest = wide[1:]
        return any(_covers_parts(rest, narrow[at:]) for at in range(len(narrow) + 1))
    if not narrow or narrow[0] == "**":
        return False
    return covers_name(wide[0], narrow[0]) and _covers_parts(wide[1:], narrow[1:])


def can_match_path(glob: str) -> bool:
    """Whether any path fits: those that are compared have no `..` in them."""
    parts = glob.split("/")
    if ".." not in parts or "{" in glob:
        return True
    if not glob.startswith(("/", "~/")):
        return False
    # The beginning of an absolute glob is looked up on the disk, up to the first wildcard.
    wild = next((at for at, part in enumerate(parts) if not is_literal(part)), len(parts))
    return ".." not in parts[wild:]


@cache
def list_tool_inputs() -> dict[str, frozenset[str]]:
    """The keys that each tool of ours knows, at any depth; by its name in small letters."""
    from amplifier_hooks.agent.tools.bash import Bash
    from amplifier_hooks.agent.tools.delegate import Delegate
    from amplifier_hooks.agent.tools.filesystem import Edit, MultiEdit, Read, Write
    from amplifier_hooks.agent.tools.search import Glob, Grep
    from amplifier_hooks.agent.tools.todo import Todo

    tools = (Bash, Delegate, Edit, MultiEdit, Read, Write, Glob, Grep, Todo)
    return {tool.name.casefold(): _list_keys(tool.input_model) for tool in tools}


@cache
def list_tool_names() -> frozenset[str]:
    """The tools of ours, and what the coding agents call theirs."""
    from amplifier_hooks.coding_agents.dialects import DIALECTS
    from amplifier_hooks.guards.policy.tool_calls import TOOLS

    theirs = {name for one in DIALECTS.values() for pair in one.tool_names.items() for name in pair}
    return TOOLS | theirs


def explain_unknown(tools: Iterable[str]) -> str:
    """What to say of a tool that no agent is known to have; empty if there is none such."""
    known = {name.casefold(): name for name in sorted(list_tool_names(), reverse=True)}
    for tool in tools:
        if is_literal(tool) and tool.casefold() not in known and not tool.startswith("mcp__"):
            near = get_close_matches(tool.casefold(), known, 1)
            meant = f"; did you mean {known[near[0]]!r}?" if near else ""
            return (
                f"names the tool {tool!r}, which is none of ours nor of a coding agent that we "
                f"know, so it matches calls only if you have such a tool{meant}"
            )
    return ""


def _list_keys(model: type[BaseModel]) -> frozenset[str]:
    schema = model.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return frozenset(key.casefold() for part in parts for key in part.get("properties", {}))


def lacks_keys(tools: Iterable[str], keys: Iterable[str]) -> bool:
    """Whether these are tools of ours, none of which has one of the keys in its input."""
    known = list_tool_inputs()
    wanted = {key.casefold() for key in keys}
    names = [tool.casefold() for tool in tools]
    return bool(names) and all(
        is_literal(name) and name in known and not known[name] & wanted for name in names
    )


_PLAIN_TEXT = re.compile(r"[\w /:@=,-]+")


def covers_hook_rule(wide: HookRule, narrow: HookRule) -> bool:
    """For rules of one entry of hooks-rules."""
    return (
        covers_events(wide.rule.event, narrow.rule.event)
        and wide.rule.access in {None, narrow.rule.access}
        and wide.rule.origin in (None, narrow.rule.origin)
        and _covers_tools(wide, narrow)
        and covers_conditions(wide.rule, narrow.rule)
        and _keeps_exception(wide.rule, wide.rule.unless, narrow.rule, narrow.rule.unless)
    )


def covers_answering_rule(wide: AnsweringRule, narrow: AnsweringRule) -> bool:
    """For rules of one approval file. What allows is matched strictly, anything else widely."""
    first = wide.rule
    second = narrow.rule
    return (
        covers_events(first.event, second.event)
        and _covers_hooks(wide, narrow)
        and (first.tool is None or _covers_listed(as_list(first.tool), as_list(second.tool)))
        and (
            first.unless is None or (first.unless == second.unless and wide.allows == narrow.allows)
        )
        and _covers_answer(wide, narrow)
    )


def _covers_answer(wide: AnsweringRule, narrow: AnsweringRule) -> bool:
    first = wide.rule
    second = narrow.rule
    if not wide.allows:
        # What allows a command also allows what only looks, which no other rule is about.
        mixed = narrow.allows and first.command is not None
        return not mixed and covers_conditions(first, second)
    if not narrow.allows:
        return all(getattr(first, one) is None for one in CONDITIONS if one != "tool")
    return (
        _lists_commands(first, second)
        and _lists_paths(first, second)
        and first.regex in (None, second.regex)
        and _covers_as_written(first, second)
    )


def denies_what_it_names(guard: HookRule, answering: AnsweringRule) -> bool:
    """Whether a rule of hooks-rules is about every call that an approval rule names.

    What an approval rule allows besides, commands that only look, is left aside.
    """
    wide = guard.rule
    narrow = answering.rule
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
        and _covers_as_written(wide, narrow)
    )


_COMPARED = frozenset({"tool", "command", "path", "regex"})


def _covers_as_written(wide: Match, narrow: Match) -> bool:
    """For conditions of which nothing is known here but their text, such as `when`."""
    others = (one for one in CONDITIONS if one not in _COMPARED)
    return all(getattr(wide, one) in (None, getattr(narrow, one)) for one in others)


def _covers_tools(wide: HookRule, narrow: HookRule) -> bool:
    tools = wide.loaded.tools
    others = narrow.loaded.tools
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
    offered = read_command_patterns(wide.command)
    wanted = read_command_patterns(narrow.command)
    return bool(wanted) and set(wanted) <= set(offered)


def _covers_listed(wide: list[str], narrow: list[str]) -> bool:
    return bool(narrow) and covers_names(wide, narrow)


def _lists_paths(wide: Match, narrow: Match) -> bool:
    """To allow, a path that is not written from the root counts below the folder only."""
    if wide.path is None:
        return True
    wanted = as_list(narrow.path)
    given = as_list(wide.path)
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


_ALWAYS_THERE = frozenset({"session_id", "timestamp", "parent_id"})


def find_impossible(group: Rules) -> Iterator[Finding]:
    """What is wrong with each rule of a group by itself."""
    commands: tuple[str, ...] = ("command",)
    paths: tuple[str, ...] = PATH_KEYS
    if isinstance(group, HookRules):
        commands = group.command_keys
        paths = group.path_keys
    for one in group.rules:
        if isinstance(one, HookRule) and not one.rule.enabled:
            yield _report("disabled", one, "is switched off (enabled: false)")
            continue
        if sentence := explain_unknown(as_list(one.rule.tool)):
            yield _report("unknown tool", one, sentence)
        found = list(_judge_match(one, commands, paths))
        yield from found
        if isinstance(one, HookRule) and not found and (unseen := _explain_unseen(one, commands)):
            yield _report("not seen", one, unseen)
        if isinstance(one, HookRule) and not found:
            yield from _judge_effect(one.rule, one)


def _judge_match(
    one: HookRule | AnsweringRule, commands: tuple[str, ...], paths: tuple[str, ...]
) -> Iterator[Finding]:
    match = one.rule
    tools = as_list(one.rule.tool)
    for sentence in _explain_events(match, as_list(match.event)):
        yield _report("never matches", one, sentence)
    # Of a command that is about to run, a rule sees the paths that it uses.
    places = paths if not _judges_commands(one) else (*paths, *commands)
    for given, keys, what in ((match.command, commands, "command"), (match.path, places, "path")):
        if given is not None and lacks_keys(tools, keys):
            sentence = f"looks for a {what}, and calls of {' and '.join(tools)} have none"
            yield _report("never matches", one, sentence)
    yield from _judge_parts(one, list(_explain_paths(as_list(match.path))))
    yield from _judge_parts(one, list(_explain_patterns(read_command_patterns(match.command))))


def _judges_commands(one: HookRule | AnsweringRule) -> bool:
    if isinstance(one, HookRule):
        return any(covers_name(event, TOOL_PRE) for event in one.loaded.events)
    return covers_events(one.rule.event, TOOL_PRE)


def _explain_unseen(one: HookRule, commands: tuple[str, ...]) -> str:
    """What a rule about a path does not see because of its tools; empty if nothing is to say."""
    tools = as_list(one.rule.tool)
    if one.rule.path is None or not one.rule.guards or not lacks_keys(tools, commands):
        return ""
    return (
        f"judges {' and '.join(tools)} only: a command (`cat`, `cp`, `>`) uses the same files "
        "unseen. Without `tool`, the rule judges commands, too"
    )


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
        if can_match_path(glob):
            yield ""
        else:
            yield (
                f"has the path {glob!r}, which fits no file: paths are compared without `..`; "
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
