"""Runs the SDK's own tests with hooks in front of every agent: they say continue, and count.

In an unpacked source distribution of openai-agents, with its development dependencies:
    PYTHONPATH=<this folder> python -m pytest -p openai_agents_plugin tests
"""

from __future__ import annotations

from typing import Any

import agents.run
from agents import Agent
from letting_pass import pytest_terminal_summary as pytest_terminal_summary
from letting_pass import registry

from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.openai_agents.runner import adopt, install_runner
from amplifier_hooks.frameworks.openai_agents.turn import Board


def make_board() -> Board:
    """One board for all agents of the suite."""
    return Board(govern(registry), "inline", adopt)


def attach() -> None:
    """Govern every agent when it is made, and keep our runner in place."""
    board = make_board()
    finish_making, set_runner = Agent.__post_init__, agents.run.set_default_agent_runner

    def finish_and_adopt(self: Agent[Any]) -> None:
        finish_making(self)
        adopt(self, board)

    def set_and_install(runner: Any) -> None:
        set_runner(runner)
        install_runner()

    Agent.__post_init__ = finish_and_adopt  # type: ignore[method-assign]
    agents.run.set_default_agent_runner = set_and_install
    install_runner()


attach()
