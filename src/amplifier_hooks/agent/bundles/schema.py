"""What a bundle may say."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from amplifier_core.mount_plan import LISTS, WAYS
from amplifier_core.utils.suggest import find_closest, suggest
from amplifier_hooks.agent.bundles.merge import identify
from amplifier_hooks.machine.http import check_private_url
from amplifier_hooks.yaml_files.node import Node, Problem

Rule = Callable[[Node, str], Iterator[Problem]]
Schema = dict[str, Any]

SUBSTITUTION: Schema = {"$ref": "#/$defs/substitution"}


def add_schema(rule: Rule, schema: Schema) -> Rule:
    """The same rule, which knows its schema."""
    rule.json_schema = schema  # type: ignore[attr-defined]
    return rule


def get_schema(rule: Rule) -> Schema:
    """The schema of a rule; one that has none takes any value."""
    schema: Schema = getattr(rule, "json_schema", {})
    return schema


def allow_substitution(schema: Schema) -> Schema:
    """A schema that also takes what will be replaced before the bundle is read."""
    return {"anyOf": [schema, SUBSTITUTION]}


def refuse_kind(node: Node, key: str, expected: str) -> Problem:
    """The problem of a value of the wrong kind."""
    value = node.value
    text = "" if isinstance(value, dict | tuple) or value is None else f" {value!r}"
    return Problem(node.place, key, f"must be {expected}, got {node.kind}{text}")


def anything(node: Node, key: str) -> Iterator[Problem]:
    """Any value: the module itself checks it."""
    return iter(())


def text(node: Node, key: str) -> Iterator[Problem]:
    """A text that is not empty."""
    if not isinstance(node.value, str):
        yield refuse_kind(node, key, "a text")
    elif not node.value.strip():
        yield Problem(node.place, key, "must not be empty")


def any_text(node: Node, key: str) -> Iterator[Problem]:
    """A text, which may be empty."""
    if not isinstance(node.value, str):
        yield refuse_kind(node, key, "a text")


def private_address(node: Node, key: str) -> Iterator[Problem]:
    """The address of a server on this machine, or of one that is reached through TLS."""
    found = list(text(node, key))
    yield from found
    if not found:
        try:
            check_private_url(str(node.value))
        except ValueError as wrong:
            yield Problem(node.place, key, f"{wrong}, such as http://127.0.0.1:8411")


def boolean(node: Node, key: str) -> Iterator[Problem]:
    """True or false."""
    if not isinstance(node.value, bool):
        yield refuse_kind(node, key, "true or false")


def switch(node: Node, key: str) -> Iterator[Problem]:
    """True, false, or nothing, as `${NAME:+true}` leaves behind."""
    if node.value is not None:
        yield from boolean(node, key)


def integer(least: int | None = None) -> Rule:
    """A whole number, perhaps with a minimum."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, int) or isinstance(node.value, bool):
            yield refuse_kind(node, key, "a whole number")
        elif least is not None and node.value < least:
            yield Problem(node.place, key, f"must be at least {least}, got {node.value}")

    minimum = {} if least is None else {"minimum": least}
    return add_schema(check, allow_substitution({"type": "integer", **minimum}))


def seconds(node: Node, key: str) -> Iterator[Problem]:
    """A time span: positive and finite."""
    value = node.value
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        yield refuse_kind(node, key, "a number of seconds")
    elif not (math.isfinite(value) and value > 0):
        yield Problem(node.place, key, f"must be positive and finite, got {value}")


def choice(*options: str) -> Rule:
    """One of a few words."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, str):
            yield refuse_kind(node, key, f"one of {', '.join(options)}")
        elif node.value not in options:
            hint = suggest(node.value, options)
            yield Problem(node.place, key, f"unknown value {node.value!r}; {hint}")

    return add_schema(check, allow_substitution({"enum": list(options)}))


add_schema(text, {"type": "string", "pattern": r"\S"})
add_schema(any_text, {"type": "string"})
add_schema(private_address, allow_substitution({"type": "string", "pattern": r"^https?://"}))
add_schema(boolean, allow_substitution({"type": "boolean"}))
add_schema(switch, allow_substitution({"type": ["boolean", "null"]}))
add_schema(seconds, allow_substitution({"type": "number", "exclusiveMinimum": 0}))


def optional(rule: Rule) -> Rule:
    """A value that keeps a rule, or nothing (`null`), which means without limit."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if node.value is not None:
            yield from rule(node, key)

    return add_schema(check, {"anyOf": [get_schema(rule), {"type": "null"}]})


