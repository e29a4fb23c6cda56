"""hooks-shell: run the hook scripts and settings files of coding agents, unchanged.

Listens to  the events that the configured hooks stand for
Answers     deny, modify, inject_context or ask_user, as the scripts say
Configure   settings, hooks, dialect, priority, timeout, fail_closed, project_dir, output_limit
"""

from __future__ import annotations

from amplifier_hooks.coding_agents.shell_hooks.module import mount

__all__ = ["mount"]

PUBLIC_MODULES = (
    "config",
    "module",
    "selector",
)
