"""Mounts tool-filesystem."""

from __future__ import annotations

from typing import Any

from amplifier_core.interfaces import Cleanup, Host
from amplifier_hooks.agent.tools.base import mount_tools
from amplifier_hooks.agent.tools.filesystem.edit import Edit, MultiEdit
from amplifier_hooks.agent.tools.filesystem.file_tool import FilesystemConfig, FileTool
from amplifier_hooks.agent.tools.filesystem.read import Read
from amplifier_hooks.agent.tools.filesystem.write import Write
from amplifier_hooks.modules.options import parse_known

NAME = "tool-filesystem"
_TOOLS: tuple[type[FileTool[Any]], ...] = (Read, Write, Edit, MultiEdit)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Mount the four file tools, or those that `tools` names."""
    options = await parse_known(coordinator, FilesystemConfig, config, NAME)
    tools = [tool(coordinator, options) for tool in _TOOLS]
    return await mount_tools(coordinator, tools, options.tools, NAME)
