"""Hooks in front of agents built with Google's Agent Development Kit.

Runner(agent=agent, app_name="app", plugins=[AmplifierPlugin("amplifier.yaml")], ...)
"""

from amplifier_hooks.coverage import GOOGLE_ADK, Coverage
from amplifier_hooks.frameworks.google_adk.plugin import AmplifierPlugin

__all__ = ["AmplifierPlugin", "coverage"]


def coverage() -> Coverage:
    """What hooks see here, and what their answers can do."""
    return GOOGLE_ADK
