"""OpenCode's tools: what they and their fields are called, and what else a call of one does."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

from amplifier_hooks.coding_agents.dialects.codex import patches
from amplifier_hooks.coding_agents.dialects.fields import get_text
from amplifier_hooks.external.incoming import Incoming

TOOL_NAMES = {
    "Bash": "bash",
    "Read": "read",
    "Write": "write",
    "Edit": "edit",
    "Glob": "glob",
    "Grep": "grep",
    "LS": "list",
    "WebFetch": "webfetch",
    "WebSearch": "websearch",
    "Todo": "todowrite",
    "Delegate": "task",
}
INPUT_KEYS = {
    "Read": {"file_path": "filePath"},
    "Write": {"file_path": "filePath"},
    "Edit": {
        "file_path": "filePath",
        "old_string": "oldString",
        "new_string": "newString",
        "replace_all": "replaceAll",
    },
    "Grep": {"glob": "include"},
    "Delegate": {"agent_name": "subagent_type", "task": "prompt"},
}


def find_parts(incoming: Incoming) -> tuple[dict[str, Any], ...]:
    """A command where it really runs, and each file of a patch."""
    name, given = incoming.data["tool_name"], incoming.data["tool_input"]
    folder = get_text(given, "workdir")
    if name == "Bash" and folder:
        command = f"cd {shlex.quote(folder)} && {get_text(given, 'command')}"
        return ({"tool_name": "Bash", "tool_input": {"command": command}},)
    if name == "apply_patch":
        patch = {"tool_name": name, "tool_input": {"command": given.get("patchText")}}
        return patches.find_parts(replace(incoming, data=patch))
    return ()
