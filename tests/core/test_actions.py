"""What each action does to each event: one example per pair."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.errors import SessionDenied
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, MockTool, ScriptedApproval
from tests.support.sessions import SessionHarness, calls

SCRIPT = [calls("Echo", text="calling", word="hello"), {"text": "finished"}]


NOTIFICATIONS = [event for event in events.ALL_EVENTS if events.is_notification(event)]


def echo() -> MockTool:
    return MockTool("Echo", lambda given: f"said {given['word']}")


async def played(hooked: SessionHarness) -> str:
    async with hooked:
        return await hooked.session.execute("please echo", metadata={"from": "test"})


def answering(event: str, result: HookResult, **more: Any) -> SessionHarness:
    """A session in which one hook gives one answer to one event."""
    harness = SessionHarness(SCRIPT, tools=[echo()], **more)
    harness.hooks.register(event, EventRecorder(result), name="speaker")
    return harness


DENY = HookResult(action="deny", reason="because")


INJECT = HookResult(action="inject_context", context_injection="a word from the hook")


ASK = HookResult(action="ask_user", approval_prompt="really?")


async def test_a_session_whose_start_is_denied_does_not_start() -> None:
    """Whoever opened it reads which hook refused, and why."""
    harness = answering("session:start", DENY)
    with pytest.raises(SessionDenied, match="Operation denied by speaker: because"):
        await harness.session.start()
    assert not harness.session.initialized


async def test_the_plan_that_a_hook_changed_is_used() -> None:
    """A hook may put another loop into the plan."""
    harness = SessionHarness(SCRIPT, tools=[echo()])

    async def stream(event: str, data: dict[str, Any]) -> HookResult:
        plan = {**data["mount_plan"]}
        plan["session"] = {**plan["session"], "orchestrator": "loop-streaming"}
        return HookResult(action="modify", data={**data, "mount_plan": plan})

    harness.hooks.register("session:start", stream)
    async with harness:
        assert harness.coordinator.get("orchestrator").name == "loop-streaming"


async def test_what_is_injected_at_the_start_is_the_first_message() -> None:
    """It stands before whatever the user says."""
    harness = answering("session:start", INJECT)
    await played(harness)
    assert harness.trail.of_type("injection_accepted")
    harness = answering("session:start", INJECT)
    async with harness:
        assert harness.messages[0]["content"] == "a word from the hook"


async def test_a_denied_prompt_is_not_processed_and_the_user_gets_the_reason() -> None:
    """The refusal is the reply; no model is asked."""
    harness = answering("prompt:submit", DENY)
    heard = harness.listen()
    assert await played(harness) == "Operation denied by speaker: because"
    assert "provider:request" not in heard.names
    assert harness.session.status == "ended"


async def test_a_changed_prompt_is_the_one_that_the_model_sees() -> None:
    """The history holds the changed prompt too."""
    harness = SessionHarness(SCRIPT, tools=[echo()])

    async def shout(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "prompt": data["prompt"].upper()})

    harness.hooks.register("prompt:submit", shout)
    async with harness:
        await harness.session.execute("quiet")
        assert harness.texts("user") == ["QUIET"]


async def test_a_denied_request_is_not_made_and_ends_the_turn() -> None:
    """The refusal is the reply, and no response follows."""
    harness = answering("provider:request", DENY)
    heard = harness.listen()
    assert await played(harness) == "Operation denied by speaker: because"
    assert "provider:response" not in heard.names


async def test_changed_messages_are_sent_and_the_history_stays() -> None:
    """A redactor changes what leaves the house, not what is remembered."""
    harness = SessionHarness([{"text": "ok", "expect": "the changed text"}])

    async def change(event: str, data: dict[str, Any]) -> HookResult:
        sent = [{**one, "content": "the changed text"} for one in data["messages"]]
        return HookResult(action="modify", data={**data, "messages": sent})

    harness.hooks.register("provider:request", change)
    async with harness:
        assert await harness.session.execute("the true text") == "ok"
        assert harness.texts("user") == ["the true text"]


@pytest.mark.parametrize("ephemeral", [False, True])
async def test_an_injection_at_the_request_is_seen_in_this_very_request(ephemeral: bool) -> None:
    """A passing one is gone afterwards."""
    harness = SessionHarness([{"text": "ok", "expect": "a word from the hook"}])
    answer = INJECT.model_copy(update={"ephemeral": ephemeral})
    harness.hooks.register("provider:request", EventRecorder(answer))
    async with harness:
        assert await harness.session.execute("hello") == "ok"
        stored = "a word from the hook" in harness.texts("system")
        assert stored is not ephemeral


async def test_a_denied_response_is_withheld() -> None:
    """Neither its text nor its tool calls go any further."""
    harness = answering("provider:response", DENY)
    async with harness:
        assert await harness.session.execute("x") == "Operation denied by speaker: because"
        assert harness.texts("assistant") == []
        assert harness.tools["Echo"].calls == []


async def test_a_changed_response_is_used() -> None:
    """For the user and for the history."""
    harness = SessionHarness([{"text": "the secret is 42"}])

    async def censor(event: str, data: dict[str, Any]) -> HookResult:
        content = [{"type": "text", "text": "the secret is safe"}]
        response = {**data["response"], "content": content}
        return HookResult(action="modify", data={**data, "response": response})

    harness.hooks.register("provider:response", censor)
    async with harness:
        assert await harness.session.execute("x") == "the secret is safe"
        assert harness.texts("assistant") == ["the secret is safe"]


async def test_a_denied_tool_does_not_run_and_the_agent_reads_why() -> None:
    """The refusal stands where the result would."""
    harness = answering("tool:pre", DENY)
    async with harness:
        assert await harness.session.execute("x") == "finished"
        assert harness.tools["Echo"].calls == []
        assert harness.texts("tool") == ["Operation denied by speaker: because"]


async def test_the_changed_input_is_what_runs() -> None:
    """Not what the model wrote."""
    harness = SessionHarness(SCRIPT, tools=[echo()])

    async def other(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "tool_input": {"word": "other"}})

    harness.hooks.register("tool:pre", other)
    async with harness:
        await harness.session.execute("x")
        assert harness.tools["Echo"].calls == [{"word": "other"}]


@pytest.mark.parametrize("event", ["tool:pre", "tool:post"])
async def test_an_injection_around_a_tool_stands_behind_its_result(event: str) -> None:
    """The model reads it when it reads the result."""
    harness = SessionHarness(
        [calls("Echo", word="a"), {"text": "ok", "expect": "a word"}], tools=[echo()]
    )
    harness.hooks.register(event, EventRecorder(INJECT))
    async with harness:
        assert await harness.session.execute("x") == "ok"
        roles = [one["role"] for one in harness.messages]
        assert roles == ["user", "assistant", "tool", "system", "assistant"]


async def test_a_denied_result_is_withheld_from_the_agent() -> None:
    """The tool ran; the agent reads the refusal instead of the output."""
    harness = answering("tool:post", DENY)
    async with harness:
        await harness.session.execute("x")
        assert harness.tools["Echo"].calls == [{"word": "hello"}]
        assert harness.texts("tool") == ["Operation denied by speaker: because"]


async def test_a_changed_result_is_what_the_agent_sees() -> None:
    """A secret in the output goes no further."""
    harness = SessionHarness(SCRIPT, tools=[echo()])

    async def mask(event: str, data: dict[str, Any]) -> HookResult:
        result = {**data["tool_result"], "output": "***"}
        return HookResult(action="modify", data={**data, "tool_result": result})

    harness.hooks.register("tool:post", mask)
    async with harness:
        await harness.session.execute("x")
        assert harness.texts("tool") == ["***"]


@pytest.mark.parametrize(
    "event", ["prompt:submit", "provider:request", "provider:response", "tool:pre", "tool:post"]
)
async def test_asking_and_being_allowed_is_continue(event: str) -> None:
    """A yes changes nothing."""
    person = ScriptedApproval("Allow")
    harness = answering(event, ASK, approval=person)
    assert await played(harness) == "finished"
    assert {one.prompt for one in person.questions} == {"really?"}


@pytest.mark.parametrize(
    ("event", "reply"),
    [
        ("prompt:submit", "Operation denied by speaker: User denied: really?"),
        ("provider:request", "Operation denied by speaker: User denied: really?"),
        ("provider:response", "Operation denied by speaker: User denied: really?"),
        ("tool:pre", "finished"),
        ("tool:post", "finished"),
    ],
)
async def test_asking_and_being_refused_is_deny(event: str, reply: str) -> None:
    """A no stops what a denial would have stopped there."""
    harness = answering(event, ASK, approval=ScriptedApproval("Deny"))
    heard = harness.listen()
    async with harness:
        assert await harness.session.execute("x") == reply
        if event.startswith("tool"):
            expected = "Operation denied by speaker: User denied: really?"
            assert harness.texts("tool") == [expected]
    assert "approval:denied" in heard.names
    assert "policy:violation" in heard.names


@pytest.mark.parametrize("answer", [DENY, ASK, HookResult(action="modify", data={"x": 1})])
async def test_on_a_notification_nothing_can_be_undone(answer: HookResult) -> None:
    """Notifications: deny, modify and ask_user are recorded, no effect, nobody is asked."""
    person = ScriptedApproval("Deny")
    harness = SessionHarness(SCRIPT, tools=[echo()], approval=person)
    for event in set(NOTIFICATIONS) - {"approval:required"}:
        harness.hooks.register(event, EventRecorder(answer), name=f"speaker on {event}")
    assert await played(harness) == "finished"
    assert harness.texts("tool") == ["said hello"]
    assert person.questions == []


async def test_an_injection_on_a_notification_is_seen_in_the_next_request() -> None:
    """After the end of one turn it waits for the next."""
    script = [{"text": "one"}, {"text": "two", "expect": "a word from the hook"}]
    harness = SessionHarness(script)
    harness.hooks.register("prompt:complete", EventRecorder(INJECT))
    async with harness:
        await harness.session.execute("first")
        assert await harness.session.execute("second") == "two"


async def test_a_denied_operation_is_told_to_observers() -> None:
    """With the event, the hook and its reason."""
    harness = answering("tool:pre", DENY)
    heard = harness.listen()
    await played(harness)
    ((_, told),) = heard.get_events("policy:violation")
    assert (told["event"], told["hook"], told["reason"]) == ("tool:pre", "speaker", "because")


@pytest.mark.parametrize("event", ["tool:pre", "tool:post", "prompt:submit"])
async def test_continue_changes_nothing(event: str) -> None:
    """continue: proceed normally."""
    harness = answering(event, HookResult(action="continue", user_message="seen"))
    assert await played(harness) == "finished"
    assert ("seen", "info", "hook:speaker") in harness.screen.messages
