"""A plugin for Pydantic AI's own tests: every agent has our hooks, which let everything pass.

Its newer source distributions have no tests. Those of an older one (1.22.0) do not all fit a newer
version, but can still be compared, with the plugin and without. In the folder of that one:
PYTHONPATH=<this folder> python -m pytest -p pydantic_ai_plugin tests/test_tools.py
"""

from __future__ import annotations

import functools
from typing import Any

from letting_pass import pytest_terminal_summary as pytest_terminal_summary
from letting_pass import registry
from pydantic_ai import Agent

from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.pydantic_ai import AmplifierHooks

make_agent: Any = Agent.__init__


@functools.wraps(make_agent)
def make_governed_agent(self: Any, *args: Any, **kwargs: Any) -> None:
    """The agent that the test wants, with our capability beside its own."""
    ours = AmplifierHooks(govern(registry))
    wanted = [*(kwargs.pop("capabilities", None) or ()), ours]
    make_agent(self, *args, capabilities=wanted, **kwargs)


Agent.__init__ = make_governed_agent  # type: ignore[method-assign]
