"""Copilot CLI: camelCase, or Claude's form where the event is written like Claude's; in order."""

from __future__ import annotations

from amplifier_hooks.coding_agents.dialects.copilot import claude_form
from amplifier_hooks.coding_agents.dialects.copilot.answers import (
    read_claude_reply,
    read_reply,
    write_reply,
)
from amplifier_hooks.coding_agents.dialects.copilot.events import (
    EVENTS,
    INPUT_KEYS,
    OLDER_NAMES,
    TOOL_NAMES,
    build_common,
    build_environment,
    find_parts,
)
from amplifier_hooks.coding_agents.dialects.dialect import Dialect
from amplifier_hooks.coding_agents.dialects.matcher import matches_listed, matches_whole

CLAUDE_FORM = Dialect(
    name="copilot-claude",
    events=claude_form.CLAUDE_EVENTS,
    build_common=claude_form.build_common,
    build_environment=build_environment,
    read_reply=read_claude_reply,
    write_reply=write_reply,
    matches=matches_listed,
    timeout=30.0,
    in_order=True,
    closed=frozenset({"PreToolUse", "PermissionRequest"}),
    tool_names=claude_form.CLAUDE_NAMES,
    older_names=claude_form.OTHER_NAMES,
    input_keys=INPUT_KEYS,
    find_parts=find_parts,
)

DIALECT = Dialect(
    name="copilot",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    write_reply=write_reply,
    matches=matches_whole,
    timeout=30.0,
    in_order=True,
    closed=frozenset({"preToolUse", "permissionRequest"}),
    tool_names=TOOL_NAMES,
    older_names=OLDER_NAMES,
    input_keys=INPUT_KEYS,
    keys=claude_form.CAMEL_KEYS,
    find_parts=find_parts,
    tried="1.0.102",
    variant=CLAUDE_FORM,
)
