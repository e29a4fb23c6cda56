"""hooks-injection-guard: find instructions to the model in what tools and servers say.

Listens to  tool:post, tool:error, mcp:list, and tool:pre for what a server asks of the model
Answers     inject_context, modify, ask_user or deny, or continue
Configure   on_result, on_list, on_request, tools, allow_in_tools, languages, off, patterns, allow,
            longest, replacement, priority, timeout, approval_*

It knows patterns: silence is no proof that a text is harmless.
"""

from __future__ import annotations

from amplifier_hooks.guards.injection_guard.guard import NAME, Config, mount

__all__ = ["NAME", "Config", "mount"]
