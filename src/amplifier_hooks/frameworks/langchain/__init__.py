"""The same hooks in front of agents of LangChain."""

from amplifier_hooks.coverage.coverage import Coverage
from amplifier_hooks.coverage.langchain import COVERAGE
from amplifier_hooks.frameworks.langchain.middleware import AmplifierMiddleware

__all__ = ["AmplifierMiddleware", "coverage"]


def coverage() -> Coverage:
    """What hooks see of this framework."""
    return COVERAGE
