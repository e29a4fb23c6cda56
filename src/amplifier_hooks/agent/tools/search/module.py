"""Mounts tool-search."""

from __future__ import annotations

from typing import Any

from amplifier_core.interfaces import Cleanup, Host, Tool
from amplifier_hooks.agent.tools.base import mount_tools
from amplifier_hooks.agent.tools.search.glob import Glob
from amplifier_hooks.agent.tools.search.grep import Grep
from amplifier_hooks.agent.tools.search.search_tool import SearchConfig
from amplifier_hooks.modules.options import parse_known

NAME = "tool-search"


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Mount Glob and Grep, or the one that `tools` names."""
    options = await parse_known(coordinator, SearchConfig, config, NAME)
    tools: list[Tool] = [Glob(coordinator, options), Grep(coordinator, options)]
    return await mount_tools(coordinator, tools, options.tools, NAME)
