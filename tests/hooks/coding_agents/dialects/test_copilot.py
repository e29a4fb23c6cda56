"""Copilot CLI's hook files in both spellings, from the file to our agent."""

from __future__ import annotations

import json
from pathlib import Path

from tests.hooks.coding_agents.shell_hooks.hook_files import read_log, write_file
from tests.support.harness import Harness


async def test_a_hooks_file_works_unchanged_and_its_gate_is_closed(
    harness: Harness, tmp_path: Path
) -> None:
    """Its keys, its variables, its way to rewrite, its failures and its timeouts."""
    log = tmp_path / "log"
    rewrite = """printf '{"modifiedArgs":{"command":"%s"}}' "$WHAT\""""
    hooks = [
        {
            "type": "command",
            "bash": f"tee {log} >/dev/null; {rewrite}",
            "env": {"WHAT": "safe"},
            "timeoutSec": 5,
            "matcher": "bash",
        },
        {"type": "command", "bash": "exit 1", "matcher": "view"},
        {"type": "command", "bash": "sleep 9", "matcher": "create", "timeoutSec": 0.2},
    ]
    content = {"version": 1, "hooks": {"preToolUse": hooks}}
    write_file(tmp_path, ".github/hooks/a.json", content)
    async with harness.mounted("shell", {"settings": [".github/hooks/*.json"]}):
        result = await harness.pre("Bash", command="ls")
        read_ = await harness.pre("Read", file_path="x")
        slow = await harness.pre("Write", file_path="x")
    assert result.data["tool_input"] == {"command": "safe"}
    [seen] = [json.loads(log.read_text())]
    assert (seen["toolName"], seen["toolArgs"]) == ("bash", {"command": "ls"})
    assert (read_.action, slow.action) == ("deny", "continue")


async def test_a_file_in_claudes_spelling_works_too(harness: Harness, tmp_path: Path) -> None:
    """With a list of names as its matcher."""
    log = tmp_path / "log"
    content = {"hooks": {"PreToolUse": [{"bash": f"cat >> {log}", "matcher": "Bash|Edit"}]}}
    async with harness.mounted("shell", {"hooks": content, "dialect": "copilot"}):
        await harness.pre("Bash", command="ls")
        await harness.pre("Read", file_path="x")
    [seen] = read_log(log)
    assert seen["tool_name"] == "Bash"
