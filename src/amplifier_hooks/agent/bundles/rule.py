"""What a rule is: it looks at a node and yields the problems that it finds.

A rule also knows its JSON schema, by which an editor finds the same problems while a bundle is
being written. There any value may be a substitution, `${NAME}`, of no kind yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

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
