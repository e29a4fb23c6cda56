"""A plugin for LangChain's own tests: every agent gets our middleware; its hooks let all pass.

Unpack the source distribution of the installed version, and in its folder:
PYTHONPATH=<this folder> python -m pytest -p langchain_plugin tests/unit_tests/agents
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import langchain.agents
import langchain.agents.factory

from amplifier_apps.adapters import govern
from amplifier_apps.adapters.langchain import AmplifierMiddleware
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

create_agent: Any = langchain.agents.factory.create_agent


@functools.wraps(create_agent)
def create_governed_agent(*args: Any, middleware: Any = (), **kwargs: Any) -> Any:
    """The agent that the test wants, with one more middleware at the end."""
    ours = AmplifierMiddleware(govern(registry))
    return create_agent(*args, middleware=[*middleware, ours], **kwargs)


langchain.agents.factory.create_agent = create_governed_agent
langchain.agents.create_agent = create_governed_agent


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how much went through the hooks."""
    counted = ", ".join(f"{name} {heard[name]}" for name in EVENTS)
    terminalreporter.write_line(f"heard: {counted}")
