"""Gemini CLI: its own names of events and tools, milliseconds, groups in parallel or in order."""

from __future__ import annotations

from amplifier_hooks.coding_agents.dialects.dialect import Dialect
from amplifier_hooks.coding_agents.dialects.gemini.answers import read_reply, write_reply
from amplifier_hooks.coding_agents.dialects.gemini.events import (
    EVENTS,
    INPUT_KEYS,
    OLDER_NAMES,
    TOOL_NAMES,
    build_common,
    build_environment,
    find_parts,
)
from amplifier_hooks.coding_agents.dialects.matcher import matches_regex

DIALECT = Dialect(
    name="gemini",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    write_reply=write_reply,
    matches=matches_regex,
    timeout=60.0,
    unit=0.001,
    passes_input_on=True,
    tool_names=TOOL_NAMES,
    input_keys=INPUT_KEYS,
    older_names=OLDER_NAMES,
    find_parts=find_parts,
    tried="0.61.0",
)
