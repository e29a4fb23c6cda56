"""Hooks in front of agents built with Strands.

Agent(model=model, tools=tools, plugins=[AmplifierHooks("amplifier.yaml")])
"""

from amplifier_apps.adapters.strands.plugin import AmplifierHooks
from amplifier_apps.coverage.coverage import Coverage
from amplifier_apps.coverage.strands import COVERAGE

__all__ = ["AmplifierHooks", "coverage"]


def coverage() -> Coverage:
    """What hooks see here, and what their answers can do."""
    return COVERAGE
