"""Hooks in front of agents and chat clients of Microsoft Agent Framework."""

from amplifier_apps.adapters.agent_framework.client import amplify_client
from amplifier_apps.adapters.agent_framework.middleware import AmplifierMiddleware, amplifier
from amplifier_apps.adapters.agent_framework.questions import respond
from amplifier_apps.coverage.agent_framework import COVERAGE
from amplifier_apps.coverage.coverage import Coverage

__all__ = ["AmplifierMiddleware", "amplifier", "amplify_client", "coverage", "respond"]


def coverage() -> Coverage:
    """What the adapter sees, and what it does not."""
    return COVERAGE
