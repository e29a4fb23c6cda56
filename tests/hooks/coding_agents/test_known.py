"""The agents' names are cheap to know: the help lists them."""

from __future__ import annotations

from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.installing.places import PLACES
from amplifier_hooks.coding_agents.known import TITLES


def test_every_agent_has_a_title_and_a_place() -> None:
    """In one order."""
    assert list(TITLES) == list(AGENTS) == list(PLACES)
    assert all(AGENTS[name].title == title for name, title in TITLES.items())
