"""Guards judge what a call would run and touch, whatever its tool and its keys are called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import Harness

SHELLS = (
    "Bash", "bash", "shell", "terminal", "run_shell_command", "execute_command", "ShellTool",
    "run_in_terminal", "exec", "runner", "mcp__box__run", "create_and_run_task",
)  # fmt: skip
FORCE = "git push --force origin main"
COMMANDS: tuple[dict[str, Any], ...] = (
    {"command": FORCE},
    {"cmd": FORCE},
    {"script": FORCE},
    {"commands": [FORCE]},
    {"commands": FORCE},
    {"shell_command": FORCE},
    {"shellCommand": FORCE},
    {"command": FORCE.split()},
    {"command": "git", "args": FORCE.split()[1:]},
    {"argv": FORCE.split()},
    {"args": FORCE.split()},
    {"Command": FORCE},
    {"task": {"label": "push", "type": "shell", "command": FORCE}},
)
RULES = [
    {"name": "r", "command": "git push --force*", "action": "deny", "reason": "no force pushes"}
]
NAMED = [{**RULES[0], "tool": "Bash"}]
COMMAND_GUARDS: dict[str, tuple[str, dict[str, Any]]] = {
    "hooks-command-guard": ("command_guard", {}),
    "hooks-command-guard with own tools": ("command_guard", {"tools": {"sh": "line"}}),
    "hooks-rules": ("rules", {"rules": RULES}),
    "hooks-rules for Bash": ("rules", {"rules": NAMED}),
}

EDITORS = (
    "Write", "Edit", "MultiEdit", "NotebookEdit", "write_file", "create_file", "str_replace",
    "str_replace_based_edit_tool", "str_replace_editor", "replace_string_in_file",
    "multi_replace_string_in_file", "insert_edit_into_file", "edit_notebook_file", "editFiles",
    "apply_patch", "mcp__fs__put",
)  # fmt: skip
PATHS: tuple[dict[str, Any], ...] = (
    {"file_path": "production/x"},
    {"path": "production/x"},
    {"filePath": "production/x"},
    {"notebook_path": "production/x"},
    {"filename": "production/x"},
    {"file": "production/x"},
    {"paths": ["a", "production/x"]},
    {"files": [{"path": "production/x", "content": ""}]},
    {"files": {"production/x": ""}},
    {"destination": "production/x"},
    {"input": "*** Begin Patch\n*** Update File: production/x\n@@\n-a\n+b\n*** End Patch"},
)
PATH_RULE = {"name": "r", "path": "production/**", "action": "deny", "reason": "hands off"}
PATH_GUARDS: dict[str, tuple[str, dict[str, Any]]] = {
    "hooks-production-guard": ("production_guard", {"action": "deny"}),
    "hooks-rules": ("rules", {"rules": [PATH_RULE]}),
    "hooks-rules for edits": ("rules", {"rules": [{**PATH_RULE, "tool": ["Write", "Edit"]}]}),
}


def is_described(tool: str, given: dict[str, Any]) -> bool:
    """Whether it is our own tool with keys that it does not have: the call fails by itself."""
    ours = {"bash": {"command"}, "write": {"file_path"}, "edit": {"file_path"}}
    ours["notebookedit"] = {"notebook_path", "file_path", "path"}
    keys = ours.get(tool.casefold().replace("multi", ""))
    return keys is not None and not keys & given.keys()


@pytest.mark.parametrize("guard", COMMAND_GUARDS)
@pytest.mark.parametrize("tool", SHELLS)
async def test_a_command_is_judged_under_every_name_and_key(
    tmp_path: Path, guard: str, tool: str
) -> None:
    """The command guard denies, for a tool of ours, what does not have its own key, too."""
    harness = Harness(tmp_path)
    await harness.mount(*COMMAND_GUARDS[guard])
    for given in COMMANDS:
        answer = await harness.answer(tool, given)
        assert answer.action == "deny", (given, answer)
        allowed = await harness.answer(tool, {"command": "git status"})
        assert allowed.action == "continue", allowed


@pytest.mark.parametrize("guard", PATH_GUARDS)
@pytest.mark.parametrize("tool", EDITORS)
async def test_a_path_is_judged_under_every_name_and_key(
    tmp_path: Path, guard: str, tool: str
) -> None:
    """Of our own tools, only the keys that they have are looked at."""
    harness = Harness(tmp_path)
    await harness.mount(*PATH_GUARDS[guard])
    for given in PATHS:
        if not is_described(tool, given):
            answer = await harness.answer(tool, given)
            assert answer.action == "deny", (given, answer)
    assert (await harness.answer(tool, {"file_path": "safe/x"})).action == "continue"


@pytest.mark.parametrize("tool", SHELLS)
async def test_a_command_that_writes_is_judged_by_its_paths(tmp_path: Path, tool: str) -> None:
    """hooks-production-guard reads commands of every tool."""
    harness = Harness(tmp_path)
    await harness.mount("production_guard", {"action": "deny"})
    key = "command" if tool.casefold() == "bash" else "cmd"
    answer = await harness.answer(tool, {key: "rm production/x"})
    assert answer.action == "deny", answer
    assert (await harness.answer(tool, {key: "cat production/x"})).action == "continue"


@pytest.mark.parametrize("tool", ["Read", "Grep", "Glob", "read_file", "view", "list_directory"])
async def test_tools_that_only_look_are_let_alone(tmp_path: Path, tool: str) -> None:
    """By a guard of what is written; a rule without a tool is about all of them."""
    harness = Harness(tmp_path)
    await harness.mount("production_guard", {"action": "deny"})
    await harness.mount("rules", {"rules": [{**PATH_RULE, "tool": ["Write", "Edit"]}]})
    assert (await harness.answer(tool, {"path": "production/x"})).action == "continue"


async def test_a_rule_for_a_tool_of_ours_is_not_about_calls_that_do_something_else(
    tmp_path: Path,
) -> None:
    """`Bash` stands for what runs commands, and only in rules that stop."""
    harness = Harness(tmp_path)
    deny = {"name": "d", "tool": "Bash", "action": "deny", "reason": "no shell"}
    tell = {"name": "t", "tool": "Bash", "action": "continue", "user_message": "a shell"}
    await harness.mount("rules", {"rules": [deny]})
    assert (await harness.answer("shell", {"cmd": "ls"})).action == "deny"
    assert (await harness.answer("search", {"query": "ls"})).action == "continue"
    assert (await harness.answer("Todo", {"command": "ls"})).action == "continue"
    other = Harness(tmp_path)
    await other.mount("rules", {"rules": [tell]})
    assert (await other.answer("shell", {"cmd": "ls"})).user_message is None
    assert (await other.answer("Bash", {"command": "ls"})).user_message == "a shell"


async def test_backups_are_made_of_what_any_tool_may_change(tmp_path: Path) -> None:
    """One that only looks changes nothing."""
    (tmp_path / "a.txt").write_text("before")
    store = tmp_path / "copies"
    harness = Harness(tmp_path)
    await harness.mount("backup", {"directory": str(store)})
    for tool in ("read_file", "Grep"):
        await harness.answer(tool, {"path": "a.txt"})
    assert not store.exists()
    assert (await harness.answer("write_file", {"path": "a.txt"})).user_message is None
    assert any(one.is_file() for one in store.rglob("*"))
    outside = await harness.answer("write_file", {"path": "/etc/hostname", "source": "nothing"})
    assert outside.user_message is None
