"""A value of a bundle, with the place where it was written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from amplifier_core.errors import AmplifierError

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Place:
    """A file and, where the value came from text, its line."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, under which key, and what would be right."""

    place: Place
    key: str
    message: str

    def __str__(self) -> str:
        where = f"{self.place}: {self.key}" if self.key else str(self.place)
        return f"{where}: {self.message}"


class BundleError(AmplifierError, ValueError):
    """A bundle that cannot be used; `problems` has every reason, one line each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(frozen=True, slots=True)
class Node:
    """A mapping, a list, a scalar, or the problem in place of a value."""

    value: dict[str, Node] | tuple[Node, ...] | Scalar | Problem
    place: Place

    @property
    def kind(self) -> str:
        """What a person would call the value."""
        return _KINDS.get(type(self.value), "a value")

    def mapping(self) -> dict[str, Node]:
        """Its keys; none when it is something else."""
        return self.value if isinstance(self.value, dict) else {}

    def items(self) -> tuple[Node, ...]:
        """Its elements; none when it is something else."""
        return self.value if isinstance(self.value, tuple) else ()

    def text(self, key: str) -> str | None:
        """The text under a key, if there is some."""
        found = self.mapping().get(key)
        return found.value if found is not None and isinstance(found.value, str) else None

    def with_key(self, key: str, node: Node) -> Node:
        """The same mapping with one key set."""
        return replace(self, value={**self.mapping(), key: node})

    def without(self, *keys: str) -> Node:
        """The same mapping with some keys left out."""
        return replace(self, value={k: v for k, v in self.mapping().items() if k not in keys})


_KINDS: dict[type, str] = {
    dict: "a mapping",
    tuple: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "nothing",
}


def to_plain(node: Node) -> Any:
    """The value without its places."""
    if isinstance(node.value, dict):
        return {key: to_plain(child) for key, child in node.value.items()}
    if isinstance(node.value, tuple):
        return [to_plain(child) for child in node.value]
    return node.value


def make_node(value: Any, place: Place) -> Node:
    """Turn a plain value into nodes that all have the same place."""
    if isinstance(value, Mapping):
        return Node({str(k): make_node(v, place) for k, v in value.items()}, place)
    if isinstance(value, (list, tuple)):
        return Node(tuple(make_node(item, place) for item in value), place)
    return Node(value, place)


def find_broken(node: Node) -> Iterator[Problem]:
    """The problems in place of values, at any depth."""
    if isinstance(node.value, Problem):
        yield node.value
    for child in (*node.mapping().values(), *node.items()):
        yield from find_broken(child)


def raise_problems(problems: Iterable[Problem]) -> None:
    """Raise a BundleError with all of them, if there are any."""
    if found := tuple(problems):
        raise BundleError(found)
