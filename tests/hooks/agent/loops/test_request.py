"""Requests: what a model gets of the conversation and of the tools."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_core.answers import Outcome
from amplifier_core.dispatch import Answer
from amplifier_core.message_models import Message
from amplifier_core.models import HookResult
from amplifier_core.registration import HookHandler
from amplifier_core.testing import MockTool
from amplifier_hooks.agent.loops.model_call import (
    RequestBuilder,
    SharedConversation,
    choose_messages,
)
from tests.support.hooks import says
from tests.support.sessions import SessionHarness


def say(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def texts(found: list[Message]) -> list[str]:
    return [one.text for one in found]


def read(conversation: SharedConversation, messages: list[dict[str, Any]]) -> list[Message]:
    """The messages as providers take them, with no hook in between."""
    return conversation.validate(conversation.show(messages))


def test_a_message_that_stayed_as_it_was_is_not_validated_again() -> None:
    """Only the new ones are."""
    validated, messages = SharedConversation(), [say("a"), say("b")]
    first = read(validated, messages)
    messages.append(say("c"))
    second = read(validated, messages)
    assert texts(second) == ["a", "b", "c"]
    assert second[0] is first[0]
    assert second[1] is first[1]


def test_a_change_in_place_is_sent() -> None:
    """A message that somebody changed where it stands is not sent in its old form."""
    validated, messages = SharedConversation(), [say("secret"), say("b")]
    kept = read(validated, messages)[1]
    for text in ("[redacted]", "[gone]"):
        messages[0]["content"] = text
        found = read(validated, messages)
        assert texts(found) == [text, "b"]
        assert found[1] is kept


def test_a_change_inside_a_block_is_sent() -> None:
    """However deep it is."""
    validated, block = SharedConversation(), {"type": "text", "text": "secret"}
    messages = [{"role": "user", "content": [block]}, say("b")]
    read(validated, messages)
    block["text"] = "[redacted]"
    assert texts(read(validated, messages)) == ["[redacted]", "b"]


def test_what_moved_is_sent_where_it_is_now() -> None:
    """A context drops messages; what stands where it stood is known still."""
    validated, messages = SharedConversation(), [say("a"), say("b"), say("c")]
    first = read(validated, messages)[0]
    found = read(validated, [messages[0], say("note"), *messages[2:]])
    assert texts(found) == ["a", "note", "c"]
    assert found[0] is first
    assert texts(read(validated, [say("note"), *messages[1:]])) == ["note", "b", "c"]


def test_what_cannot_be_compared_is_validated_each_time() -> None:
    """A subclass of dict may say that it is equal to anything."""

    class Odd(dict[str, Any]):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    validated, odd = SharedConversation(), Odd(value=1)
    messages = [say("a", odd=odd), say("b")]
    b = read(validated, messages)[1]
    messages[0]["content"] = "changed"
    found = read(validated, messages)
    assert texts(found) == ["changed", "b"]
    assert found[1] is b


def test_a_message_that_is_refused_leaves_what_was_known() -> None:
    """The next conversation is read as if that one had never been."""
    validated, messages = SharedConversation(), [say("a")]
    (first,) = read(validated, messages)
    messages.append({"role": "user", "content": 7})
    with pytest.raises(ValidationError):
        read(validated, messages)
    messages[1] = say("b")
    found = read(validated, messages)
    assert texts(found) == ["a", "b"]
    assert found[0] is first


def test_a_reply_without_content_is_sent_as_an_empty_one() -> None:
    """Some contexts keep a reply that only calls tools so; one that is really wrong is refused."""
    validated = SharedConversation()
    found = read(validated, [say("a"), {"role": "assistant", "content": None}, say("b")])
    assert texts(found) == ["a", "", "b"]
    with pytest.raises(ValidationError, match="role"):
        read(validated, [say("a"), {"role": "nobody", "content": None}])


def test_the_instructions_come_first() -> None:
    """The configured instructions are a system message in front of the conversation."""
    conversation = [{"role": "user", "content": "hi"}]
    request = RequestBuilder("Be brief.").build(conversation, [])
    assert [(one.role, one.text) for one in request.messages] == [
        ("system", "Be brief."),
        ("user", "hi"),
    ]
    assert request.tools is None
    assert len(RequestBuilder().build(conversation, []).messages) == 1


async def test_the_instructions_are_not_stored() -> None:
    """They are sent with each request and stand in no conversation."""
    script = [{"text": "ok", "expect": "Be brief."}]
    async with SessionHarness(script, loop_config={"system": "Be brief."}) as harness:
        assert await harness.session.execute("hi") == "ok"
        assert [one["role"] for one in harness.messages] == ["user", "assistant"]


def test_tools_are_described_under_the_name_they_are_mounted_by() -> None:
    """A model calls a tool by its name in the mount point."""
    schema = {"type": "object", "properties": {"word": {"type": "string"}}}
    tool = MockTool("Echo", description="Says it again", input_schema=schema)
    (spec,) = RequestBuilder().describe_tools({"Parrot": tool})
    assert (spec.name, spec.description, spec.parameters) == ("Parrot", "Says it again", schema)


def test_a_tool_that_says_nothing_about_itself_can_be_called() -> None:
    """Tools of other authors may lack a description or a schema."""
    tool: Any = object()
    (spec,) = RequestBuilder().describe_tools({"Bare": tool})
    assert (spec.description, spec.parameters) == (None, {"type": "object"})


def test_tools_are_described_anew_when_they_change() -> None:
    """The same tools keep their description; another tool under a known name has its own."""
    builder = RequestBuilder()
    first = MockTool("A", description="old")
    before = builder.describe_tools({"A": first})
    assert builder.describe_tools({"A": first}) is before
    (after,) = builder.describe_tools({"A": MockTool("A", description="new")})
    assert after.description == "new"


MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "system"]), "content": st.text()}),
    max_size=6,
)


@given(st.lists(MESSAGES, max_size=4))
def test_what_was_built_before_never_shows(conversations: list[list[dict[str, Any]]]) -> None:
    """A builder that remembers messages builds what a new one builds."""
    used = RequestBuilder()
    for conversation in conversations:
        for messages in (conversation, [*conversation, {"role": "user", "content": "more"}]):
            assert used.build(used.show(messages), []) == RequestBuilder().build(messages, [])


def test_a_message_that_stayed_is_not_validated_again() -> None:
    """Contexts hand out the same dicts each time, and a long conversation costs no more."""
    message = {"role": "user", "content": "hi"}
    builder = RequestBuilder()
    first = builder.build(builder.show([message]), []).messages[0]
    assert builder.build(builder.show([message, dict(message)]), []).messages[0] is first
    changed = {**message, "content": "ho"}
    assert builder.build(builder.show([changed]), []).messages[0] is not first


def test_a_message_that_was_changed_in_place_is_sent_as_it_is_now() -> None:
    """Whoever redacts a conversation where it stands is heeded by the next request."""
    messages = [{"role": "user", "content": "secret"}, {"role": "user", "content": "more"}]
    builder = RequestBuilder()
    builder.build(builder.show(messages), [])
    messages[0]["content"] = "[redacted]"
    assert [one.text for one in builder.build(builder.show(messages), []).messages] == [
        "[redacted]",
        "more",
    ]


def test_a_request_that_somebody_keeps_stays_as_it_is() -> None:
    """The next request has a list of its own then."""
    builder, messages = RequestBuilder("Be brief."), [{"role": "user", "content": "a"}]
    kept = builder.build(builder.show(messages), [])
    held = builder.build(builder.show(messages), []).messages
    messages.append({"role": "user", "content": "b"})
    longer = builder.build(builder.show(messages), [])
    assert [one.text for one in kept.messages] == ["Be brief.", "a"]
    assert [one.text for one in held] == ["Be brief.", "a"]
    assert [one.text for one in longer.messages] == ["Be brief.", "a", "b"]


def test_what_a_provider_does_to_its_request_does_not_reach_the_next() -> None:
    """Some take the instructions out of it."""
    builder, messages = RequestBuilder("Be brief."), [{"role": "user", "content": "a"}]
    builder.build(builder.show(messages), []).messages.pop(0)
    assert [one.text for one in builder.build(builder.show(messages), []).messages] == [
        "Be brief.",
        "a",
    ]


def test_a_conversation_that_became_shorter_is_sent_as_it_is() -> None:
    """Nothing of the last request is left over."""
    builder, messages = RequestBuilder(), [{"role": "user", "content": text} for text in "abc"]
    builder.build(builder.show(messages), [])
    assert [one.text for one in builder.build(builder.show(messages[1:]), []).messages] == [
        "b",
        "c",
    ]
    assert builder.build(builder.show([]), []).messages == []


def hooked(messages: list[dict[str, Any]], *answers: Answer) -> Outcome:
    return Outcome(True, {"messages": messages}, answers=answers)


def test_what_no_hook_has_changed_is_the_conversation_itself() -> None:
    """Hooks judge a copy; the messages that were validated before are known by identity."""
    asked: list[dict[str, Any]] = [{"role": "user", "content": "a", "count": 1}]
    injects = Answer(HookHandler(says("inject_context")), HookResult(action="inject_context"))
    for answers in ((), (injects,)):
        messages, passing = choose_messages(hooked([dict(asked[0])], *answers), asked)
        assert (messages is asked, passing) == (True, None)
    messages, passing = choose_messages(hooked(asked), asked)
    assert (messages is asked, passing) == (True, None)


def test_what_a_hook_has_changed_is_sent_as_it_left_it() -> None:
    """Even if it compares equal to what it was; and what it saw, if that was changed since."""
    asked: list[dict[str, Any]] = [{"role": "user", "content": "a", "count": 1}]
    left = [{**asked[0], "count": True}]
    result = HookResult(action="modify", data={"messages": left})
    changed = Answer(HookHandler(says("modify")), result, None, {"messages": left})
    messages, passing = choose_messages(hooked(left, changed), asked)
    assert (messages is left, passing) == (True, None)
    asked = [{"role": "user", "content": text} for text in "abc"]
    judged = [dict(one) for one in asked]
    asked[0]["content"] = "changed while the hooks looked at it"
    messages, passing = choose_messages(hooked(judged), asked)
    assert (messages is judged, passing) == (True, None)


def test_what_came_while_hooks_judged_and_is_not_in_their_answer_waits() -> None:
    """The list may be the context's own, which goes on growing."""
    asked: list[dict[str, Any]] = [{"role": "user", "content": text} for text in "abc"]
    judged = [dict(one) for one in asked[:2]]
    messages, passing = choose_messages(hooked(judged), asked)
    request = RequestBuilder().build(messages, [], passing)
    assert [one.text for one in request.messages] == ["a", "b"]


