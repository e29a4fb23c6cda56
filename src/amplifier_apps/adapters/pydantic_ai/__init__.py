"""Hooks in front of agents that are built with Pydantic AI."""

from amplifier_apps.adapters.pydantic_ai.capability import AmplifierHooks
from amplifier_apps.adapters.pydantic_ai.interrupts import resume
from amplifier_apps.adapters.pydantic_ai.refusal import RunRefused
from amplifier_apps.coverage.coverage import Coverage
from amplifier_apps.coverage.pydantic_ai import COVERAGE


def coverage() -> Coverage:
    """What hooks see of such an agent, and what their answers can do."""
    return COVERAGE


__all__ = ["AmplifierHooks", "RunRefused", "coverage", "resume"]
