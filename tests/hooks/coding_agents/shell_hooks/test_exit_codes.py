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


async def test_a_script_decides_by_what_it_reads(harness: Harness, tmp_path: Path) -> None:
    """An ordinary shell script can look for words in its standard input."""
    body = 'input=$(cat)\ncase "$input" in *"rm -rf"*) echo "refused: rm -rf" >&2; exit 2;; esac'
    command = write_script(tmp_path, "guard.sh", body)
    async with harness.mounted("shell", configure("PreToolUse", command)):
        assert (await harness.pre("Bash", command="rm -rf /")).reason == "refused: rm -rf"
        assert (await harness.pre("Bash", command="ls")).action == "continue"


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


CALLED = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
DONE = {"tool_name": "Write", "tool_input": {}, "tool_result": RESULT, "success": True}
PROMPT = {"prompt": "hi", "metadata": {}}
START = {"source": "startup", "mount_plan": {}}
BRANCH = "echo 'branch: main'"
REFUSE = "cat >/dev/null; echo 'no force' >&2; exit 2"
EFFECTS: dict[str, tuple[str, str, dict[str, Any], str, dict[str, str]]] = {
    "code 2 stops a call": ("PreToolUse", "tool:pre", CALLED, REFUSE, {"reason": "no force"}),
    "and a prompt": ("UserPromptSubmit", "prompt:submit", PROMPT, REFUSE, {"reason": "no force"}),
    "it is feedback after a tool": ("PostToolUse", "tool:post", DONE, REFUSE, {"text": "no force"}),
    "and told to the person at the start": (
        "SessionStart",
        "session:start",
        START,
        REFUSE,
        {"info": "no force"},
    ),
    "plain output is context at a prompt": (
        "UserPromptSubmit",
        "prompt:submit",
        PROMPT,
        BRANCH,
        {"text": "branch: main"},
    ),
    "and at the start": (
        "SessionStart",
        "session:start",
        START,
        BRANCH,
        {"text": "branch: main"},
    ),
    "before a tool it goes nowhere": ("PreToolUse", "tool:pre", CALLED, BRANCH, {}),
    **{
        f"code {code} is a failure that stops nothing": (
            "PreToolUse",
            "tool:pre",
            CALLED,
            f"echo oops >&2; exit {code}",
            {"warning": f"exited with {code}: oops"},
        )
        for code in (1, 3, 127)
    },
}
"""An event of theirs, the same of ours, its data, a command, and what comes of it."""


@pytest.mark.parametrize("name", EFFECTS)
async def test_exit_codes_and_plain_output_have_their_effect(harness: Harness, name: str) -> None:
    """A reason refuses, a text is for the agent, and a message for the person."""
    native, event, data, command, expected = EFFECTS[name]
    async with harness.mounted("shell", configure(native, command)):
        result = await harness.run(event, **data)
    assert result.action == ("deny" if "reason" in expected else "continue")
    assert result.reason == expected.get("reason")
    texts = "\n".join(harness.texts)
    assert expected["text"] in texts if "text" in expected else not texts
    said = [(level, message) for message, level, _ in harness.shown]
    wanted = [(one, expected[one]) for one in ("info", "warning") if one in expected]
    assert [level for level, _ in said] == [level for level, _ in wanted]
    assert all(text in message for (_, message), (_, text) in zip(said, wanted, strict=True))
