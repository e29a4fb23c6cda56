"""What is said of an answer is what the kernel does with it."""

from __future__ import annotations

import pytest

from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, MemoryAudit, ScriptedApproval, TestCoordinator
from amplifier_core.validation.samples import sample_payload
from amplifier_hooks.cli.commands.events import describe_effects, list_events

NOTHING = "has no effect, which is said and recorded"
ANSWERS = {
    "deny": HookResult(action="deny", reason="no"),
    "ask_user": HookResult(action="ask_user", approval_prompt="Really?"),
    "modify": HookResult(action="modify", data={"changed": True}),
}


async def has_effect(event: str, action: str) -> bool:
    """Whether the operation goes another way because of one answer, or hooks see something else."""
    person, trail = ScriptedApproval("Deny"), MemoryAudit()
    coordinator = TestCoordinator(approval_system=person, audit=trail)
    kept: list[str] = []
    coordinator.register_capability("session.keep_working", lambda why, event: kept.append(why))
    coordinator.hooks.register(event, EventRecorder(ANSWERS[action]), name="speaker")
    later = EventRecorder(HookResult())
    coordinator.hooks.register(event, later, 1, "later")
    outcome = await coordinator.execute_with_hooks(event, sample_payload(event))
    changed = any(
        "changed" in one for one in (outcome.data or {}, *(data for _, data in later.events))
    )
    found = outcome.action == "deny" or changed or bool(person.questions) or bool(kept)
    assert found is not bool(trail.of_type("answer_ignored")), "said to be ignored, or dropped"
    return found


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


def test_what_comes_of_an_answer_to_an_event_of_a_module_is_up_to_it() -> None:
    """It gets the answer, and nothing of ours does."""
    assert describe_effects("my:event")["deny"] == "whatever the module that emits it makes of that"
