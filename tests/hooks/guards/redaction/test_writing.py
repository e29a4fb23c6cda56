"""What a tool is about to write or run: never changed by a guess, never changed in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.testing import ScriptedApproval
from tests.hooks.guards.policy.secrets.test_checks import CODE
from tests.support.harness import Harness

TOKEN = "ghp_" + "Zz9" * 12
SOURCE = "\n".join(CODE) + "\npassword=hunter22\nDB_PASSWORD=correct-horse\n"


async def judge(tmp_path: Path, tool: str, tool_input: Any, **config: Any) -> tuple[Any, Harness]:
    approval = config.pop("approval", None)
    harness = Harness(tmp_path, approval=approval)
    await harness.mount("redaction", config)
    return await harness.judge("tool:pre", tool_name=tool, tool_input=tool_input), harness


@pytest.mark.parametrize("tool", ["Write", "Edit", "Bash", "anything"])
@pytest.mark.parametrize("on_write", ["ask", "deny", "tell-and-redact", "off"])
async def test_source_code_reaches_the_disk_as_it_was_written(
    tool: str, on_write: str, tmp_path: Path
) -> None:
    """Guesses do not count: `this.token = token;` stays what it is, and so does a password."""
    given = {"file_path": "a.js", "content": SOURCE, "password": "hunter22", "command": SOURCE}
    outcome, harness = await judge(tmp_path, tool, given, on_write=on_write)
    assert outcome.allowed
    assert outcome.data["tool_input"] == given
    assert harness.shown == []


@pytest.mark.parametrize(("answer", "allowed"), [("Allow once", True), ("Deny", False)])
async def test_a_person_decides_about_a_token(answer: str, allowed: bool, tmp_path: Path) -> None:
    """Asked with tool, shape and place; the input is shown as it is, and runs as it is."""
    approval = ScriptedApproval(answer)
    given = {"command": f"deploy {TOKEN}"}
    outcome, _ = await judge(tmp_path, "Bash", given, approval=approval)
    assert outcome.allowed is allowed
    (question,) = approval.questions
    assert question.prompt == (
        "The input of Bash holds a secret: github-token in 'command'. Let Bash use it as it is?"
    )
    assert TOKEN not in question.prompt
    assert question.tool_input == given
    if allowed:
        assert outcome.data["tool_input"] == given


async def test_with_nobody_to_ask_a_token_is_not_written(tmp_path: Path) -> None:
    """The agent reads why, and nothing is replaced behind its back."""
    outcome, _ = await judge(tmp_path, "Write", {"content": TOKEN})
    assert not outcome.allowed
    assert "holds a secret: github-token in 'content'" in outcome.denial
    assert TOKEN not in outcome.denial


async def test_a_token_can_be_denied_outright(tmp_path: Path) -> None:
    """The reason says what to do instead."""
    outcome, _ = await judge(tmp_path, "Write", {"a": [TOKEN]}, on_write="deny")
    assert not outcome.allowed
    assert "have the program read it from its environment" in outcome.denial


async def test_a_token_that_is_replaced_is_told_of(tmp_path: Path) -> None:
    """`tell-and-redact`: the person sees it, whether `notify` is set or not."""
    given = {"content": f"a {TOKEN} b\npassword=hunter22"}
    outcome, harness = await judge(tmp_path, "Write", given, on_write="tell-and-redact")
    assert outcome.data["tool_input"] == {
        "content": "a [REDACTED:github-token] b\npassword=hunter22"
    }
    assert harness.shown == [
        (
            "Write goes on without a secret that was in its input: github-token in 'content'",
            "warning",
            "hook:hooks-redaction",
        )
    ]


async def test_off_lets_everything_through(tmp_path: Path) -> None:
    """For those whose tools need their tokens."""
    outcome, _ = await judge(tmp_path, "Bash", {"command": TOKEN}, on_write="off")
    assert outcome.data["tool_input"] == {"command": TOKEN}


async def test_tools_that_need_the_secret_can_be_excepted(tmp_path: Path) -> None:
    """`allow_in_tools` leaves the input of these tools alone, and only their input."""
    options = {"allow_in_tools": ["vault_*"]}
    outcome, harness = await judge(tmp_path, "vault_put", {"value": TOKEN}, **options)
    assert outcome.data["tool_input"] == {"value": TOKEN}
    result = {"tool_name": "vault_put", "tool_input": {}, "tool_result": {"output": TOKEN}}
    after_tool = await harness.hooks.emit("tool:post", result)
    assert TOKEN not in repr(after_tool.data)


async def test_what_another_hook_put_in_is_seen_too(tmp_path: Path) -> None:
    """The guard stands behind the hooks that change a call: what is judged is what runs."""
    harness = Harness(tmp_path)

    async def add(event: str, data: dict[str, Any]) -> dict[str, Any]:
        return {"action": "modify", "data": {**data, "tool_input": {"command": TOKEN}}}

    harness.hooks.register("tool:pre", add)
    await harness.mount("redaction", {"on_write": "deny"})
    assert not (await harness.judge("tool:pre", tool_name="Bash", tool_input={})).allowed


MARK = "[REDACTED:github-token]"


@pytest.mark.parametrize(
    ("tool", "tool_input", "stopped"),
    [
        ("Write", {"file_path": "a.env", "content": f"TOKEN={MARK}"}, True),
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": MARK}, True),
        ("MultiEdit", {"path": "a", "edits": [{"new_string": f"b {MARK}"}]}, True),
        ("Edit", {"file_path": "a", "old_string": MARK, "new_string": f"b {MARK}"}, False),
        ("MultiEdit", {"path": "a", "edits": [{"old_string": MARK, "new_string": MARK}]}, False),
        ("mcp__fs__write_file", {"path": "a.env", "content": f"TOKEN={MARK}"}, True),
        ("mcp__fs__edit_file", {"path": "a", "edits": [{"newText": MARK}]}, True),
        ("mcp__fs__edit_file", {"path": "a", "edits": [{"oldText": MARK, "newText": MARK}]}, False),
        ("mcp__fs__search_files", {"path": "a", "pattern": MARK}, False),
        ("mcp__chat__send", {"text": MARK}, False),
        ("Bash", {"command": f"grep '{MARK}' ."}, False),
        ("Write", {"file_path": "a", "content": "[REDACTED:unknown-thing]"}, False),
    ],
)
async def test_a_mark_does_not_overwrite_the_value_it_stands_for(
    tool: str, tool_input: dict[str, Any], stopped: bool, tmp_path: Path
) -> None:
    """An agent that read a masked file would write the mask back."""
    outcome, _ = await judge(tmp_path, tool, tool_input, on_write="deny")
    assert outcome.allowed is not stopped
    if stopped:
        assert f"{MARK} stands for a value that was not shown" in outcome.denial


async def test_a_person_is_asked_or_told_about_a_mark(tmp_path: Path) -> None:
    """As the option says; the question names the file."""
    approval = ScriptedApproval("Allow once")
    given = {"file_path": "a.env", "content": MARK}
    outcome, _ = await judge(tmp_path, "Write", given, approval=approval)
    assert outcome.allowed
    assert f"Write would write {MARK} to a.env." in approval.questions[0].prompt
    outcome, harness = await judge(tmp_path, "Write", given, on_write="tell-and-redact")
    assert outcome.allowed
    assert f"Write writes {MARK} to a.env" in harness.shown[0][0]
