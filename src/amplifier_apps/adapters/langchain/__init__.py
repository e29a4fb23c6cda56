"""The same hooks in front of agents of LangChain."""

from amplifier_apps.adapters.langchain.middleware import AmplifierMiddleware
from amplifier_apps.coverage.coverage import Coverage
from amplifier_apps.coverage.langchain import COVERAGE

__all__ = ["AmplifierMiddleware", "coverage"]


def coverage() -> Coverage:
    """What hooks see of this framework."""
    return COVERAGE
