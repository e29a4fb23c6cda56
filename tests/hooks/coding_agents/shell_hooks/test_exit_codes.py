"""What the exit code and the plain output of a hook come to, from the script to the agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.hooks.coding_agents.shell_hooks.hook_files import (
    configure,
    make_command,
    specific,
    write_script,
)
from tests.support.harness import Harness

RESULT = {"success": True, "output": "out", "error": None}


async def test_code_2_stops_the_call_and_its_error_output_is_the_reason(
    harness: Harness, tmp_path: Path
) -> None:
    """Whatever the hook writes to stderr is what the agent reads."""
    command = write_script(tmp_path, "guard.sh", "cat >/dev/null; echo 'no force' >&2; exit 2")
    async with harness.mounted("shell", configure("PreToolUse", command, matcher="Bash")):
        result = await harness.pre("Bash", command="git push --force")
    assert (result.action, result.reason) == ("deny", "no force")


async def test_a_script_decides_by_what_it_reads(harness: Harness, tmp_path: Path) -> None:
    """An ordinary shell script can look for words in its standard input."""
    body = 'input=$(cat)\ncase "$input" in *"rm -rf"*) echo "refused: rm -rf" >&2; exit 2;; esac'
    command = write_script(tmp_path, "guard.sh", body)
    async with harness.mounted("shell", configure("PreToolUse", command)):
        assert (await harness.pre("Bash", command="rm -rf /")).reason == "refused: rm -rf"
        assert (await harness.pre("Bash", command="ls")).action == "continue"


@pytest.mark.parametrize("code", [1, 3, 127])
async def test_any_other_code_is_a_failure_that_stops_nothing(harness: Harness, code: int) -> None:
    """A person sees that a hook failed; the agent goes on."""
    async with harness.mounted("shell", configure("PreToolUse", f"echo oops >&2; exit {code}")):
        result = await harness.pre("Bash", command="ls")
    assert result.action == "continue"
    [(message, level, _)] = harness.shown
    assert level == "warning"
    assert f"exited with {code}: oops" in message


@pytest.mark.parametrize(
    "handler",
    [
        {"command": "exit 1"},
        {"command": "sleep 30", "timeout": 0.2},
        {"command": "/no/such/program", "args": []},
        {"command": make_command({"hookSpecificOutput": {"permissionDecision": "maybe"}})},
        {"command": make_command({"decision": "perhaps"})},
        {"command": make_command(specific("PostToolUse", permissionDecision="allow"))},
    ],
    ids=["exit 1", "timeout", "missing", "wrong enum", "wrong decision", "wrong event"],
)
async def test_every_failure_stops_the_call_if_the_hook_says_so(
    harness: Harness, handler: dict[str, Any]
) -> None:
    """`onFailure: block` makes a closed gate of an open one."""
    async with harness.mounted("shell", configure("PreToolUse", handler)):
        assert (await harness.pre("Bash", command="ls")).action == "continue"
    async with harness.mounted("shell", configure("PreToolUse", handler | {"onFailure": "block"})):
        result = await harness.pre("Bash", command="ls")
    assert result.action == "deny"
    assert "it blocks when it fails" in str(result.reason)


async def test_a_blocked_prompt_is_not_processed(harness: Harness) -> None:
    """Code 2 at UserPromptSubmit refuses the prompt."""
    async with harness.mounted(
        "shell", configure("UserPromptSubmit", "echo 'no secrets' >&2; exit 2")
    ):
        result = await harness.run("prompt:submit", prompt="my password is x", metadata={})
    assert (result.action, result.reason) == ("deny", "no secrets")


@pytest.mark.parametrize(
    ("event", "ours", "data"),
    [
        ("UserPromptSubmit", "prompt:submit", {"prompt": "hi", "metadata": {}}),
        ("SessionStart", "session:start", {"source": "startup", "mount_plan": {}}),
    ],
)
async def test_plain_output_is_context_at_a_prompt_and_at_the_start(
    harness: Harness, event: str, ours: str, data: dict[str, Any]
) -> None:
    """`echo` is enough to tell the agent something."""
    async with harness.mounted("shell", configure(event, "echo 'branch: main'")):
        await harness.run(ours, **data)
    assert "branch: main" in "\n".join(harness.texts)


async def test_plain_output_of_a_tool_hook_goes_nowhere(harness: Harness) -> None:
    """A hook may chatter before a tool without anybody reading it."""
    async with harness.mounted("shell", configure("PreToolUse", "echo checked")):
        result = await harness.pre("Bash", command="ls")
    assert (result.action, harness.texts, harness.shown) == ("continue", [], [])


async def test_code_2_after_a_tool_is_feedback(harness: Harness) -> None:
    """It is too late to stop anything, so the agent is told."""
    call = {"tool_name": "Write", "tool_input": {}, "tool_result": RESULT, "success": True}
    async with harness.mounted(
        "shell", configure("PostToolUse", "echo 'line too long' >&2; exit 2")
    ):
        result = await harness.run("tool:post", **call)
    assert result.action == "continue"
    assert "line too long" in "\n".join(harness.texts)


async def test_code_2_at_the_start_is_told_to_the_person(harness: Harness) -> None:
    """A session starts even if a hook would rather not."""
    async with harness.mounted("shell", configure("SessionStart", "echo 'no network' >&2; exit 2")):
        result = await harness.run("session:start", source="startup", mount_plan={})
    assert result.action == "continue"
    assert [(message, level) for message, level, _ in harness.shown] == [("no network", "info")]


@pytest.mark.parametrize(
    "command",
    [
        "yes '{\"decision\":' | head -c 3000000",
        "head -c 2000000 /dev/zero",
        'printf \'{"decision": "block"\'',
        "printf '\\xff\\xfe'; kill -9 $$",
        'python3 -c \'print("{\\"a\\":" * 100000)\'',
    ],
    ids=["endless", "zeros", "cut off", "killed", "deep"],
)
async def test_nonsense_is_never_taken_for_an_answer(harness: Harness, command: str) -> None:
    """It stops the call only where a failure is to stop it; zeros are plain text, no failure."""
    async with harness.mounted("shell", configure("PreToolUse", command)):
        assert (await harness.pre("Bash", command="ls")).action == "continue"
    closed = {"command": command, "onFailure": "block"}
    async with harness.mounted("shell", configure("PreToolUse", closed)):
        result = await harness.pre("Bash", command="ls")
    assert result.action == ("continue" if "zero" in command else "deny")
