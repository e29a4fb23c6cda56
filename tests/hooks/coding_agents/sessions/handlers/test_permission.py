"""The agent asks whether it may."""

from __future__ import annotations

from pathlib import Path

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion
from amplifier_core.events import TOOL_PRE
from amplifier_hooks.coding_agents.sessions.handlers.permission import (
    PERMISSION,
    ask_people_elsewhere,
)
from tests.hooks.coding_agents.sessions.agents import Agent, start


class Person:
    """Answers every question the same way."""

    def __init__(self, option: str) -> None:
        self.option = option
        self.asked: list[ApprovalQuestion] = []

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        self.asked.append(question)
        return ApprovalAnswer(self.option, by="ann")


def _seat(one: Agent, option: str) -> Person:
    person = Person(option)
    one.guest.coordinator._gate.system = person
    return person


async def test_without_anybody_the_agent_asks_its_own_person(project: Path) -> None:
    """No hook and nobody elsewhere: no opinion."""
    async with start("claude", project) as one:
        verdict = await one.tell("PermissionRequest")
    assert verdict.decision is None


async def test_a_hook_denies_a_permission(project: Path) -> None:
    """Hooks of the permission event may say no before the person is asked."""
    async with start("claude", project) as one:
        one.hook(PERMISSION, name="strict", action="deny", reason="no")
        verdict = await one.tell("PermissionRequest")
    assert (verdict.decision, verdict.reason) == ("deny", "Operation denied by strict: no")


async def test_people_elsewhere_answer_for_the_prompt(project: Path) -> None:
    """Their yes is the agent's permission, and they see what would run."""
    async with start("claude", project) as one:
        person = _seat(one, "Allow once")
        ask_people_elsewhere(one.guest.coordinator, "claude")
        verdict = await one.tell("PermissionRequest")
    assert verdict.decision == "allow"
    assert "echo ORIG" in person.asked[0].prompt


async def test_a_no_of_people_elsewhere_denies(project: Path) -> None:
    """Their no is one, too."""
    async with start("claude", project) as one:
        _seat(one, "Deny")
        ask_people_elsewhere(one.guest.coordinator, "claude")
        verdict = await one.tell("PermissionRequest")
    assert verdict.decision == "deny"


async def test_what_a_person_approved_before_the_tool_is_not_asked_again(project: Path) -> None:
    """Codex asks for permission after our hook had a person approve the call."""
    same = {"command": "echo ORIG > out.txt", "description": "need"}
    async with start("codex", project) as one:
        _seat(one, "Allow once")
        one.hook(TOOL_PRE, action="ask_user", approval_prompt="May it?")
        await one.tell("PreToolUse", tool_input=same, tool_use_id="")
        verdict = await one.tell("PermissionRequest", tool_input=same)
        other = await one.tell("PermissionRequest", tool_input={"command": "echo other"})
    assert verdict.decision == "allow"
    assert other.decision is None
