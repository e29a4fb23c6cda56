"""A plugin for FastMCP's own tests: every server gets our middleware, with hooks that let all pass.

Unpack the source distribution of the installed version, and in its folder:
PYTHONPATH=<this folder> python -m pytest -p fastmcp_plugin -m "not integration" tests/server
"""

from __future__ import annotations

import functools
from typing import Any

from fastmcp import FastMCP
from letting_pass import pytest_terminal_summary as pytest_terminal_summary
from letting_pass import registry

from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.fastmcp import AmplifierMCP

run_middleware: Any = FastMCP._run_middleware


@functools.wraps(run_middleware)
async def run_governed(self: Any, context: Any, call_next: Any, **kwargs: Any) -> Any:
    """Run the middleware of a server, with ours behind it."""
    ours = self.__dict__.setdefault("_amplifier", AmplifierMCP(govern(registry)))

    async def call_governed(context: Any) -> Any:
        return await ours(context, call_next)

    return await run_middleware(self, context, call_governed, **kwargs)


FastMCP._run_middleware = run_governed