def test_what_a_context_did_not_say_is_sent_all_the_same() -> None:
    """One that can only say all that it holds is read by the kernel."""
    history = [{"role": "user", "content": "a"}]
    messages, passing = choose_messages(hooked(history), [])
    assert (messages is history, passing) == (True, None)


def test_what_is_for_one_request_only_is_kept_apart() -> None:
    """The conversation before it is sent from what was validated, and goes on without it."""
    builder = RequestBuilder("Be brief.")
    asked: list[dict[str, Any]] = [
        {"role": "user", "content": "a"},
        {"role": "tool", "content": "b", "tool_call_id": "1"},
    ]
    asked = builder.show(asked)
    first = builder.build(asked, []).messages[1]
    reminder = {"role": "system", "content": "Hurry."}
    longer = {**asked[1], "content": "b\n\nHurry."}
    cases = [
        ([*asked, reminder], ["Be brief.", "a", "b", "Hurry."]),
        ([asked[0], longer], ["Be brief.", "a", "b\n\nHurry."]),
        ([asked[0], longer, reminder], ["Be brief.", "a", "b\n\nHurry.", "Hurry."]),
    ]
    for left, sent in cases:
        messages, passing = choose_messages(hooked(left), asked)
        assert messages is asked
        assert passing is not None
        request = builder.build(messages, [], passing)
        assert [one.text for one in request.messages] == sent
        assert request.messages[1] is first
    asked.append({"role": "user", "content": "c"})
    request = builder.build(builder.show(asked), [])
    assert [one.text for one in request.messages] == ["Be brief.", "a", "b", "c"]
    assert request.messages[1] is first


def test_a_message_that_no_model_takes_is_refused() -> None:
    """What a hook left of the conversation is validated before it is sent."""
    with pytest.raises(ValidationError):
        RequestBuilder().build([{"role": "user", "content": 7}], [])


def test_a_reply_that_only_calls_tools_may_have_no_content() -> None:
    """Some contexts store None where there were no words."""
    calls = [{"id": "1", "tool": "Bash", "arguments": {}}]
    history: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "user"},
    ]
    request = RequestBuilder().build(history, [])
    assert [one.content for one in request.messages] == ["", ""]
    assert request.messages[0].model_extra == {"tool_calls": calls}
    assert history[0]["content"] is None