def either(first: Rule, second: Rule, expected: str) -> Rule:
    """A value that keeps one rule or the other."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if any(first(node, key)) and any(second(node, key)):
            yield refuse_kind(node, key, expected)

    return add_schema(check, {"anyOf": [get_schema(first), get_schema(second)]})


def listing(rule: Rule) -> Rule:
    """A list whose elements all keep a rule."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, tuple):
            yield refuse_kind(node, key, "a list")
        for at, item in enumerate(node.items()):
            yield from _apply(rule, item, f"{key}[{at}]")

    return add_schema(check, {"type": "array", "items": get_schema(rule)})


def several(rule: Rule) -> Rule:
    """A list with at least one element, whose elements all keep a rule."""
    listed = listing(rule)

    def check(node: Node, key: str) -> Iterator[Problem]:
        yield from listed(node, key)
        if node.value == ():
            yield Problem(node.place, key, "must not be empty")

    return add_schema(check, {**get_schema(listed), "minItems": 1})


def mapping(keys: Mapping[str, Rule], required: Iterable[str] = (), prefix: str = "") -> Rule:
    """A mapping with known keys; keys that start with `prefix` are for the author's own use."""
    needed = tuple(required)

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, dict):
            yield refuse_kind(node, key, "a mapping")
            return
        unknown = [name for name in node.value if not _is_expected(name, keys, prefix)]
        for name, child in node.value.items():
            if name in keys:
                yield from _apply(keys[name], child, _join(key, name))
            elif name in unknown:
                yield _refuse_key(child, _join(key, name), name, keys)
        misspelt = {find_closest(name, keys) for name in unknown}
        yield from _find_missing(node, key, needed, misspelt)

    return add_schema(check, _make_object(keys, needed, prefix))


