"""Hooks in front of agents and chat clients of Microsoft Agent Framework."""

from amplifier_hooks.coverage import AGENT_FRAMEWORK, Coverage
from amplifier_hooks.frameworks.agent_framework.hooks import respond
from amplifier_hooks.frameworks.agent_framework.middleware import (
    AmplifierMiddleware,
    amplifier,
    amplify_client,
)

__all__ = ["AmplifierMiddleware", "amplifier", "amplify_client", "coverage", "respond"]


def coverage() -> Coverage:
    """What the adapter sees, and what it does not."""
    return AGENT_FRAMEWORK
