"""A plugin for CrewAI's own tests: hooks that let all pass in front of every crew and agent.

Unpack the source distribution of the installed version, and in its folder:
PYTHONPATH=<this folder> python -m pytest -p crewai_plugin tests/hooks tests/test_task.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from amplifier_apps.adapters import govern
from amplifier_apps.adapters.crewai import amplified
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


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Iterator[None]:
    """Each test in a block: the tests clear the hooks of the whole program."""
    with amplified(govern(registry)):
        return (yield)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how much went through the hooks."""
    counted = ", ".join(f"{name} {heard[name]}" for name in EVENTS)
    terminalreporter.write_line(f"heard: {counted}")
