"""Rules made of other rules: for lists, for mappings, and for alternatives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from amplifier_core.utils.suggest import find_closest, suggest
from amplifier_hooks.agent.bundles.rule import Rule, Schema, add_schema, get_schema, refuse_kind
from amplifier_hooks.yaml_files.node import Node, Problem


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
