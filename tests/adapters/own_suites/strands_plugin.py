"""A plugin for Strands' own tests: every agent gets our plugin, with hooks that let all pass.

Unpack the source distribution of the installed version, and in its folder:
PYTHONPATH=<this folder> python -m pytest -p strands_plugin tests/strands/agent
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import strands

from amplifier_apps.adapters import govern
from amplifier_apps.adapters.strands import AmplifierHooks
from amplifier_core import HookRegistry, HookResult

EVENTS = (
    "session:start",
    "prompt:submit",
    "provider:request",
    "provider:response",
    "tool:pre",
    "tool:post",
    "tool:error",
    "prompt:answer",
    "session:end",
)

heard: Counter[str] = Counter()
registry = HookRegistry()


async def let_pass(event: str, data: dict[str, Any]) -> HookResult:
    """Count."""
    heard[event] += 1
    return HookResult()


for name in EVENTS:
    registry.register(name, let_pass, name="let-pass")

make_agent: Any = strands.Agent.__init__


@functools.wraps(make_agent)
def make_governed_agent(self: Any, *args: Any, **kwargs: Any) -> None:
    """The agent that the test wants, with our plugin in front of it."""
    make_agent(self, *args, **kwargs)
    AmplifierHooks(govern(registry)).attach(self)


strands.Agent.__init__ = make_governed_agent


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how much went through the hooks."""
    counted = ", ".join(f"{name} {heard[name]}" for name in EVENTS)
    terminalreporter.write_line(f"heard: {counted}")
