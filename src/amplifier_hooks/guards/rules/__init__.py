"""hooks-rules: apply policies written in YAML.

Listens to  the events that the rules name
Answers     whatever the rules say: deny, ask_user, modify, inject_context, continue
Configure   rules, file, dry_run, on_error, unclear, path_keys, command_keys, priority, timeout
"""

from __future__ import annotations

from amplifier_hooks.guards.rules.loading import NAME, Config, mount, read_file

__all__ = ["NAME", "Config", "mount", "read_file"]

PUBLIC_MODULES = (
    "engine",
    "loading",
    "matching",
    "rule",
    "rule_lines",
)
