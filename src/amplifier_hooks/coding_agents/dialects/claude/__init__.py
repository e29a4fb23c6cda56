"""Claude Code: settings.json, event → matcher → handlers, all in parallel, open on failure."""

from __future__ import annotations

from amplifier_hooks.coding_agents.dialects.claude.answers import (
    build_answer,
    read_reply,
    write_reply,
)
from amplifier_hooks.coding_agents.dialects.claude.events import (
    EVENTS,
    INPUT_KEYS,
    OLDER_NAMES,
    TOOL_NAMES,
    build_common,
    build_environment,
    build_response,
    find_parts,
)
from amplifier_hooks.coding_agents.dialects.dialect import Dialect
from amplifier_hooks.coding_agents.dialects.matcher import matches_listed

DIALECT = Dialect(
    name="claude",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    write_reply=write_reply,
    matches=matches_listed,
    timeout=600.0,
    timeouts={"UserPromptSubmit": 30.0, "MessageDisplay": 10.0, "SessionEnd": 1.5},
    tool_names=TOOL_NAMES,
    older_names=OLDER_NAMES,
    input_keys=INPUT_KEYS,
    find_parts=find_parts,
    tried="2.1.327",
)

__all__ = [
    "DIALECT",
    "EVENTS",
    "TOOL_NAMES",
    "build_answer",
    "build_common",
    "build_environment",
    "build_response",
    "read_reply",
    "write_reply",
]
