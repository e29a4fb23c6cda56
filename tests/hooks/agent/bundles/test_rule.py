"""What a rule says of a value of the wrong kind."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.agent.bundles.rule import refuse_kind
from amplifier_hooks.yaml_files.node import Place, make_node


@pytest.mark.parametrize(
    ("value", "got"),
    [
        ("high", "got a text 'high'"),
        (7, "got a whole number 7"),
        (True, "got true or false True"),
        (None, "got nothing"),
        ([1, 2], "got a list"),
        ({"a": 1}, "got a mapping"),
    ],
)
def test_the_value_is_shown_unless_it_is_long(value: Any, got: str) -> None:
    """Lists and mappings are named and not written out."""
    problem = refuse_kind(make_node(value, Place("f", 2)), "k", "a number")
    assert str(problem) == f"f:2: k: must be a number, {got}"
