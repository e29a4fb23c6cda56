"""A plugin for Strands' own tests: every agent gets our plugin, with hooks that let all pass.

Unpack the source distribution of the installed version, and in its folder:
PYTHONPATH=<this folder> python -m pytest -p strands_plugin tests/strands/agent
"""

from __future__ import annotations

import functools
from typing import Any

import strands
from letting_pass import pytest_terminal_summary as pytest_terminal_summary
from letting_pass import registry

from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.strands import AmplifierHooks

make_agent: Any = strands.Agent.__init__


@functools.wraps(make_agent)
def make_governed_agent(self: Any, *args: Any, **kwargs: Any) -> None:
    """The agent that the test wants, with our plugin in front of it."""
    make_agent(self, *args, **kwargs)
    AmplifierHooks(govern(registry)).attach(self)


strands.Agent.__init__ = make_governed_agent
