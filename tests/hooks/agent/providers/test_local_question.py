"""The question to a small model: what it may call, and the conversation in words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_core.message_models import (
    ChatRequest,
    ImageBlock,
    Message,
    TextBlock,
    ToolCall,
    ToolSpec,
)
from amplifier_hooks.agent.providers.local_question import (
    build_schema,
    choose_tools,
    write_messages,
)
from tests.support.models import BASH, make_request

READ = ToolSpec(
    name="Read",
    description="Read a file.",
    parameters={
        "type": "object",
        "properties": {"file_path": {"type": "string"}},
        "required": ["file_path"],
    },
)
CALL = ToolCall(id="a", name="Bash", arguments={"command": "ls"})


def test_the_schema_allows_exactly_the_offered_tools_and_a_reply() -> None:
    """The model can write nothing but a valid call or, unless a call is required, an answer."""
    form = build_schema([BASH, READ], None)["json_schema"]["schema"]["anyOf"]
    assert [f["properties"].get("tool", {}).get("const") for f in form] == ["Bash", "Read", None]
    assert form[0]["properties"]["input"] == BASH.parameters
    assert all(f["additionalProperties"] is False for f in form)
    assert len(build_schema([BASH], "required")["json_schema"]["schema"]["anyOf"]) == 1
    assert choose_tools(make_request(tools=[BASH, READ], tool_choice="Read"), 1) == [READ]
    assert choose_tools(make_request(tools=[BASH], tool_choice="none"), 1) == []


def test_after_its_calls_the_model_has_to_answer() -> None:
    """A small model would call the same tool for ever; a new prompt begins a new count."""
    history = [
        Message(role="user", content="What is here?"),
        Message(role="assistant", content="", tool_calls=[CALL]),
        Message(role="tool", tool_call_id="a", content="README"),
    ]
    request = ChatRequest(messages=history, tools=[BASH])
    assert choose_tools(request, 1) == []
    assert choose_tools(request, 2) == [BASH]
    history.append(Message(role="user", content="And now?"))
    assert choose_tools(ChatRequest(messages=history, tools=[BASH]), 1) == [BASH]


def test_a_conversation_is_told_in_words_that_the_model_knows() -> None:
    """Tools, calls and results are text for a model whose template has none of them."""
    history = [
        Message(role="system", content="Be brief."),
        Message(role="user", content="What is here?"),
        Message(role="assistant", content="", tool_calls=[CALL]),
        Message(role="tool", tool_call_id="a", content="README"),
    ]
    system, user, spoken, result = write_messages(ChatRequest(messages=history), [BASH], 100)
    assert system["content"].startswith("Be brief.\n\nYou can use these tools:\n- Bash: Run a")
    assert user == {"role": "user", "content": "What is here?"}
    assert json.loads(spoken["content"]) == {"tool": "Bash", "input": {"command": "ls"}}
    assert result == {"role": "user", "content": "Result of the tool:\nREADME"}


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("x" * 100, "x" * 100),
        ("begin " + "x" * 5000 + " end", "begin " + "x" * 44 + "\n[...]\n" + "x" * 46 + " end"),
    ],
)
def test_a_long_result_is_shortened_in_the_middle(output: str, shown: str) -> None:
    """The model has little room: of a long result it gets the beginning and the end."""
    history = [
        Message(role="assistant", content="", tool_calls=[CALL]),
        Message(role="tool", tool_call_id="a", content=output),
    ]
    _, result = write_messages(ChatRequest(messages=history), [], 100)
    assert result["content"] == f"Result of the tool:\n{shown}"


def test_without_tools_nothing_is_said_about_them() -> None:
    """A conversation without tools and instructions has no system message at all."""
    [message] = write_messages(ChatRequest(messages=[Message(role="user", content="Hi")]), [], 100)
    assert message == {"role": "user", "content": "Hi"}


def test_a_picture_is_said_to_be_one() -> None:
    """The model cannot see it, but should know that it was shown one."""
    said: list[Any] = [TextBlock(text="Look"), ImageBlock(source={"url": "u"})]
    [message] = write_messages(ChatRequest(messages=[Message(role="user", content=said)]), [], 100)
    assert message["content"] == "Look\n\n(A picture that you cannot see.)"
