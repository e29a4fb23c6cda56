"""A plugin for FastMCP's own tests: every server gets our middleware, with hooks that let all pass.

Unpack the source distribution of the installed version, and in its folder:
PYTHONPATH=<this folder> python -m pytest -p fastmcp_plugin -m "not integration" tests/server
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

from fastmcp import FastMCP

from amplifier_apps.adapters import govern
from amplifier_apps.adapters.fastmcp import AmplifierMCP
from amplifier_core import HookRegistry, HookResult

EVENTS = ("session:start", "tool:pre", "tool:post", "tool:error", "session:end")

heard: Counter[str] = Counter()
registry = HookRegistry()


async def let_pass(event: str, data: dict[str, Any]) -> HookResult:
    """Count."""
    heard[event] += 1
    return HookResult()


for name in EVENTS:
    registry.register(name, let_pass, name="let-pass")

run_middleware: Any = FastMCP._run_middleware


@functools.wraps(run_middleware)
async def run_governed(self: Any, context: Any, call_next: Any, **kwargs: Any) -> Any:
    """Run the middleware of a server, with ours behind it."""
    ours = self.__dict__.setdefault("_amplifier", AmplifierMCP(govern(registry)))

    async def call_governed(context: Any) -> Any:
        return await ours(context, call_next)

    return await run_middleware(self, context, call_governed, **kwargs)


FastMCP._run_middleware = run_governed


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how much went through the hooks."""
    counted = ", ".join(f"{name} {heard[name]}" for name in EVENTS)
    terminalreporter.write_line(f"heard: {counted}")
