"""What a rule is: it looks at a node and yields the problems that it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amplifier_foundation.bundles.node import Node, Problem

Rule = Callable[[Node, str], Iterator[Problem]]


def refuse_kind(node: Node, key: str, expected: str) -> Problem:
    """The problem of a value of the wrong kind."""
    value = node.value
    text = "" if isinstance(value, dict | tuple) or value is None else f" {value!r}"
    return Problem(node.place, key, f"must be {expected}, got {node.kind}{text}")
