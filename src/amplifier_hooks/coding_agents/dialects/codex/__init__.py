"""Codex CLI: Claude's shape with fewer answers; others are rejected, and the call goes ahead."""

from __future__ import annotations

from dataclasses import replace

from amplifier_hooks.coding_agents.dialects import claude
from amplifier_hooks.coding_agents.dialects.codex.answers import read_reply, write_reply
from amplifier_hooks.coding_agents.dialects.codex.events import (
    EVENTS,
    INPUT_KEYS,
    TOOL_NAMES,
    build_common,
)
from amplifier_hooks.coding_agents.dialects.codex.patches import find_parts

DIALECT = replace(
    claude.DIALECT,
    name="codex",
    events=EVENTS,
    build_common=build_common,
    read_reply=read_reply,
    write_reply=write_reply,
    timeouts={"SessionEnd": 1.0, "Interrupt": 1.0},
    tool_names=TOOL_NAMES,
    older_names={},
    input_keys=INPUT_KEYS,
    find_parts=find_parts,
    tried="0.169.0",
)

__all__ = ["DIALECT", "EVENTS"]
