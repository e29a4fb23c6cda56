"""A turn of the agent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_core.events import (
    AGENT_COMPLETE,
    AGENT_SPAWN,
    ORCHESTRATOR_COMPLETE,
    PROMPT_COMPLETE,
    PROMPT_SUBMIT,
    PROVIDER_REQUEST,
    USER_NOTIFICATION,
)
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.writing import write_reply
from amplifier_hooks.coding_agents.sessions.handlers.turn import MOST_BLOCKED_STOPS
from tests.hooks.coding_agents.dialects.opencode.opencode_payloads import read_event
from tests.hooks.coding_agents.dialects.recordings import make_incoming
from tests.hooks.coding_agents.sessions.agents import start


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


STOPS = [
    (agent, native, row.occasions[0].event, "deny" in row.powers)
    for agent, dialect in DIALECTS.items()
    for native, row in dialect.events.items()
    if row.occasions and row.occasions[0].event in (ORCHESTRATOR_COMPLETE, AGENT_COMPLETE)
]


@pytest.mark.parametrize(("agent", "native", "event", "can"), STOPS)
async def test_a_denied_end_makes_the_agent_go_on_but_not_for_ever(
    project: Path, agent: str, native: str, event: str, can: bool
) -> None:
    """Codex and Gemini have no limit of their own; ours holds for all, and that is said."""
    told = read_event(native) if agent == "opencode" else make_incoming(agent, native)
    async with start(agent, project) as one:
        one.hook(event, name="strict", action="deny", reason="the tests fail")
        incoming = replace(told, cwd=str(project))
        verdicts = [await one.guest.handle(incoming) for _ in range(MOST_BLOCKED_STOPS + 2)]
        ignored = one.guest.coordinator.hooks.count()["strict"].ignored.get("deny", 0)
        one.guest.coordinator.hooks.unregister("strict")
        await one.guest.handle(incoming)  # of its own accord
        one.hook(event, name="strict", action="deny", reason="the tests fail")
        verdicts.append(await one.guest.handle(incoming))
    went_on = [(verdict.decision, verdict.reason) for verdict in verdicts]
    if not can:
        assert (set(went_on), ignored) == ({(None, None)}, len(verdicts) - 1)
        return
    first = ("deny", "the tests fail")
    assert went_on == [*[first] * MOST_BLOCKED_STOPS, (None, None), (None, None), first]
    assert ignored == 2
    read = write_reply(DIALECTS[agent], incoming, verdicts[0])
    assert "the tests fail" in read.stdout


async def test_what_it_goes_on_with_is_no_prompt_of_the_person(project: Path) -> None:
    """Copilot reports it as one, and so hooks could keep it working for ever."""
    async with start("copilot", project) as one:
        one.hook(ORCHESTRATOR_COMPLETE, name="strict", action="deny", reason="the tests fail")
        for _ in range(MOST_BLOCKED_STOPS):
            assert (await one.tell("agentStop")).decision == "deny"
            await one.tell("userPromptSubmitted", prompt="the tests fail")
        assert (await one.tell("agentStop")).decision is None
        await one.tell("userPromptSubmitted", prompt="and now?")
        assert (await one.tell("agentStop")).decision == "deny"


async def test_a_sub_agent_that_goes_on_uses_up_nothing_of_another(project: Path) -> None:
    """Each has its own limit, and so has the agent itself."""
    async with start("claude", project) as one:
        one.hook(AGENT_COMPLETE, action="deny", reason="more")
        for _ in range(MOST_BLOCKED_STOPS):
            await one.tell("SubagentStop", agent_id="a")
        assert (await one.tell("SubagentStop", agent_id="b")).decision == "deny"
        assert (await one.tell("SubagentStop", agent_id="a")).decision is None
        assert one.guest.blocked_stops == 0


async def test_how_often_it_went_on_survives_another_process(project: Path) -> None:
    """Else a hook could keep it working for ever by way of restarts."""
    async with start("claude", project) as one:
        one.hook(AGENT_COMPLETE, action="deny", reason="more")
        one.hook(ORCHESTRATOR_COMPLETE, action="deny", reason="more")
        await one.tell("SubagentStop", agent_id="a")
        await one.tell("Stop")
        state = await one.guest.read_state()
    async with start("claude", project, state=state) as other:
        assert other.guest.blocked_stops == 1
        assert other.guest.blocked_agents == {"a": 1}


async def test_a_wish_to_go_on_at_another_event_is_refused(project: Path) -> None:
    """The agent is not about to stop then."""
    async with start("claude", project) as one:
        keep = one.guest.coordinator.get_capability("session.keep_working")
        said: list[str | None] = []

        async def wish(event: str, data: object) -> HookResult:
            said.append(keep("go on"))
            return HookResult()

        one.guest.coordinator.hooks.register(PROMPT_SUBMIT, wish, 50, "wish")
        await one.tell("UserPromptSubmit")
        said.append(keep("go on"))
    assert said == ["the agent is not about to stop"] * 2


async def test_a_text_at_the_end_of_a_turn_waits_for_the_next_prompt(project: Path) -> None:
    """In every agent: what makes it go on is a denial."""
    async with start("claude", project) as one:
        one.hook(ORCHESTRATOR_COMPLETE, action="inject_context", context_injection="by the way")
        assert (await one.tell("Stop")).context == ()
        verdict = await one.tell("UserPromptSubmit")
    assert any("by the way" in text for text in verdict.context)


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
