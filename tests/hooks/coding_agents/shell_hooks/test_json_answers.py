"""What the JSON of a hook comes to, from the script to the agent and the person."""

from __future__ import annotations

from pathlib import Path

from amplifier_core.testing import ScriptedApproval
from tests.hooks.coding_agents.shell_hooks.hook_files import configure, make_command, specific
from tests.support.harness import Harness

DEPLOY = {"command": "deploy --dry-run"}


async def test_a_rewritten_input_is_the_one_that_runs(harness: Harness) -> None:
    """What the hook hands back replaces the whole input."""
    answer = specific("PreToolUse", permissionDecision="allow", updatedInput={"command": "ls -l"})
    async with harness.mounted("shell", configure("PreToolUse", make_command(answer))):
        result = await harness.pre("Bash", command="ls", description="list")
    assert result.data["tool_input"] == {"command": "ls -l"}


async def test_a_person_is_asked_about_the_input_that_would_run(tmp_path: Path) -> None:
    """The question shows the rewritten input, and allowing it allows just that."""
    answer = specific(
        "PreToolUse",
        permissionDecision="ask",
        permissionDecisionReason="touches production",
        updatedInput=DEPLOY,
        additionalContext="the deploy guard looked at this",
    )
    person = ScriptedApproval("Allow")
    harness = Harness(tmp_path, approval=person)
    async with harness.mounted("shell", configure("PreToolUse", make_command(answer))):
        result = await harness.pre("Bash", command="deploy")
    assert result.data["tool_input"] == DEPLOY
    assert person.prompts == ['touches production\nBash: {"command": "deploy --dry-run"}']
    assert "the deploy guard looked at this" in "\n".join(harness.texts)


async def test_a_person_is_asked_once_about_a_guard(tmp_path: Path) -> None:
    """A guard is run again after a person allowed; its question is not put again."""
    answer = specific("PreToolUse", permissionDecision="ask", updatedInput=DEPLOY)
    handler = {"command": make_command(answer), "onFailure": "block"}
    person = ScriptedApproval("Allow")
    harness = Harness(tmp_path, approval=person)
    async with harness.mounted("shell", configure("PreToolUse", handler)):
        result = await harness.pre("Bash", command="deploy")
    assert (result.action, len(person.prompts)) == ("continue", 1)


async def test_a_refused_question_is_a_denial(tmp_path: Path) -> None:
    """The person has the last word."""
    answer = specific("PreToolUse", permissionDecision="ask")
    harness = Harness(tmp_path, approval=ScriptedApproval("Deny"))
    async with harness.mounted("shell", configure("PreToolUse", make_command(answer))):
        assert (await harness.pre("Bash", command="deploy")).action == "deny"


async def test_a_rewritten_output_is_what_the_agent_sees(harness: Harness) -> None:
    """Context that comes with it is not lost."""
    answer = specific("PostToolUse", updatedToolOutput="[redacted]", additionalContext="cleaned")
    result = {"success": True, "output": "secret", "error": None}
    call = {"tool_name": "Bash", "tool_input": {}, "tool_result": result, "success": True}
    async with harness.mounted("shell", configure("PostToolUse", make_command(answer))):
        outcome = await harness.run("tool:post", **call)
    assert outcome.data["tool_result"] == {**result, "output": "[redacted]"}
    assert "cleaned" in "\n".join(harness.texts)


async def test_a_message_for_the_person_is_shown_whatever_was_decided(harness: Harness) -> None:
    """A denial does not swallow it."""
    answer = {"systemMessage": "look at this", "decision": "block", "reason": "r"}
    async with harness.mounted("shell", configure("PreToolUse", make_command(answer))):
        await harness.pre("Bash", command="ls")
    assert ("look at this", "info") in [shown[:2] for shown in harness.shown]


async def test_a_hook_can_end_the_run(harness: Harness) -> None:
    """`continue: false` denies the operation and cancels the rest, with the given reason."""
    answer = {"continue": False, "stopReason": "budget is spent"}
    async with harness.mounted("shell", configure("PreToolUse", make_command(answer))):
        result = await harness.pre("Bash", command="ls")
    assert (result.action, result.reason) == ("deny", "budget is spent")
    assert harness.coordinator.cancellation.is_cancelled
