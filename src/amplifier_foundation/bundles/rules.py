"""Rules that a node keeps; each yields the problems it finds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from amplifier_core.utils.suggest import find_closest, suggest
from amplifier_foundation.bundles.node import Node, Problem

Rule = Callable[[Node, str], Iterator[Problem]]


def anything(node: Node, key: str) -> Iterator[Problem]:
    """Whatever the module itself will check."""
    return iter(())


def text(node: Node, key: str) -> Iterator[Problem]:
    """A text that says something."""
    if not isinstance(node.value, str):
        yield _wrong(node, key, "a text")
    elif not node.value.strip():
        yield Problem(node.place, key, "must not be empty")


def boolean(node: Node, key: str) -> Iterator[Problem]:
    """True or false."""
    if not isinstance(node.value, bool):
        yield _wrong(node, key, "true or false")


def switch(node: Node, key: str) -> Iterator[Problem]:
    """True, false, or nothing, as `${NAME:+true}` leaves behind."""
    if node.value is not None:
        yield from boolean(node, key)


def integer(least: int | None = None) -> Rule:
    """A whole number, perhaps not under a least one."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, int) or isinstance(node.value, bool):
            yield _wrong(node, key, "a whole number")
        elif least is not None and node.value < least:
            yield Problem(node.place, key, f"must be at least {least}, got {node.value}")

    return check


def seconds(node: Node, key: str) -> Iterator[Problem]:
    """A time span: positive and finite."""
    value = node.value
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        yield _wrong(node, key, "a number of seconds")
    elif not (math.isfinite(value) and value > 0):
        yield Problem(node.place, key, f"must be positive and finite, got {value}")


def choice(*options: str) -> Rule:
    """One of a few words."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, str):
            yield _wrong(node, key, f"one of {list(options)}")
        elif node.value not in options:
            hint = suggest(node.value, options)
            yield Problem(node.place, key, f"unknown value {node.value!r}; {hint}")

    return check


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
            yield _wrong(node, key, expected)

    return check


def listing(rule: Rule) -> Rule:
    """A list whose elements all keep a rule."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, tuple):
            yield _wrong(node, key, "a list")
        for at, item in enumerate(node.items()):
            yield from sound(rule)(item, f"{key}[{at}]")

    return check


def mapping(keys: Mapping[str, Rule], required: Iterable[str] = (), prefix: str = "") -> Rule:
    """A mapping with known keys; those that start with `prefix` are the writer's own."""
    needed = tuple(required)

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, dict):
            yield _wrong(node, key, "a mapping")
            return
        unknown = [n for n in node.value if n not in keys and not (prefix and n.startswith(prefix))]
        for name, child in node.value.items():
            if name in keys:
                yield from sound(keys[name])(child, _path(key, name))
            elif name in unknown:
                message = f"unknown key {name!r}; {suggest(name, keys)}"
                yield Problem(child.place, _path(key, name), message)
        # A misspelt key was told already; that the right one is missing follows from it.
        present = {*node.value, *(find_closest(name, keys) for name in unknown)}
        for name in needed:
            if name not in present:
                yield Problem(node.place, _path(key, name), f"is missing; {key} needs it")

    return check


def table(rule: Rule) -> Rule:
    """A mapping with free keys whose values all keep a rule."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, dict):
            yield _wrong(node, key, "a mapping")
        for name, child in node.mapping().items():
            yield from sound(rule)(child, _path(key, name))

    return check


def sound(rule: Rule) -> Rule:
    """The rule for values; a problem that stands in for one is reported after merging."""

    def check(node: Node, key: str) -> Iterator[Problem]:
        if not isinstance(node.value, Problem):
            yield from rule(node, key)

    return check


def _path(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _wrong(node: Node, key: str, expected: str) -> Problem:
    shown = (
        "" if isinstance(node.value, (dict, tuple)) or node.value is None else f" {node.value!r}"
    )
    return Problem(node.place, key, f"must be {expected}, got {node.kind}{shown}")
