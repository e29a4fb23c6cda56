"""hooks-logging: write every event as one line of JSON.

Listens to  every event that `events` names and `exclude` does not
Answers     continue
Configure   path, events, exclude, level, levels, max_bytes, backups, max_line_bytes, priority
"""

from __future__ import annotations

from amplifier_hooks.guards.logging.config import NAME, Config
from amplifier_hooks.guards.logging.event_log import mount

__all__ = ["NAME", "Config", "mount"]
