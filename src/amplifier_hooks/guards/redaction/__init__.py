"""hooks-redaction: replace secrets wherever they appear, and ask before one is written.

Listens to  prompt:submit, provider:request, provider:response, tool:pre, tool:post, tool:error,
            mcp:list and the notifications that repeat their texts
Answers     modify, ask_user or deny, or continue; registers a scrubber for display, trail, logs
            and saved state
Configure   on_write, off, patterns, allow, environment, allow_in_tools, events, replacement,
            notify, priority, write_priority, timeout, approval_*
"""

from __future__ import annotations

from amplifier_hooks.guards.redaction.config import FIELDS, NAME, Config
from amplifier_hooks.guards.redaction.module import mount

__all__ = ["FIELDS", "NAME", "Config", "mount"]
