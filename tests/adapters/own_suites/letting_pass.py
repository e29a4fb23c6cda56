"""Hooks that let everything pass and count it, for the frameworks' own tests.

The plugins beside this file are used in the folder of a framework's source distribution:
PYTHONPATH=<this folder> python -m pytest -p langchain_plugin tests/unit_tests/agents
"""

from __future__ import annotations

from collections import Counter
from typing import Any

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


for _event in EVENTS:
    registry.register(_event, let_pass, name="let-pass")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how much went through the hooks."""
    counted = ", ".join(f"{name} {heard[name]}" for name in EVENTS)
    terminalreporter.write_line(f"heard: {counted}")
