"""Hooks in front of agents that are built with Pydantic AI."""

from amplifier_hooks.coverage import PYDANTIC_AI, Coverage
from amplifier_hooks.frameworks.pydantic_ai.capability import AmplifierHooks
from amplifier_hooks.frameworks.pydantic_ai.tools import resume
from amplifier_hooks.frameworks.pydantic_ai.turn import RunRefused


def coverage() -> Coverage:
    """What hooks see of such an agent, and what their answers can do."""
    return PYDANTIC_AI


__all__ = ["AmplifierHooks", "RunRefused", "coverage", "resume"]
