"""What would swallow a cancellation is not used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"


def find_waits(tree: ast.AST) -> Iterator[int]:
    """The lines that use `wait_for` of asyncio."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="asyncio"), attr="wait_for"):
                yield node.lineno
            case ast.ImportFrom(module="asyncio", names=names):
                yield from (node.lineno for one in names if one.name == "wait_for")


def test_nothing_waits_with_wait_for() -> None:
    """Before Python 3.12 it drops a cancellation that comes when its work has just ended.

    A Ctrl-C at that moment would be lost; `amplifier_core.utils.run_with_timeout` loses none.
    """
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SRC.rglob("*.py"))}
    found = [
        f"{path.relative_to(SRC)}:{line}"
        for path, text in texts.items()
        if "wait_for" in text
        for line in find_waits(ast.parse(text))
    ]
    assert found == []


@pytest.mark.parametrize("text", ["await asyncio.wait_for(x, 1)", "from asyncio import wait_for"])
def test_such_a_wait_is_found(text: str) -> None:
    """However it is imported."""
    assert list(find_waits(ast.parse(text))) == [1]
