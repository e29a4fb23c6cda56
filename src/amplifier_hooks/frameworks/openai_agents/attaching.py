"""Putting hooks in front of everything that an agent can use: tools, hand-offs, other agents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agents import (
    Agent,
    ApplyPatchTool,
    CustomTool,
    FunctionTool,
    Handoff,
    LocalShellTool,
    ShellTool,
)

from amplifier_hooks.frameworks.openai_agents.executors import (
    govern_custom,
    govern_editor,
    govern_local_shell,
    govern_shell,
)
from amplifier_hooks.frameworks.openai_agents.handoffs import govern_handoff
from amplifier_hooks.frameworks.openai_agents.tools import govern_function
from amplifier_hooks.frameworks.openai_agents.turn import Board, Turn

_OTHERS: dict[type, Any] = {
    CustomTool: govern_custom,
    ShellTool: govern_shell,
    LocalShellTool: govern_local_shell,
    ApplyPatchTool: govern_editor,
}


def attach_request(tools: Iterable[Any], handoffs: Iterable[Handoff[Any, Any]], turn: Turn) -> None:
    """Reach whatever the model is told that it can use."""
    attach_tools(tools, turn.board)
    attach_handoffs(handoffs, turn.board)


def attach_tools(tools: Iterable[Any], board: Board) -> None:
    """Put hooks in front of tools, and of the agents behind them."""
    for tool in tools:
        if isinstance(tool, FunctionTool):
            govern_function(tool, board)
            inner = getattr(tool, "_agent_instance", None)
            if isinstance(inner, Agent):
                board.adopt(inner, board)
            continue
        for kind, govern in _OTHERS.items():
            if isinstance(tool, kind):
                govern(tool)


def attach_handoffs(handoffs: Iterable[Any], board: Board) -> None:
    """Put hooks in front of hand-offs, and of the agents behind them."""
    for one in handoffs:
        if isinstance(one, Handoff):
            govern_handoff(one)
            reference = getattr(one, "_agent_ref", None)
            one = reference() if reference is not None else None
        if isinstance(one, Agent):
            board.adopt(one, board)
