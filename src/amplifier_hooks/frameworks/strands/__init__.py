"""Hooks in front of agents built with Strands.

Agent(model=model, tools=tools, plugins=[AmplifierHooks("amplifier.yaml")])
"""

from amplifier_hooks.coverage import STRANDS, Coverage
from amplifier_hooks.frameworks.strands.plugin import AmplifierHooks

__all__ = ["AmplifierHooks", "coverage"]


def coverage() -> Coverage:
    """What hooks see here, and what their answers can do."""
    return STRANDS
