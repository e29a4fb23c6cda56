"""hooks-progress-monitor: show progress, and step in when the agent goes in circles.

Listens to  prompt:submit, tool:pre, tool:post, tool:error, provider:request,
            orchestrator:complete, session:end
Answers     user messages; inject_context for a nudge; ask_user or deny as the last resort
Configure   show, interval, repeats, cycles, reads, reading_tools, last_resort, ephemeral, priority
"""

from __future__ import annotations

from amplifier_hooks.guards.progress_monitor.config import NAME, Config
from amplifier_hooks.guards.progress_monitor.monitor import mount

__all__ = ["NAME", "Config", "mount"]
