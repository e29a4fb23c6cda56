"""The syntax tree and its limits."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.bash import tree
from amplifier_hooks.guards.bash.tree import (
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
    return parse_tree(source, "test").root_node


def test_a_node_has_its_text() -> None:
    """Also where it cannot be written as UTF-8."""
    assert get_text(root("echo \udcff grüße À à Àà")) == "echo ? grüße À à Àà"


# Characters that steer the grammar, and characters far outside of every table.
ODD = st.text(
    st.sampled_from("{}.,$()<>`'\"\\ \n\t;&|#!*?[]=~-aEOF1")
    | st.characters(exclude_categories=["Cs"])
)


@given(ODD)
def test_every_text_can_be_parsed_and_read_back(source: str) -> None:
    """A scanner that looks a character up beyond its table would end the whole process."""
    tree_of_it = parse_tree(f"echo {{\U0003b558{source}", "test")
    assert get_text(tree_of_it.root_node) == f"echo {{\U0003b558{source}"


@pytest.mark.parametrize("text", ["ü", "\u3000", "\x85", "\xa0", "\U0010ffff", "…"])
def test_what_is_not_ascii_is_a_letter_as_in_bash(text: str) -> None:
    """Blanks of other scripts separate no words."""
    command = root(f"rm{text}x y").children[0]
    assert [get_text(child) for child in command.children] == [f"rm{text}x", "y"]


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
