"""The syntax tree and its limits."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_foundation.bash import tree
from amplifier_foundation.bash.tree import (
    MAX_DEPTH,
    MAX_NODES,
    ensure_available,
    get_text,
    list_nodes,
    parse_tree,
    slice_text,
    walk,
)


def root(source: str) -> Any:
    return parse_tree(source.encode(), "test").root_node


def test_a_node_has_its_text() -> None:
    """Also where it is not valid UTF-8."""
    node = parse_tree(b"echo \xff gr\xc3\xbc\xc3\x9fe", "test").root_node
    assert get_text(node) == "echo \ufffd grüße"


def test_a_slice_is_counted_in_the_whole_script() -> None:
    """Positions are those of the script, and they are bytes."""
    command = root("ü=1; echo abc").children[-1]
    name, argument = command.children
    assert slice_text(command, argument.start_byte, argument.end_byte) == "abc"
    assert slice_text(command, name.end_byte, argument.start_byte) == " "


def test_nodes_come_in_the_order_they_are_written() -> None:
    """Parents before children, left before right."""
    texts = [get_text(node) for node in walk(root("a; b")) if node.type == "word"]
    assert texts == ["a", "b"]
    node = root("a | b $(c)")
    assert list_nodes(node) == list(walk(node))


@pytest.mark.parametrize(
    "source",
    ["(" * (MAX_DEPTH + 1) + "ls" + ")" * (MAX_DEPTH + 1), "ls;" * MAX_NODES],
    ids=["deep", "many"],
)
def test_too_much_is_not_looked_at(source: str) -> None:
    """Hostile input costs a bounded time."""
    assert list_nodes(root(source)) is None


def test_a_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """At mount, in one sentence."""

    def fail(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", fail)
    with pytest.raises(ModuleLoadError, match=r"hooks-x needs .*'tree_sitter'.*\[policy\]"):
        ensure_available("hooks-x")


def test_every_parse_has_a_parser_of_its_own() -> None:
    """Guards judge in threads."""
    assert tree._create_parser("x") is not tree._create_parser("x")
