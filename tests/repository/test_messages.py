"""Messages are written for people: a list in one is words with commas."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = sorted((Path(__file__).parents[2] / "src").rglob("*.py"))
MAKERS = {"sorted", "list", "tuple", "set", "frozenset"}
LITERALS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp)


def find_lists(tree: ast.AST) -> Iterator[int]:
    """The lines of f-strings that would show a list as Python writes it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FormattedValue):
            continue
        value = node.value
        called = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
        if isinstance(value, LITERALS) or (called and value.func.id in MAKERS):  # type: ignore[attr-defined]
            yield node.lineno


def test_no_text_shows_a_list_as_python_writes_it() -> None:
    """`have a, b`, not `have ['a', 'b']`."""
    found = [
        f"{path.name}:{line}"
        for path in SOURCES
        for line in find_lists(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize("text", ['f"{sorted(x)}"', 'f"{[1]}"', 'f"{list(x)!r}"', 'f"{(a, b)}"'])
def test_such_a_text_is_found(text: str) -> None:
    """Whether it is made there or written there."""
    assert list(find_lists(ast.parse(text))) == [1]


def test_names_with_commas_are_fine() -> None:
    """So is a number or a name."""
    assert list(find_lists(ast.parse("""f"{', '.join(sorted(x))} {len(x)} {x}" """))) == []
