"""The same hooks in front of crews of CrewAI."""

from amplifier_apps.adapters.crewai.attaching import amplified, amplify_crewai
from amplifier_apps.coverage.coverage import Coverage
from amplifier_apps.coverage.crewai import COVERAGE

__all__ = ["amplified", "amplify_crewai", "coverage"]


def coverage() -> Coverage:
    """What hooks see of this framework."""
    return COVERAGE
