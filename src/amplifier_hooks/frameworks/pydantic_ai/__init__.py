"""Hooks in front of agents that are built with Pydantic AI."""

from amplifier_hooks.coverage.coverage import Coverage
from amplifier_hooks.coverage.pydantic_ai import COVERAGE
from amplifier_hooks.frameworks.pydantic_ai.capability import AmplifierHooks
from amplifier_hooks.frameworks.pydantic_ai.interrupts import resume
from amplifier_hooks.frameworks.pydantic_ai.refusal import RunRefused


def coverage() -> Coverage:
    """What hooks see of such an agent, and what their answers can do."""
    return COVERAGE


__all__ = ["AmplifierHooks", "RunRefused", "coverage", "resume"]
