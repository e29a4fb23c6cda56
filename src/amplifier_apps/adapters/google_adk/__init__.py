"""Hooks in front of agents built with Google's Agent Development Kit.

Runner(agent=agent, app_name="app", plugins=[AmplifierPlugin("amplifier.yaml")], ...)
"""

from amplifier_apps.adapters.google_adk.plugin import AmplifierPlugin
from amplifier_apps.coverage.coverage import Coverage
from amplifier_apps.coverage.google_adk import COVERAGE

__all__ = ["AmplifierPlugin", "coverage"]


def coverage() -> Coverage:
    """What hooks see here, and what their answers can do."""
    return COVERAGE
