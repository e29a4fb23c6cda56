"""The model server by itself: as strict as the real ones, and as awkward as the script says."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_core import llm_errors
from amplifier_core.errors import ModuleLoadError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_foundation.model_server import ModelServer
from amplifier_foundation.providers.failures import Origin, refused
from tests.foundation.providers.mounting import CHAT, MESSAGES, asking, mounted, playing


async def raw(server: ModelServer, content: bytes) -> bytes:
    host, _, port = server.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(content)
    await writer.drain()
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer


def post(path: str, body: object) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


TEXT = {"type": "text", "text": "x"}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "x"}
USER = {"role": "user", "content": "x"}
USES = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "B", "input": {}}]}
CALLS = {"role": "assistant", "tool_calls": [{"id": "a"}]}


def said(*conversation: object) -> dict[str, object]:
    return {"max_tokens": 9, "messages": list(conversation)}


async def test_replies_are_chosen_by_the_conversation_if_asked():
    """Several conversations at once, each gets the script from its beginning."""
    script = [{"text": "First."}, {"text": "Second."}]
    async with playing(MESSAGES, script, per_conversation=True) as (provider, _):
        history = asking().messages
        assert (await provider.complete(asking())).text == "First."
        assert (await provider.complete(asking())).text == "First."
        longer = [*history, Message(role="assistant", content="First."), *history]
        assert (await provider.complete(ChatRequest(messages=longer))).text == "Second."


@pytest.mark.parametrize(
    ("path", "body", "complaint"),
    [
        ("/v1/messages", {"messages": [{"role": "user", "content": "x"}]}, "max_tokens"),
        ("/v1/messages", {"max_tokens": 1, "messages": []}, "at least one message"),
        (
            "/v1/messages",
            {"max_tokens": 1, "messages": [{"role": "assistant", "content": "x"}]},
            "first message",
        ),
        (
            "/v1/chat/completions",
            {"messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]},
            "role 'tool'",
        ),
        (
            "/v1/responses",
            {"input": [{"type": "function_call", "call_id": "a", "name": "b", "arguments": ""}]},
            "No tool output found",
        ),
        ("/v1/chat/completions", ["no object"], "messages"),
        ("/v1/chat/completions", {"messages": ["text"]}, "malformed"),
        ("/v1/messages", said(USER, {"role": "robot", "content": "x"}), "unexpected role"),
        ("/v1/messages", said(USER, {"role": "assistant", "content": []}), "non-empty content"),
        ("/v1/messages", said({"role": "user", "content": " "}), "must be non-empty"),
        ("/v1/messages", said(USER, USES), "need `tool_result`"),
        ("/v1/messages", said(USER, USES, USER), "need `tool_result`"),
        ("/v1/messages", said(USER, {"role": "user", "content": [RESULT]}), "unexpected"),
        (
            "/v1/messages",
            said(USER, USES, {"role": "user", "content": [TEXT, RESULT]}),
            "must come first",
        ),
        ("/v1/chat/completions", said({"role": "robot"}), "Invalid value"),
        ("/v1/chat/completions", said({"role": "user", "content": ""}), "needs content"),
        ("/v1/chat/completions", said(USER, CALLS, USER), "must be followed by tool messages"),
        (
            "/v1/responses",
            {"input": [{"type": "function_call_output", "call_id": "a", "output": ""}]},
            "No tool call found",
        ),
        ("/v1/responses", {"input": []}, "Missing required parameter"),
    ],
)
async def test_a_request_that_the_real_server_refuses_is_refused(path, body, complaint):
    """A conversion that would fail in earnest fails in the tests."""
    async with ModelServer([]) as server:
        answer = await raw(server, post(path, body))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert complaint in answer.decode()


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /v1/models HTTP/1.1\r\n\r\n", 404),
        (b"nonsense\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 500 + b"\r\n", 431),
        (b"G" * 100_000 + b"\r\n\r\n", 400),
    ],
)
async def test_nonsense_gets_an_error_and_the_server_lives_on(request_bytes, status):
    """Bad input gets a clear sentence; nothing hangs."""
    async with ModelServer([{"text": "Still here."}]) as server:
        answer = await raw(server, request_bytes)
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        settings = {"base_url": server.openai_url, "api_key": "k"}
        async with mounted(CHAT.module, settings) as provider:
            assert (await provider.complete(asking())).text == "Still here."


async def test_plain_text_is_understood_in_every_protocol():
    """Content may be a string or parts, and Responses takes one string for all."""
    bodies = {
        "/v1/messages": said(USER),
        "/v1/chat/completions": said({"role": "user", "content": [TEXT]}),
        "/v1/responses": {"input": "x"},
    }
    async with ModelServer([{"text": "Yes.", "expect": "x"}] * 3) as server:
        for path, body in bodies.items():
            answer = await raw(server, post(path, body))
            assert b"Yes." in answer, answer


async def test_a_body_that_is_no_json_is_refused():
    """Bad input gets a clear sentence."""
    async with ModelServer([]) as server:
        head = b"POST /v1/messages HTTP/1.1\r\nContent-Length: 3\r\n\r\n"
        assert (await raw(server, head + b"{,}")).startswith(b"HTTP/1.1 400 ")


async def test_a_connection_without_a_request_is_let_go():
    """Somebody who connects and leaves leaves nothing behind."""
    async with ModelServer([]) as server:
        await come_and_go(server)
        assert server.requests == []


async def come_and_go(server: ModelServer) -> None:
    host, _, port = server.url.removeprefix("http://").partition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.close()
    await writer.wait_closed()


async def test_closing_ends_what_is_under_way():
    """Nothing hangs: a server that closes drops its slow replies."""
    async with playing(CHAT, [{"text": "Late.", "delay": 60.0}]) as (provider, server):
        asked = asyncio.create_task(provider.complete(asking()))
        while not server.requests:
            await asyncio.sleep(0.01)
        await asyncio.wait_for(server.close(), 5)
        with pytest.raises(llm_errors.ProviderUnavailableError):
            await asked


async def test_an_unmet_expectation_is_a_refusal_that_says_why(protocol):
    """`expect` holds over HTTP as it does in the process."""
    async with playing(protocol, [{"text": "x", "expect": "secret word"}]) as (provider, _):
        with pytest.raises(llm_errors.InvalidRequestError, match="secret word"):
            await provider.complete(asking())


async def test_the_end_of_the_script_can_be_an_error():
    """`when_done` holds over HTTP as it does in the process."""
    async with playing(MESSAGES, [], when_done="raise") as (provider, _):
        with pytest.raises(llm_errors.InvalidRequestError, match="were played"):
            await provider.complete(asking())


def test_a_bad_script_is_refused_when_it_is_handed_in():
    """An unknown key in a script names the nearest right one."""
    with pytest.raises(ModuleLoadError, match="tool_calls"):
        ModelServer([{"tool_call": []}])


def test_every_word_of_a_stream_error_has_its_error():
    """Errors inside streams come without a status; their words decide."""
    words = {
        "overloaded_error": llm_errors.ProviderUnavailableError,
        "authentication_error": llm_errors.AuthenticationError,
        "context_length_exceeded": llm_errors.ContextLengthError,
        "something new": llm_errors.ProviderUnavailableError,
    }
    for word, kind in words.items():
        assert type(refused(Origin("x"), None, "said", word)) is kind


def test_it_runs_from_the_command_line(tmp_path: Path):
    """python -m amplifier_foundation.model_server script.yaml --port N"""
    script = tmp_path / "script.yaml"
    script.write_text("- text: Served.\n")
    command = [sys.executable, "-m", "amplifier_foundation.model_server", str(script)]
    serving = subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert serving.stdout is not None
        lines = [serving.stdout.readline(), serving.stdout.readline()]
        url = lines[1].split()[-1]

        async def ask() -> str:
            async with mounted(CHAT.module, {"base_url": url, "api_key": "k"}) as provider:
                text: str = (await provider.complete(asking())).text
                return text

        assert asyncio.run(ask()) == "Served."
        os.kill(serving.pid, signal.SIGINT)
        assert serving.wait(10) == 0
    finally:
        serving.kill()
        serving.wait()
        serving.stdout.close()


def test_the_command_line_says_what_is_wrong_with_a_script(tmp_path: Path):
    """A file that is not there is one sentence and status 1."""
    missing = str(tmp_path / "none.yaml")
    command = [sys.executable, "-m", "amplifier_foundation.model_server", missing]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "none.yaml" in done.stderr
    assert "Traceback" not in done.stderr


BODIES = st.dictionaries(
    st.sampled_from(["messages", "input", "model", "max_tokens", "stream_options"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["role", "content", "type", "tool_calls", "id", "tool_use_id"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ),
)


@settings(max_examples=60)
@given(st.sampled_from(["/v1/messages", "/v1/chat/completions", "/v1/responses"]), BODIES)
async def test_any_body_gets_an_answer(path, body):
    """Whatever is sent: an answer of the protocol, never a dropped connection."""
    async with ModelServer([]) as server:
        answer = await raw(server, post(path, body))
    status = answer.split(b" ", 2)[1]
    assert status in {b"200", b"400"}
    json.loads(answer.partition(b"\r\n\r\n")[2])


async def test_the_helpers_of_the_sdks_understand_the_streams():
    """The SDKs' own accumulators, which we do not use, agree with what the server says."""
    import anthropic
    import openai

    line = {
        "thinking": "Hm.",
        "text": "Let me look.",
        "tool_calls": [{"name": "B", "input": {"a": 1}}],
    }
    async with ModelServer([line] * 3) as server:
        async with anthropic.AsyncAnthropic(api_key="k", base_url=server.url) as client:
            question: Any = {"messages": [USER], "model": "m", "max_tokens": 9}
            async with client.messages.stream(**question) as stream:
                message = await stream.get_final_message()
        assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
        assert message.model_dump()["content"][2]["input"] == {"a": 1}
        async with openai.AsyncOpenAI(api_key="k", base_url=server.openai_url) as other:
            asked: Any = {"messages": [USER], "model": "m"}
            async with other.chat.completions.stream(**asked) as chunks:
                completion = await chunks.get_final_completion()
            assert completion.choices[0].message.content == "Let me look."
            calls = completion.choices[0].message.tool_calls
            assert calls
            assert calls[0].function.arguments == '{"a": 1}'
            async with other.responses.stream(model="m", input="x") as events:
                response = await events.get_final_response()
            assert response.output_text == "Let me look."
            assert [item.type for item in response.output] == [
                "reasoning",
                "message",
                "function_call",
            ]


async def test_many_conversations_go_on_at_once():
    """One server is enough for many sessions; each follows its own conversation."""
    script = [{"text": "First."}, {"text": "Second."}]
    async with playing(CHAT, script, per_conversation=True) as (provider, server):
        again = [*asking().messages, Message(role="assistant", content="x"), *asking().messages]

        async def talk() -> str:
            first = await provider.complete(asking())
            second = await provider.complete(ChatRequest(messages=again))
            return f"{first.text} {second.text}"

        async with asyncio.timeout(50):
            said_by_all = await asyncio.gather(*(talk() for _ in range(50)))
    assert set(said_by_all) == {"First. Second."}
    assert len(server.requests) == 100
