"""Requests: what a model gets of the conversation and of the tools."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_core.testing import MockTool
from amplifier_foundation.orchestrators.request import RequestBuilder
from tests.support.sessions import SessionHarness


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
            assert used.build(messages, []) == RequestBuilder().build(messages, [])


def test_a_message_that_stayed_is_not_validated_again() -> None:
    """Contexts hand out the same dicts each time, and a long conversation costs no more."""
    message = {"role": "user", "content": "hi"}
    builder = RequestBuilder()
    first = builder.build([message], []).messages[0]
    assert builder.build([message, dict(message)], []).messages[0] is first
    assert builder.build([dict(message)], []).messages[0] is not first


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
