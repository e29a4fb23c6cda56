"""Gemini CLI's settings files, from the file to our agent."""

from __future__ import annotations

import json
from pathlib import Path

from amplifier_hooks.coding_agents.shell_hooks.settings import read_settings_file
from tests.hooks.coding_agents.shell_hooks.hook_files import make_command, read_log, write_file
from tests.support.harness import Harness


async def test_a_settings_file_works_unchanged(harness: Harness, tmp_path: Path) -> None:
    """Its events, its names of tools, its milliseconds and its way to rewrite."""
    log = tmp_path / "log"
    answer = {"hookSpecificOutput": {"tool_input": {"command": "pwd", "timeout": 5}}}
    command = f"tee {log} >/dev/null; printf '%s' '{json.dumps(answer)}'"
    group = {
        "matcher": "run_shell_.*",
        "hooks": [{"type": "command", "command": command, "timeout": 5000}],
    }
    path = write_file(tmp_path, ".gemini/settings.json", {"hooks": {"BeforeTool": [group]}})
    assert read_settings_file(path, "auto").handlers[0].timeout == 5.0
    async with harness.mounted("shell", {"settings": [str(path)]}):
        result = await harness.pre("Bash", command="ls")
        await harness.pre("Read", file_path="x")
    assert result.data["tool_input"] == {"command": "pwd", "timeout": 5}
    [seen] = read_log(log)
    assert seen["tool_name"] == "run_shell_command"


async def test_a_group_in_order_hands_rewrites_on(harness: Harness, tmp_path: Path) -> None:
    """The second hook sees what the first made of the input."""
    log = tmp_path / "log"
    first = make_command({"hookSpecificOutput": {"tool_input": {"command": "pwd"}}})
    group = {"sequential": True, "hooks": [{"command": first}, {"command": f"cat > {log}"}]}
    async with harness.mounted("shell", {"hooks": {"BeforeTool": [group]}}):
        await harness.pre("Bash", command="ls")
    assert read_log(log)[0]["tool_input"] == {"command": "pwd"}


async def test_a_denied_result_is_withheld(harness: Harness) -> None:
    """The agent reads the reason in its place."""
    deny = make_command({"decision": "deny", "reason": "contains keys"})
    result = {"success": True, "output": "k3y", "error": None}
    async with harness.mounted("shell", {"hooks": {"AfterTool": [{"command": deny}]}}):
        outcome = await harness.run(
            "tool:post", tool_name="Bash", tool_input={}, tool_result=result
        )
    assert (outcome.action, outcome.reason) == ("deny", "contains keys")
