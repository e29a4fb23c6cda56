"""Questions that hooks ask about tool calls."""

from __future__ import annotations

from typing import Any

from amplifier_core.approval import ApprovalQuestion

OPTIONS = ("Allow once", "Allow always", "Deny")


def ask(tool: str = "Bash", hook: str = "my-hook", **given: Any) -> ApprovalQuestion:
    """A question about a call with this input."""
    return ApprovalQuestion(
        "Go on?",
        OPTIONS,
        60,
        "deny",
        hook=hook,
        event="tool:pre",
        tool_name=tool,
        tool_input=given,
        digest="ab" * 32,
    )
