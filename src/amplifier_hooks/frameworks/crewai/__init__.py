"""The same hooks in front of crews of CrewAI."""

from amplifier_hooks.coverage import CREWAI, Coverage
from amplifier_hooks.frameworks.crewai.attaching import amplified, amplify_crewai

__all__ = ["amplified", "amplify_crewai", "coverage"]


def coverage() -> Coverage:
    """What hooks see of this framework."""
    return CREWAI
