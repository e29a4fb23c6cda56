"""Every event of the reference and every action: what an action means depends on the event."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.errors import SessionDenied
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, MockTool, ScriptedApproval
from tests.support.sessions import Stage, calls, stage

SCRIPT = [calls("Echo", text="calling", word="hello"), {"text": "finished"}]
NOTIFICATIONS = [event for event in events.ALL_EVENTS if events.is_notification(event)]


def echo() -> MockTool:
    return MockTool("Echo", lambda given: f"said {given['word']}")


async def played(hooked: Stage) -> str:
    async with hooked:
        return await hooked.session.execute("please echo", metadata={"from": "test"})


def answering(event: str, result: HookResult, **more: Any) -> Stage:
    """A session in which one hook gives one answer to one event."""
    staged = stage(SCRIPT, tools=[echo()], **more)
    staged.hooks.register(event, EventRecorder(result), name="speaker")
    return staged


DENY = HookResult(action="deny", reason="because")
INJECT = HookResult(action="inject_context", context_injection="a word from the hook")
ASK = HookResult(action="ask_user", approval_prompt="really?")


# The start of a session


async def test_a_session_whose_start_is_denied_does_not_start() -> None:
    """session:start, deny: the session does not start; the caller gets the reason."""
    staged = answering("session:start", DENY)
    with pytest.raises(SessionDenied, match="Operation denied by speaker: because"):
        await staged.session.initialize()
    assert not staged.session.initialized


async def test_the_plan_that_a_hook_changed_is_used() -> None:
    """session:start, modify: the changed plan is used."""
    staged = stage(SCRIPT, tools=[echo()])

    async def stream(event: str, data: dict[str, Any]) -> HookResult:
        plan = {**data["mount_plan"]}
        plan["session"] = {**plan["session"], "orchestrator": "loop-streaming"}
        return HookResult(action="modify", data={**data, "mount_plan": plan})

    staged.hooks.register("session:start", stream)
    async with staged:
        assert staged.coordinator.get("orchestrator").name == "loop-streaming"


async def test_what_is_injected_at_the_start_is_the_first_message() -> None:
    """session:start, inject_context: first message of the history."""
    staged = answering("session:start", INJECT)
    await played(staged)
    assert staged.trail.of_type("injection_accepted")
    staged = answering("session:start", INJECT)
    async with staged:
        assert staged.messages[0]["content"] == "a word from the hook"


# A prompt


async def test_a_denied_prompt_is_not_processed_and_the_user_gets_the_reason() -> None:
    """prompt:submit, deny: the prompt is not processed; the user gets the reason."""
    staged = answering("prompt:submit", DENY)
    heard = staged.listen()
    assert await played(staged) == "Operation denied by speaker: because"
    assert "provider:request" not in heard.names
    assert staged.session.status == "ended"


async def test_a_changed_prompt_is_the_one_that_the_model_sees() -> None:
    """prompt:submit, modify: the changed prompt is used."""
    staged = stage(SCRIPT, tools=[echo()])

    async def shout(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "prompt": data["prompt"].upper()})

    staged.hooks.register("prompt:submit", shout)
    async with staged:
        await staged.session.execute("quiet")
        assert staged.texts("user") == ["QUIET"]


# A request to the model


async def test_a_denied_request_is_not_made_and_ends_the_turn() -> None:
    """provider:request, deny: the call is not made; the turn ends with the reason."""
    staged = answering("provider:request", DENY)
    heard = staged.listen()
    assert await played(staged) == "Operation denied by speaker: because"
    assert "provider:response" not in heard.names


async def test_changed_messages_are_sent_and_the_history_stays() -> None:
    """provider:request, modify: the changed messages are sent."""
    staged = stage([{"text": "ok", "expect": "the changed text"}])

    async def change(event: str, data: dict[str, Any]) -> HookResult:
        sent = [{**one, "content": "the changed text"} for one in data["messages"]]
        return HookResult(action="modify", data={**data, "messages": sent})

    staged.hooks.register("provider:request", change)
    async with staged:
        assert await staged.session.execute("the true text") == "ok"
        assert staged.texts("user") == ["the true text"]


@pytest.mark.parametrize("ephemeral", [False, True])
async def test_an_injection_at_the_request_is_seen_in_this_very_request(ephemeral: bool) -> None:
    """provider:request, inject_context: seen in this request; ephemeral ones are not stored."""
    staged = stage([{"text": "ok", "expect": "a word from the hook"}])
    answer = INJECT.model_copy(update={"ephemeral": ephemeral})
    staged.hooks.register("provider:request", EventRecorder(answer))
    async with staged:
        assert await staged.session.execute("hello") == "ok"
        stored = "a word from the hook" in staged.texts("system")
        assert stored is not ephemeral


# Its reply


async def test_a_denied_response_is_withheld() -> None:
    """provider:response, deny: the response is withheld."""
    staged = answering("provider:response", DENY)
    async with staged:
        assert await staged.session.execute("x") == "Operation denied by speaker: because"
        assert staged.texts("assistant") == []
        assert staged.tools["Echo"].calls == []


async def test_a_changed_response_is_used() -> None:
    """provider:response, modify: the changed response is used."""
    staged = stage([{"text": "the secret is 42"}])

    async def censor(event: str, data: dict[str, Any]) -> HookResult:
        content = [{"type": "text", "text": "the secret is safe"}]
        response = {**data["response"], "content": content}
        return HookResult(action="modify", data={**data, "response": response})

    staged.hooks.register("provider:response", censor)
    async with staged:
        assert await staged.session.execute("x") == "the secret is safe"
        assert staged.texts("assistant") == ["the secret is safe"]


# A tool call


async def test_a_denied_tool_does_not_run_and_the_agent_reads_why() -> None:
    """tool:pre, deny: the tool does not run; the agent gets the reason."""
    staged = answering("tool:pre", DENY)
    async with staged:
        assert await staged.session.execute("x") == "finished"
        assert staged.tools["Echo"].calls == []
        assert staged.texts("tool") == ["Operation denied by speaker: because"]


async def test_the_changed_input_is_what_runs() -> None:
    """tool:pre, modify: the changed input runs."""
    staged = stage(SCRIPT, tools=[echo()])

    async def other(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "tool_input": {"word": "other"}})

    staged.hooks.register("tool:pre", other)
    async with staged:
        await staged.session.execute("x")
        assert staged.tools["Echo"].calls == [{"word": "other"}]


@pytest.mark.parametrize("event", ["tool:pre", "tool:post"])
async def test_an_injection_around_a_tool_stands_behind_its_result(event: str) -> None:
    """tool:pre and tool:post, inject_context: seen in the next request, same turn."""
    staged = stage([calls("Echo", word="a"), {"text": "ok", "expect": "a word"}], tools=[echo()])
    staged.hooks.register(event, EventRecorder(INJECT))
    async with staged:
        assert await staged.session.execute("x") == "ok"
        roles = [one["role"] for one in staged.messages]
        assert roles == ["user", "assistant", "tool", "system", "assistant"]


async def test_a_denied_result_is_withheld_from_the_agent() -> None:
    """tool:post, deny: the result is withheld from the agent, which gets the reason."""
    staged = answering("tool:post", DENY)
    async with staged:
        await staged.session.execute("x")
        assert staged.tools["Echo"].calls == [{"word": "hello"}]
        assert staged.texts("tool") == ["Operation denied by speaker: because"]


async def test_a_changed_result_is_what_the_agent_sees() -> None:
    """tool:post, modify: the changed result is seen."""
    staged = stage(SCRIPT, tools=[echo()])

    async def mask(event: str, data: dict[str, Any]) -> HookResult:
        result = {**data["tool_result"], "output": "***"}
        return HookResult(action="modify", data={**data, "tool_result": result})

    staged.hooks.register("tool:post", mask)
    async with staged:
        await staged.session.execute("x")
        assert staged.texts("tool") == ["***"]


# ask_user: allowed is continue, refused is deny of the same row


@pytest.mark.parametrize(
    "event", ["prompt:submit", "provider:request", "provider:response", "tool:pre", "tool:post"]
)
async def test_asking_and_being_allowed_is_continue(event: str) -> None:
    """ask_user: allowed is `continue`."""
    person = ScriptedApproval("Allow")
    staged = answering(event, ASK, approval=person)
    assert await played(staged) == "finished"
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
    """ask_user: refused is `deny` of the same row."""
    staged = answering(event, ASK, approval=ScriptedApproval("Deny"))
    heard = staged.listen()
    async with staged:
        assert await staged.session.execute("x") == reply
        if event.startswith("tool"):
            expected = "Operation denied by speaker: User denied: really?"
            assert staged.texts("tool") == [expected]
    assert "approval:denied" in heard.names
    assert "policy:violation" in heard.names


# Notifications


@pytest.mark.parametrize("event", sorted(set(NOTIFICATIONS) - {"approval:required"}))
@pytest.mark.parametrize("answer", [DENY, ASK, HookResult(action="modify", data={"x": 1})])
async def test_on_a_notification_nothing_can_be_undone(event: str, answer: HookResult) -> None:
    """Notifications: deny, modify and ask_user are recorded, no effect, nobody is asked."""
    person = ScriptedApproval("Deny")
    staged = answering(event, answer, approval=person)
    assert await played(staged) == "finished"
    assert person.questions == []


async def test_an_injection_on_a_notification_is_seen_in_the_next_request() -> None:
    """Notifications, inject_context: seen in the next request, if there is one."""
    script = [{"text": "one"}, {"text": "two", "expect": "a word from the hook"}]
    staged = stage(script)
    staged.hooks.register("prompt:complete", EventRecorder(INJECT))
    async with staged:
        await staged.session.execute("first")
        assert await staged.session.execute("second") == "two"


async def test_a_denied_operation_is_told_to_observers() -> None:
    """A denied operation also emits policy:violation (event, hook, reason)."""
    staged = answering("tool:pre", DENY)
    heard = staged.listen()
    await played(staged)
    ((_, told),) = heard.get_events("policy:violation")
    assert (told["event"], told["hook"], told["reason"]) == ("tool:pre", "speaker", "because")


@pytest.mark.parametrize("event", ["tool:pre", "tool:post", "prompt:submit"])
async def test_continue_changes_nothing(event: str) -> None:
    """continue: proceed normally."""
    staged = answering(event, HookResult(action="continue", user_message="seen"))
    assert await played(staged) == "finished"
    assert ("seen", "info", "hook:speaker") in staged.screen.messages
