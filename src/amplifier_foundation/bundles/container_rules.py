"""Rules made of other rules: for lists, for mappings, and for what may be one thing or another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from amplifier_core.utils.suggest import find_closest, suggest
from amplifier_foundation.bundles.node import Node, Problem
from amplifier_foundation.bundles.rule import Rule, wrong_kind


def optional(rule: Rule) -> Rule:
    """The rule, or nothing (`null`), which means without limit."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if node.value is not None:
            yield from rule(node, key)

    return check


def either(first: Rule, second: Rule, expected: str) -> Rule:
    """One rule or the other."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if any(first(node, key)) and any(second(node, key)):
            yield wrong_kind(node, key, expected)

    return check


def listing(rule: Rule) -> Rule:
    """A list whose elements all keep a rule."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, tuple):
            yield wrong_kind(node, key, "a list")
        for at, item in enumerate(node.items()):
            yield from _apply(rule, item, f"{key}[{at}]")

    return check


def mapping(keys: Mapping[str, Rule], required: Iterable[str] = (), prefix: str = "") -> Rule:
    """A mapping with known keys; those that start with `prefix` are the writer's own."""
    needed = tuple(required)

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, dict):
            yield wrong_kind(node, key, "a mapping")
            return
        unknown = {name for name in node.value if name not in keys}
        if prefix:
            unknown = {name for name in unknown if not name.startswith(prefix)}
        for name, child in node.value.items():
            if name in keys:
                yield from _apply(keys[name], child, _path(key, name))
            elif name in unknown:
                message = f"unknown key {name!r}; {suggest(name, keys)}"
                yield Problem(child.place, _path(key, name), message)
        yield from _find_missing(node, key, needed, {find_closest(name, keys) for name in unknown})

    return check


def table(rule: Rule) -> Rule:
    """A mapping with free keys whose values all keep a rule."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, dict):
            yield wrong_kind(node, key, "a mapping")
        for name, child in node.mapping().items():
            yield from _apply(rule, child, _path(key, name))

    return check


def _apply(rule: Rule, node: Node, key: str) -> Iterator[Problem]:
    """The rule for values; a problem that stands in for one is reported after merging."""
    if not isinstance(node.value, Problem):
        yield from rule(node, key)


def _find_missing(
    node: Node, key: str, needed: Iterable[str], misspelt: set[str | None]
) -> Iterator[Problem]:
    for name in needed:
        # A misspelt key was told already; that the right one is missing follows from it.
        if name not in node.mapping() and name not in misspelt:
            yield Problem(node.place, _path(key, name), f"is missing; {key} needs it")


def _path(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name
