"""Asking through the agent's own prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit import open_log, read_records
from amplifier_core.approval import ApprovalQuestion
from amplifier_core.errors import ApprovalError
from amplifier_core.events import TOOL_PRE
from amplifier_foundation.guests.sessions.host_prompt import HostPrompt
from amplifier_foundation.guests.sessions.passing import Passing, current
from amplifier_foundation.session.trail import locate_trail
from tests.foundation.guests.sessions.agents import start


def _ask(*options: str) -> ApprovalQuestion:
    return ApprovalQuestion("May it?", options, 10.0, "deny", hook="h")


async def test_the_agent_asks_its_person(project: Path) -> None:
    """A question of a hook becomes `ask`; the trail says who asks."""
    async with start("claude", project) as one:
        one.hook(TOOL_PRE, action="ask_user", approval_prompt="Really?")
        verdict = await one.tell("PreToolUse")
    assert verdict.decision == "ask"
    assert "Really?" in str(verdict.reason)
    records = read_records(open_log(locate_trail({}, "s1")))
    decided = [one["body"] for one in records if one["type"] == "approval_decided"]
    assert [(one["how"], one["by"]) for one in decided] == [("rule", "rule:handed over to claude")]


async def test_the_agent_asks_for_all_hooks_at_once(project: Path) -> None:
    """Two hooks that ask about one call are one question, with both texts."""
    async with start("claude", project) as one:
        one.hook(TOOL_PRE, name="first", action="ask_user", approval_prompt="Really?")
        one.hook(TOOL_PRE, name="second", action="ask_user", approval_prompt="Are you sure?")
        verdict = await one.tell("PreToolUse")
    assert verdict.reason == "Really?\nAre you sure?"


async def test_nothing_is_handed_over_where_the_agent_cannot_ask() -> None:
    """Outside of an event, or at one without a prompt, the answer is no."""
    prompt = HostPrompt("claude")
    with pytest.raises(ApprovalError, match="nobody can be asked"):
        await prompt.decide(_ask("Allow once", "Deny"))
    token = current.set(Passing())
    with pytest.raises(ApprovalError, match="nobody can be asked"):
        await prompt.decide(_ask("Allow once", "Deny"))
    current.reset(token)


async def test_only_a_yes_for_once_is_handed_over() -> None:
    """The agent's person is asked each time: no "always" is said in their name."""
    token = current.set(Passing(frozenset({"ask"})))
    prompt = HostPrompt("claude")
    assert (await prompt.decide(_ask("Allow always", "Allow once", "Deny"))).option == "Allow once"
    with pytest.raises(ApprovalError, match="none of Allow always, Deny"):
        await prompt.decide(_ask("Allow always", "Deny"))
    current.reset(token)
