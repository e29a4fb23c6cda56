"""The same hooks in front of agents of the Claude Agent SDK."""

from amplifier_hooks.coverage import CLAUDE_AGENT_SDK, Coverage
from amplifier_hooks.frameworks.claude_agent_sdk.client import (
    AmplifiedClient,
    amplified_query,
    amplifier_hooks,
    amplifier_options,
)
from amplifier_hooks.frameworks.claude_agent_sdk.session import Questions

__all__ = [
    "AmplifiedClient",
    "Questions",
    "amplified_query",
    "amplifier_hooks",
    "amplifier_options",
    "coverage",
]


def coverage() -> Coverage:
    """What hooks see of this framework."""
    return CLAUDE_AGENT_SDK
