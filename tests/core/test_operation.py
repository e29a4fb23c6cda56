"""One event through its hooks: every answer is carried out and recorded as that hook's."""

from __future__ import annotations

import pytest

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from tests.support.harness import Harness
from tests.support.hooks import POST, PRE, Data, asks, injects, modifies, returns, says
from tests.support.people import PlainPerson


async def test_nobody_listens():
    hooks = HookRegistry()
    hooks.set_default_fields(session_id="s")
    session = SessionCoordinator(hooks)
    given: Data = {"x": [1]}
    result = await session.execute_with_hooks(PRE, given)
    assert (result.action, result.data) == ("continue", {"session_id": "s", "x": [1]})
    assert result.data["x"] is not given["x"]


@pytest.mark.parametrize("hooks", [[], [says()], [modifies(y=1)], [asks()]])
async def test_the_result_is_a_frozen_copy(hooks):
    """What the caller changes later is not what runs."""
    harness = Harness(approval=PlainPerson("Allow"))
    for hook in hooks:
        harness.hooks.register(PRE, hook)
    given: Data = {"x": [1], "tool_input": {"rows": []}}
    result = await harness.coordinator.execute_with_hooks(PRE, given)
    given["x"].append(2)
    given["tool_input"]["rows"].append(2)
    assert (result.data["x"], result.data["tool_input"]) == ([1], {"rows": []})


@pytest.mark.parametrize("data", [None, "text", 5])
async def test_data_of_any_form(data):
    session = SessionCoordinator()
    expected = {} if data is None else {"data": data}
    assert (await session.execute_with_hooks(PRE, data)).data == expected


async def test_every_answer_has_its_own_hooks_name():
    """Two hooks that speak at once are shown, stored and recorded apart."""
    harness = Harness()
    for name in ("a", "b"):
        harness.hooks.register(POST, injects(name, user_message=f"{name}!"), name=name)
    harness.hooks.register(
        POST, says(user_message="c!", user_message_level="error", user_message_source="src")
    )
    await harness.coordinator.execute_with_hooks(POST, {})
    assert harness.shown == [
        ("a!", "info", "hook:a"),
        ("b!", "info", "hook:b"),
        ("c!", "error", "hook:src"),
    ]
    assert harness.context.messages[0]["metadata"]["hooks"] == ["a", "b"]


@pytest.mark.parametrize(
    ("fields", "outcome", "reason"),
    [
        ({"action": "deny", "reason": 5}, "deny", "5"),
        ({"action": "ask_user", "approval_options": 7}, "deny", "cannot be put"),
        ({"action": "ask_user", "approval_prompt": b"x"}, "deny", "approval_prompt: "),
        ({"action": "inject_context", "context_injection": 5}, "continue", None),
    ],
)
async def test_results_built_past_validation_crash_nothing(fields, outcome, reason):
    """No gate is skipped, nothing runs after a deny, and no nonsense crashes the session."""
    harness = Harness()
    harness.hooks.register(PRE, returns(HookResult().model_copy(update=fields)))
    result = await harness.pre()
    assert result.action == outcome
    assert reason is None or reason in result.reason
    assert harness.texts == []


async def test_deny_keeps_what_the_hook_gave():
    harness = Harness()
    harness.hooks.register(PRE, says("deny", reason="no", data={"hint": 1}))
    result = await harness.pre()
    assert (result.action, result.reason, result.data) == ("deny", "no", {"hint": 1})


@pytest.mark.parametrize("event", ["session:end", "tool:error", "error:tool", "execution:end"])
async def test_notifications_only_tell(event):
    """Notifications: deny, modify and ask_user are recorded, no effect; injections are seen."""
    person = PlainPerson("Deny")
    harness = Harness(approval=person)
    harness.hooks.register(event, modifies(x=9), priority=0)
    harness.hooks.register(event, asks(), priority=1)
    harness.hooks.register(event, injects("noted"), priority=2)
    harness.hooks.register(event, says("deny", reason="no", user_message="hm"), priority=3)
    given = {"x": [1]}
    result = await harness.coordinator.execute_with_hooks(event, given)
    assert (result.action, result.data["x"]) == ("continue", [1])
    assert result.data["x"] is not given["x"]
    assert person.asked == []
    assert harness.texts == ["noted"]
    [body] = harness.bodies("dispatch")
    assert [one["action"] for one in body["hooks"]] == [
        "modify", "ask_user", "inject_context", "deny",
    ]  # fmt: skip


async def test_an_event_of_a_modules_own_is_an_operation():
    harness = Harness()
    harness.hooks.register("my:event", says("deny", reason="no"))
    assert (await harness.coordinator.execute_with_hooks("my:event", {})).action == "deny"


def test_which_events_only_tell():
    operations = {
        "session:start", "prompt:submit", "provider:request", "provider:response", "tool:pre",
        "tool:post", "context:pre_compact", "context:pre-compact", "agent:spawn", "x:y",
    }  # fmt: skip
    spelled = {*events.ALL_EVENTS, "execution:end", "context:pre-compact", "x:y"}
    assert {event for event in spelled if not events.is_notification(event)} == operations
