"""Names of tools: which are known, and which are slips of them."""

from __future__ import annotations

import pytest

from amplifier_hooks.agent.tools.bash import Bash
from amplifier_hooks.agent.tools.delegate import Delegate
from amplifier_hooks.agent.tools.filesystem import Edit, MultiEdit, Read, Write
from amplifier_hooks.agent.tools.search import Glob, Grep
from amplifier_hooks.agent.tools.todo import Todo
from amplifier_hooks.cli.commands.hooks import find_meant_tool
from amplifier_hooks.guards.policy import tool_calls

TOOLS = (
    Bash,
    Delegate,
    Edit,
    Glob,
    Grep,
    MultiEdit,
    Read,
    Todo,
    Write,
)


def test_every_tool_that_comes_along_is_known() -> None:
    """By the name that the model calls it."""
    assert {tool.name for tool in TOOLS} <= tool_calls.TOOLS


@pytest.mark.parametrize(
    ("name", "meant"),
    [("Bsh", "Bash"), ("bash", "Bash"), ("wirte", "Write"), ("Bash", None), ("deploy", None)],
)
def test_a_slip_is_told_from_a_name_of_its_own(name: str, meant: str | None) -> None:
    """A letter too many, missing, wrong or swapped, and the case of letters."""
    assert find_meant_tool(name) == meant
