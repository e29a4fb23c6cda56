"""A turn of the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.events import (
    AGENT_SPAWN,
    ORCHESTRATOR_COMPLETE,
    PROMPT_COMPLETE,
    PROMPT_SUBMIT,
    PROVIDER_REQUEST,
    USER_NOTIFICATION,
)
from amplifier_core.models import HookResult
from amplifier_foundation.guests.sessions.moments.turn import MOST_BLOCKED_STOPS
from tests.foundation.guests.sessions.agents import Agent, start


async def test_a_prompt_is_judged(project: Path) -> None:
    """A hook of prompt:submit denies a prompt of the agent's person."""
    async with start("claude", project) as one:
        told = one.hook(PROMPT_SUBMIT, name="strict", action="deny", reason="no")
        verdict = await one.tell("UserPromptSubmit")
    assert told[0]["prompt"]
    assert (verdict.decision, verdict.reason) == ("deny", "Operation denied by strict: no")


async def test_a_prompt_can_be_rewritten(project: Path) -> None:
    """What a hook makes of the prompt is handed back."""
    async with start("copilot", project) as one:
        one.hook(PROMPT_SUBMIT, action="modify", data={"prompt": "be careful", "metadata": {}})
        verdict = await one.tell("userPromptSubmitted")
    assert verdict.prompt == "be careful"


async def test_hooks_of_the_model_request_speak_with_the_prompt(project: Path) -> None:
    """Claude tells of no model requests: what hooks add there comes with the prompt."""
    async with start("claude", project) as one:
        one.hook(
            PROVIDER_REQUEST,
            action="inject_context",
            context_injection="it is late",
            ephemeral=True,
        )
        verdict = await one.tell("UserPromptSubmit")
    assert any("late" in text for text in verdict.context)


async def test_a_denied_request_denies_the_prompt(project: Path) -> None:
    """A hook that allows no further request, such as for its cost, stops the turn here."""
    async with start("claude", project) as one:
        one.hook(PROVIDER_REQUEST, name="cost", action="deny", reason="spent")
        verdict = await one.tell("UserPromptSubmit")
    assert (verdict.decision, verdict.reason) == ("deny", "Operation denied by cost: spent")


async def test_a_prompt_makes_the_budget_whole_again(project: Path) -> None:
    """Injections count per turn, and a prompt begins one."""
    async with start("claude", project) as one:
        one.hook(PROMPT_SUBMIT, action="inject_context", context_injection="x" * 400)
        await one.tell("UserPromptSubmit")
        first = one.guest.coordinator.injection_budget
        await one.tell("UserPromptSubmit")
    assert first > 0
    assert one.guest.coordinator.injection_budget == first


async def test_the_prompt_of_a_sub_agent_renews_no_budget(project: Path) -> None:
    """Else an agent could spend as much as it likes by delegating."""
    async with start("codex", project) as one:
        one.hook(PROMPT_SUBMIT, action="inject_context", context_injection="x" * 400)
        await one.tell("UserPromptSubmit")
        spent = one.guest.coordinator.injection_budget
        one.guest.blocked_stops = 3
        await one.tell("UserPromptSubmit", agent_id="sub")
        assert one.guest.coordinator.injection_budget > spent
        assert one.guest.blocked_stops == 3


async def test_a_stop_is_told_with_the_last_words(project: Path) -> None:
    """Hooks of the end of a turn hear what the agent said."""
    async with start("claude", project) as one:
        ends, completes = one.hook(ORCHESTRATOR_COMPLETE), one.hook(PROMPT_COMPLETE)
        verdict = await one.tell("Stop")
    assert verdict.decision is None
    assert len(ends) == 1
    assert completes[0]["response"] == "Done."


def _keep_working(one: Agent) -> None:
    keep = one.guest.coordinator.get_capability("session.keep_working")

    async def more(event: str, data: object) -> HookResult:
        keep("the tests fail")
        return HookResult()

    one.guest.coordinator.hooks.register(ORCHESTRATOR_COMPLETE, more, 50, "more")


@pytest.mark.parametrize(("agent", "event"), [("claude", "Stop"), ("gemini", "AfterAgent")])
async def test_hooks_may_keep_an_agent_working_but_not_for_ever(
    project: Path, agent: str, event: str
) -> None:
    """Codex and Gemini have no limit of their own; ours holds for all."""
    async with start(agent, project) as one:
        _keep_working(one)
        verdicts = [await one.tell(event) for _ in range(MOST_BLOCKED_STOPS + 1)]
    assert {(one.decision, one.reason) for one in verdicts[:-1]} == {("deny", "the tests fail")}
    assert verdicts[-1].decision is None


async def test_what_is_said_at_a_sub_agents_start_is_for_it(project: Path) -> None:
    """The context goes with the answer to its start."""
    async with start("claude", project) as one:
        told = one.hook(AGENT_SPAWN, action="inject_context", context_injection="be brief")
        verdict = await one.tell("SubagentStart")
    assert told[0]["agent_name"]
    assert any("be brief" in text for text in verdict.context)


async def test_events_without_a_counterpart_reach_hooks(project: Path) -> None:
    """A hook may listen to guest:task_created."""
    async with start("claude", project) as one:
        told = one.hook("guest:task_created")
        await one.tell("TaskCreated")
    assert len(told) == 1


async def test_a_notification_is_told(project: Path) -> None:
    """Notifications of the agent are notifications here."""
    async with start("gemini", project) as one:
        told = one.hook(USER_NOTIFICATION)
        await one.tell("Notification")
    assert "requires execution" in told[0]["message"]


async def test_a_second_start_of_the_same_session_says_nothing(project: Path) -> None:
    """After a compaction the agent starts its session again; it was announced already."""
    async with start("claude", project) as one:
        verdict = await one.tell("SessionStart.compact")
    assert verdict.decision is None
