"""Rules for single values."""

from __future__ import annotations

import math
from collections.abc import Iterator

from amplifier_core.utils.suggest import suggest
from amplifier_hooks.agent.bundles.rule import Rule, add_schema, allow_substitution, refuse_kind
from amplifier_hooks.machine.http import check_private_url
from amplifier_hooks.yaml_files.node import Node, Problem


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
