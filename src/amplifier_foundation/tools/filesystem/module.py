"""Mounts tool-filesystem."""

from __future__ import annotations

from typing import Any

from amplifier_core.interfaces import Cleanup, Host
from amplifier_foundation.modules.options import parse_known
from amplifier_foundation.tools.base import mount_tools
from amplifier_foundation.tools.filesystem.edit import Edit, MultiEdit
from amplifier_foundation.tools.filesystem.file_tool import FilesystemConfig, FileTool
from amplifier_foundation.tools.filesystem.read import Read
from amplifier_foundation.tools.filesystem.write import Write

NAME = "tool-filesystem"
_TOOLS: tuple[type[FileTool[Any]], ...] = (Read, Write, Edit, MultiEdit)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Mount the four file tools, or those that `tools` names."""
    options = await parse_known(coordinator, FilesystemConfig, config, NAME)
    tools = [tool(coordinator, options) for tool in _TOOLS]
    return await mount_tools(coordinator, tools, options.tools, NAME)
