"""What is said of an answer is what the kernel does with it."""

from __future__ import annotations

import pytest

from amplifier_apps.cli.commands.events.description import list_events
from amplifier_apps.cli.commands.events.effects import describe_effects
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, ScriptedApproval, TestCoordinator
from amplifier_core.validation.samples import sample_payload

NOTHING = "recorded, but has no effect"
ANSWERS = {
    "deny": HookResult(action="deny", reason="no"),
    "ask_user": HookResult(action="ask_user", approval_prompt="Really?"),
    "modify": HookResult(action="modify", data={"changed": True}),
}


async def has_effect(event: str, action: str) -> bool:
    """Whether the operation goes another way because of one answer."""
    person = ScriptedApproval("Deny")
    coordinator = TestCoordinator(approval_system=person)
    coordinator.hooks.register(event, EventRecorder(ANSWERS[action]), name="speaker")
    outcome = await coordinator.execute_with_hooks(event, sample_payload(event))
    changed = "changed" in (outcome.data or {})
    return outcome.action == "deny" or changed or bool(person.questions)


@pytest.mark.parametrize("action", ANSWERS)
@pytest.mark.parametrize("event", list_events())
async def test_an_answer_has_an_effect_where_one_is_described(event: str, action: str) -> None:
    """Each action, tried at each event."""
    described = not describe_effects(event)[action].startswith(NOTHING)
    assert await has_effect(event, action) is described


def test_other_spellings_have_the_same_effects() -> None:
    """One occurrence is one event."""
    assert describe_effects("context:pre-compact") == describe_effects("context:pre_compact")
    assert describe_effects("error:tool") == describe_effects("tool:error")


def test_an_event_of_a_module_is_described_like_those_that_only_tell() -> None:
    """Nothing of ours waits for the answer."""
    assert describe_effects("my:event")["deny"] == NOTHING
