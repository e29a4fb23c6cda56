"""The form of a file with cases: which keys there are, and what they may hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import get_args

from amplifier_core.events.names import KNOWN, find_problem
from amplifier_core.models.hook_result import Action, Decision, Level, Role
from amplifier_hooks.agent.bundles.schema import (
    Rule,
    add_schema,
    any_text,
    anything,
    boolean,
    choice,
    get_schema,
    integer,
    listing,
    mapping,
    optional,
    refuse_kind,
    seconds,
    table,
    text,
)
from amplifier_hooks.yaml_files.node import Node, Problem

ACTIONS = get_args(Action)


def expected_text(node: Node, key: str) -> Iterator[Problem]:
    """A part of a text, a regular expression between slashes, or null for no text."""
    if node.value is None:
        return
    yield from text(node, key)
    if (pattern := find_pattern(node.value)) is not None:
        try:
            re.compile(pattern)
        except re.error as error:
            message = f"{node.value} is not a regular expression: {error}"
            yield Problem(node.place, key, message)


def find_pattern(value: object) -> str | None:
    """The regular expression in a text such as `/rm +-r/`; None for a plain text."""
    if isinstance(value, str) and len(value) > 2 and value[0] == value[-1] == "/":
        return value[1:-1]
    return None


def event_name(node: Node, key: str) -> Iterator[Problem]:
    """The name of an event: a known one, or one of a module's own; not a pattern."""
    found = list(text(node, key))
    yield from found
    if found:
        return
    name = str(node.value)
    if "*" in name:
        yield Problem(node.place, key, f"must be one event, such as tool:pre, not {name!r}")
    elif problem := find_problem(name):
        yield Problem(node.place, key, problem)


add_schema(expected_text, {"type": ["string", "null"]})
_OWN_EVENT = {"type": "string", "pattern": r"^[^*]+:[^*]+$"}
add_schema(event_name, {"anyOf": [{"enum": sorted(KNOWN)}, _OWN_EVENT]})

ANSWER = mapping(
    {
        "action": choice(*ACTIONS),
        "hook": text,
        "error": expected_text,
        "data": table(anything),
        "reason": expected_text,
        "context_injection": expected_text,
        "approval_prompt": expected_text,
        "user_message": expected_text,
        "approval_options": optional(listing(text)),
        "approval_timeout": seconds,
        "approval_default": choice(*get_args(Decision)),
        "context_injection_role": choice(*get_args(Role)),
        "ephemeral": boolean,
        "append_to_last_tool_result": boolean,
        "suppress_output": boolean,
        "user_message_level": choice(*get_args(Level)),
        "user_message_source": optional(text),
    }
)


def expectation(node: Node, key: str) -> Iterator[Problem]:
    """An action alone, or a mapping with what is expected of the answer."""
    if isinstance(node.value, str):
        yield from choice(*ACTIONS)(node, key)
    elif not isinstance(node.value, dict):
        yield refuse_kind(node, key, f"one of {', '.join(ACTIONS)}, or a mapping")
    elif not node.value:
        yield Problem(node.place, key, "must not be empty; name an action, such as deny")
    else:
        yield from ANSWER(node, key)


add_schema(expectation, {"anyOf": [{"enum": list(ACTIONS)}, get_schema(ANSWER)]})

_STEP: dict[str, Rule] = {
    "event": event_name,
    "data": table(anything),
    "expect": expectation,
    "times": integer(1),
    "complete": boolean,
}
STEP = mapping(_STEP, required=["event"])


def own_files(node: Node, key: str) -> Iterator[Problem]:
    """Texts of files, by paths that stay inside the folder of the case."""
    yield from table(any_text)(node, key)
    for name, child in node.mapping().items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or PureWindowsPath(name).drive:
            message = f"must be a path inside the folder of the case, got {name!r}"
            yield Problem(child.place, f"{key}.{name}", message)


add_schema(own_files, get_schema(table(any_text)))

CASE = mapping(
    {
        **_STEP,
        "name": text,
        "config": table(anything),
        "files": own_files,
        "steps": listing(STEP),
    }
)


def name_case(node: Node, place: int) -> str:
    """What messages call a case."""
    name = node.text("name")
    return f"case {place + 1}" if name is None else f"case {name!r}"


def case_list(node: Node, key: str) -> Iterator[Problem]:
    """A list of cases, at least one."""
    if not isinstance(node.value, tuple):
        yield refuse_kind(node, key, "a list of cases")
    elif not node.value:
        yield Problem(node.place, key, "must not be empty")
    for place, item in enumerate(node.items()):
        yield from CASE(item, name_case(item, place))


add_schema(case_list, {"type": "array", "minItems": 1, "items": get_schema(CASE)})

FILE = mapping(
    {
        "hook": text,
        "bundle": text,
        "config": table(anything),
        "timeout": seconds,
        "cases": case_list,
    },
    required=["cases"],
    prefix="x-",
)
