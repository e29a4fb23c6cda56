"""The shell-hook protocols of several agents, one file each."""

from __future__ import annotations

from amplifier_hooks.coding_agents.dialects import claude, codex, copilot, cursor, gemini, opencode
from amplifier_hooks.coding_agents.dialects.dialect import Dialect

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        claude.DIALECT,
        codex.DIALECT,
        gemini.DIALECT,
        cursor.DIALECT,
        copilot.DIALECT,
        copilot.CLAUDE_FORM,
        opencode.DIALECT,
    )
}

__all__ = ["DIALECTS", "Dialect"]

PUBLIC_MODULES = (
    "claude",
    "dialect",
    "reading",
    "writing",
)
