"""What hooks are for, end to end: real tools, real hooks, real programs, a scripted model."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer
from amplifier_core.models import HookResult
from amplifier_core.testing import ScriptedApproval
from tests.support.sessions import SessionHarness, calls


def tools(root: Path) -> dict[str, Any]:
    return {
        "tool_modules": [
            {"module": "tool-filesystem", "config": {"roots": [str(root)]}},
            {"module": "tool-bash"},
            {"module": "tool-todo"},
        ],
        "working_dir": root,
    }


def hooks(*entries: Any) -> dict[str, Any]:
    return {"hooks": [one if isinstance(one, dict) else {"module": one} for one in entries]}


async def test_the_agent_fixes_its_lint_error_in_the_same_turn(tmp_path: Path) -> None:
    """Ruff complains about the file that was just written, and the agent mends it at once."""
    file = tmp_path / "code.py"
    script = [
        calls("Write", file_path=str(file), content="import os\nprint('hi')\n"),
        {"expect": "F401", **calls("Write", file_path=str(file), content="print('hi')\n")},
        {"text": "clean now"},
    ]
    async with SessionHarness(
        script, **tools(tmp_path), **hooks("hooks-linter-feedback")
    ) as harness:
        heard = harness.listen()
        assert await harness.session.execute("write code") == "clean now"
        injected = await harness.session.injections()
    assert len(heard.get_events("prompt:submit")) == 1
    assert file.read_text() == "print('hi')\n"
    assert [one["metadata"]["hook_name"] for one in injected] == ["hooks-linter-feedback"]
    assert any(level == "warning" for _, level, _ in harness.screen.messages)


@pytest.mark.parametrize(("answer", "written"), [("Allow once", True), ("Deny", False)])
async def test_a_production_write_asks_the_person(
    tmp_path: Path, answer: str, written: bool
) -> None:
    """The file is written if the person allows it; the agent reads what the person said."""
    file = tmp_path / "production" / "config.py"
    script = [calls("Write", file_path=str(file), content="x = 1\n"), {"text": "done"}]
    person = ScriptedApproval(lambda q: ApprovalAnswer(answer, comment="mind the cache"))
    async with SessionHarness(
        script, approval=person, **tools(tmp_path), **hooks("hooks-production-guard")
    ) as harness:
        assert await harness.session.execute("deploy") == "done"
        said = harness.texts("tool")[0]
    assert file.exists() is written
    assert "mind the cache" in said
    assert person.questions[0].tool_input["file_path"] == str(file)
    assert person.questions[0].hook.startswith("hooks-production-guard")


async def test_nobody_there_means_no(tmp_path: Path) -> None:
    """Without anybody to ask, what needs approval does not happen."""
    file = tmp_path / "production" / "config.py"
    script = [calls("Write", file_path=str(file), content="x = 1\n"), {"text": "done"}]
    async with SessionHarness(
        script, **tools(tmp_path), **hooks("hooks-production-guard")
    ) as harness:
        await harness.session.execute("deploy")
        assert "No approval system" in harness.texts("tool")[0]
    assert not file.exists()


SECRET = "AKIA" + "IOSFODNN7EXAMPLQ"


async def test_a_secret_is_told_of_and_taken_out_where_that_is_wanted(tmp_path: Path) -> None:
    """Neither the file, the history, the screen nor the trail has the secret."""
    file = tmp_path / "notes.txt"
    script = [
        calls("Write", file_path=str(file), content=f"key {SECRET}"),
        {"text": f"wrote {SECRET}"},
    ]
    redaction = {"module": "hooks-redaction", "config": {"on_write": "tell-and-redact"}}
    async with SessionHarness(script, **tools(tmp_path), hooks=[redaction]) as harness:

        async def gossip(event: str, data: dict[str, Any]) -> HookResult:
            return HookResult(action="continue", user_message=f"the key is {SECRET}")

        harness.hooks.register("tool:post", gossip)
        reply = await harness.session.execute(f"my key is {SECRET}")
        everything = f"{reply}{harness.messages}{harness.screen.messages}{harness.trail.lines}"
    assert SECRET not in everything
    assert SECRET not in file.read_text()
    assert "[REDACTED" in file.read_text()
    assert "Write goes on without a secret" in everything


async def test_todo_reminders_are_seen_but_never_stored(tmp_path: Path) -> None:
    """A reminder is part of one request and of no conversation."""
    todo = {"content": "write the tests", "status": "in_progress", "activeForm": "writing"}
    script = [calls("Todo", todos=[todo]), {"text": "ok", "expect": "write the tests"}]
    async with SessionHarness(script, **tools(tmp_path), **hooks("hooks-todo-display")) as harness:
        assert await harness.session.execute("plan") == "ok"
        stored = {one["content"] for one in harness.messages}
        shown = await harness.session.injections()
    assert shown
    assert all(one["metadata"]["ephemeral"] for one in shown)
    assert not stored & {one["content"] for one in shown}


async def test_git_status_is_known_at_the_start(tmp_path: Path) -> None:
    """The agent knows the state of the repository before it is asked anything."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "new_file.txt").write_text("x")
    async with SessionHarness(
        [{"text": "ok", "expect": "new_file.txt"}], **tools(tmp_path), **hooks("hooks-git-status")
    ) as harness:
        assert await harness.session.execute("what is new?") == "ok"
        assert harness.messages[0]["metadata"]["hook_name"] == "hooks-git-status"


async def test_cost_control_stops_the_spending(tmp_path: Path) -> None:
    """A session that has used up its tokens sends no further request."""
    usage = {"input_tokens": 900, "output_tokens": 200}
    script = [
        {**calls("Bash", command="true"), "usage": usage},
        {**calls("Bash", command="true"), "usage": usage},
        {"text": "never reached"},
    ]
    limit = {
        "module": "hooks-cost-control",
        "config": {"session": {"tokens": 2000, "over": "deny"}},
    }
    async with SessionHarness(script, **tools(tmp_path), **hooks(limit)) as harness:
        mounted = [one for one in harness.session.mounting.mounted if one.kind == "hooks"]
        if mounted[0].error is not None:
            pytest.fail(mounted[0].error)
        reply = await harness.session.execute("spend")
    assert "denied by hooks-cost-control" in reply


async def test_session_statistics_are_told_at_the_end(tmp_path: Path) -> None:
    """The last event of a session says what it amounted to."""
    usage = {"input_tokens": 10, "output_tokens": 5}
    script = [{**calls("Bash", command="echo hi"), "usage": usage}, {"text": "ok", "usage": usage}]
    harness = SessionHarness(script, **tools(tmp_path))
    heard = harness.listen()
    async with harness:
        await harness.session.execute("go")
    ((_, end),) = heard.get_events("session:end")
    assert end["reason"] == "complete"
    counted = {"total_messages": 4, "tool_invocations": 1, "total_tokens": 30}
    assert end["stats"].pop("hooks")["heard"]["answers"] == {"continue": 15}
    assert end["stats"] == {**counted, "hook_failures": 0}
    assert end["duration_ms"] >= 0