def table(rule: Rule) -> Rule:
    """A mapping with free keys whose values all keep a rule."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, dict):
            yield refuse_kind(node, key, "a mapping")
        for name, child in node.mapping().items():
            yield from _apply(rule, child, _join(key, name))

    return add_schema(check, {"type": "object", "additionalProperties": get_schema(rule)})


def _make_object(keys: Mapping[str, Rule], needed: Iterable[str], prefix: str) -> Schema:
    own: Schema = {"patternProperties": {f"^{prefix}": {}}} if prefix else {}
    properties = {name: get_schema(rule) for name, rule in keys.items()}
    required = {"required": list(needed)} if needed else {}
    return {"type": "object", "properties": properties, **required, **own} | {
        "additionalProperties": False
    }


def _apply(rule: Rule, node: Node, key: str) -> Iterator[Problem]:
    """Apply the rule to a value; a problem in its place is reported after merging."""
    if not isinstance(node.value, Problem):
        yield from rule(node, key)


def _is_expected(name: str, keys: Mapping[str, Rule], prefix: str) -> bool:
    return name in keys or bool(prefix and name.startswith(prefix))


def _refuse_key(child: Node, path: str, name: str, keys: Mapping[str, Rule]) -> Problem:
    return Problem(child.place, path, f"unknown key {name!r}; {suggest(name, keys)}")


def _find_missing(
    node: Node, key: str, needed: Iterable[str], misspelt: set[str | None]
) -> Iterator[Problem]:
    for name in needed:
        # A misspelt key is reported already, and the right one is missing because of it.
        if name not in node.mapping() and name not in misspelt:
            yield Problem(node.place, _join(key, name), f"is missing; {key or 'the file'} needs it")


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


_ENTRY: dict[str, Rule] = {
    "module": text,
    "name": text,
    "instance_id": text,
    "source": text,
    "config": optional(table(anything)),
    "priority": integer(),
    "enabled": switch,
    "required": boolean,
    "locked": boolean,
}
MODULE: Rule = mapping(_ENTRY, required=["module"])
HOOK: Rule = mapping({**_ENTRY, "mode": choice("enforce", "shadow")}, required=["module"])

LIMITS: Rule = mapping(
    {
        "agent_depth": integer(0),
        "agent_count": integer(0),
        "tool_calls_at_once": optional(integer(1)),
    }
)

_SESSION = {
    "orchestrator": MODULE,
    "context": MODULE,
    "injection_budget_per_turn": optional(integer(0)),
    "injection_size_limit": optional(integer(0)),
    "injection_over_budget": choice("drop", "warn"),
    "max_turns": integer(1),
    "turn_timeout": optional(seconds),
    "tool_result_limit": optional(integer(1)),
    "instructions": text,
    "limits": LIMITS,
    "debug": boolean,
}
_MODES = {
    "run_all": boolean,
    "evaluate_only": boolean,
    "ungoverned": choice("warn", "deny"),
}

SESSION: Rule = mapping({**_SESSION, **_MODES})

AGENT: Rule = mapping(
    {
        "description": text,
        "instructions": text,
        "tools": listing(either(text, MODULE, "the name of a tool or a module entry")),
        "hooks": listing(HOOK),
        "providers": listing(MODULE),
        "session": mapping(_SESSION),  # what hooks may do in a sub-agent, the session says
    },
    required=["description"],
)

_WAY: Rule = choice(*WAYS)

APPROVAL: Rule = mapping(
    {
        "mode": choice("ask", "deny", "edits"),
        "timeout": seconds,
        "via": either(_WAY, several(_WAY), f"one of {', '.join(WAYS)}, or a list of them"),
        "store": text,
        "server": private_address,
        "token": text,
        "persons": integer(1),
        "requester_may_approve": boolean,
        "scope": any_text,
        "locked": boolean,
    }
)

AUDIT: Rule = mapping(
    {
        "enabled": switch,
        "level": choice("decisions", "normal", "full"),
        "path": text,
        "mode": choice("inline", "commitment"),
        "sign": either(boolean, text, "true, false or the path of a key"),
        "on_failure": choice("deny", "stop", "warn"),
        "anchors": listing(text),
        "witness": private_address,
        "witness_token": text,
        "socket": text,
        "server_user": text,
        "locked": boolean,
    }
)

SANDBOX: Rule = mapping(
    {
        "mode": choice("required", "auto", "off"),
        "network": choice("allow", "ask", "deny"),
        "wall": choice("landlock", "bubblewrap", "auto"),
        "write": listing(text),
        "unix_sockets": choice("allow", "deny"),
        "locked": boolean,
    }
)

_BUNDLE: dict[str, Rule] = {
    "name": text,
    "description": text,
    "include": either(text, listing(text), "a file or a list of files"),
    "inherit": boolean,
    "session": SESSION,
    "providers": listing(MODULE),
    "tools": listing(MODULE),
    "hooks": listing(HOOK),
    "agents": table(AGENT),
    "approval": APPROVAL,
    "audit": AUDIT,
    "sandbox": SANDBOX,
}

BUNDLE: Rule = mapping(_BUNDLE, prefix="x-")

# Plans of the existing ecosystem keep the options of loop and context beside the session, and
# their sources within it; applications find what they wrote under `metadata`.
_PLAN_SESSION = {
    **_SESSION,
    **_MODES,
    "orchestrator_source": optional(text),
    "context_source": optional(text),
    "metadata": optional(table(anything)),
    "raw": boolean,
}
MOUNT_PLAN: Rule = mapping(
    {
        **_BUNDLE,
        "session": mapping(_PLAN_SESSION),
        "orchestrator": table(anything),
        "context": table(anything),
    },
    prefix="x-",
)


def find_problems(document: Node, rule: Rule = BUNDLE) -> Iterator[Problem]:
    """Everything that is wrong with one bundle document."""
    yield from rule(document, "")
    for key in LISTS:
        yield from _find_repeated(document.mapping().get(key), key)


def _find_repeated(entries: Node | None, key: str) -> Iterator[Problem]:
    first: dict[str, Node] = {}
    for at, entry in enumerate(entries.items() if entries is not None else ()):
        name = identify(entry)
        if name is not None and name in first:
            line = first[name].place
            message = f"{name!r} is listed twice, first in {line}; give one of them a name"
            yield Problem(entry.place, f"{key}[{at}]", message)
        elif name is not None:
            first[name] = entry
