"""tool-mcp: the tools of MCP servers, as `mcp__server__tool`.

Listens to  tool:pre, for tools whose definition nobody has allowed; approval:granted
Answers     ask_user, or continue
Emits       mcp:list, with what a server says of its tools, before a model reads it
Configure   servers: by name, each with command, args, env, cwd or url, headers; and tools, exclude,
            new_tools, timeout, start_timeout, required, restart
"""

from __future__ import annotations

from amplifier_hooks.agent.tools.mcp.launch import NAME, Config
from amplifier_hooks.agent.tools.mcp.module import mount, on_session_ready

__all__ = ["NAME", "Config", "mount", "on_session_ready"]
