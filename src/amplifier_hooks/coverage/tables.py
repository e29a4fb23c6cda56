"""All tables, in the order of how many people use the frameworks."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from amplifier_hooks import coverage
from amplifier_hooks.coverage.coverage import Coverage

ORDER = (
    "langchain",
    "pydantic-ai",
    "openai-agents",
    "claude-agent-sdk",
    "crewai",
    "google-adk",
    "strands",
    "agent-framework",
    "fastmcp",
    "agent-hooks",
)


def list_coverage() -> list[Coverage]:
    """The table of every adapter; none of them imports its framework."""
    found = []
    for module in iter_modules(coverage.__path__):
        table = getattr(import_module(f"{coverage.__name__}.{module.name}"), "COVERAGE", None)
        if isinstance(table, Coverage):
            found.append(table)
    return sorted(found, key=lambda one: ORDER.index(one.name))
