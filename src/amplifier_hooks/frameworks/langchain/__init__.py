"""The same hooks in front of agents of LangChain."""

from amplifier_hooks.coverage import LANGCHAIN, Coverage
from amplifier_hooks.frameworks.langchain.middleware import AmplifierMiddleware

__all__ = ["AmplifierMiddleware", "coverage"]


def coverage() -> Coverage:
    """What hooks see of this framework."""
    return LANGCHAIN
