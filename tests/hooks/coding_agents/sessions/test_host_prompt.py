"""Asking through the agent's own prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit import open_log, read_records
from amplifier_core.approval import ApprovalQuestion, HandedOver
from amplifier_core.errors import ApprovalError
from amplifier_core.events import TOOL_PRE
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.coding_agents.sessions.host_prompt import HostPrompt
from amplifier_hooks.external.conversation import EventContext, current_event
from tests.hooks.coding_agents.sessions.agents import start


def _ask(*options: str) -> ApprovalQuestion:
    return ApprovalQuestion("May it?", options, 10.0, "deny", hook="h")


async def test_the_agent_asks_its_person(project: Path) -> None:
    """A question of a hook becomes `ask`; the trail says who asks."""
    async with start("claude", project) as one:
        one.hook(TOOL_PRE, action="ask_user", approval_prompt="Really?")
        verdict = await one.tell("PreToolUse")
        called = one.guest.external.tools.running.list_ids()
    assert verdict.decision == "ask"
    assert "Really?" in str(verdict.reason)
    records = list(read_records(open_log(locate_trail({}, "s1"))))
    types = [one["type"] for one in records]
    assert "approval_decided" not in types
    assert "tool_started" not in types
    (handed,) = (one for one in records if one["type"] == "approval_handed_over")
    assert (handed["hook"], handed["body"]["to"]) == ("test", "claude")
    assert [handed["body"]["id"]] == called


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
    token = current_event.set(EventContext())
    with pytest.raises(ApprovalError, match="nobody can be asked"):
        await prompt.decide(_ask("Allow once", "Deny"))
    current_event.reset(token)


async def test_only_a_yes_for_once_is_handed_over() -> None:
    """The agent's person is asked each time: no "always" is said in their name."""
    token = current_event.set(EventContext(frozenset({"ask"})))
    prompt = HostPrompt("claude")
    handed = await prompt.decide(_ask("Allow always", "Allow once", "Deny"))
    assert handed == HandedOver("claude", goes_on=True)
    with pytest.raises(ApprovalError, match="none of Allow always, Deny"):
        await prompt.decide(_ask("Allow always", "Deny"))
    current_event.reset(token)
