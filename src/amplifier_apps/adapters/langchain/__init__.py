"""The same hooks in front of agents of LangChain."""

from amplifier_apps.adapters.coverage.coverage import Coverage
from amplifier_apps.adapters.coverage.langchain import COVERAGE
from amplifier_apps.adapters.langchain.middleware import AmplifierMiddleware

__all__ = ["AmplifierMiddleware", "coverage"]


def coverage() -> Coverage:
    """What hooks see of this framework."""
    return COVERAGE
