"""The model server: as strict as the real ones, and as awkward as the script says."""

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
from amplifier_hooks.agent.model_server import ModelServer
from amplifier_hooks.agent.model_server.server import BadRequest, HttpRequest, read_request
from tests.hooks.agent.model_server.wire import (
    TEXT,
    USER,
    send_bytes,
    write_body,
    write_post,
)
from tests.support.models import (
    CHAT,
    MESSAGES,
    PROTOCOLS,
    make_request,
    mount_provider,
    serve_script,
)
from tests.support.processes import handle_interrupts
from tests.support.waiting import wait_until


async def parse(content: bytes) -> HttpRequest | None:
    reader = asyncio.StreamReader()
    reader.feed_data(content)
    reader.feed_eof()
    return await read_request(reader)


async def test_a_request_is_read_to_the_end_of_its_body() -> None:
    """Names of headers are in lower case, the query is not part of the path."""
    request = await parse(
        b"post /v1/x?a=1 HTTP/1.1\r\nX-Api-Key: k\r\nContent-Length: 3\r\n\r\nabcd"
    )
    assert request == HttpRequest(
        "POST", "/v1/x", {"x-api-key": "k", "content-length": "3"}, b"abc"
    )


@pytest.mark.parametrize(
    "content", [b"", b"\r\n", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"]
)
async def test_who_leaves_before_the_end_has_not_asked(content: bytes) -> None:
    """There is nobody to answer."""
    assert await parse(content) is None


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /v1/models HTTP/1.1\r\n\r\n", 404),
        (b"nonsense\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 413),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 500 + b"\r\n", 431),
        (b"G" * 100_000 + b"\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 3\r\n\r\n{,}", 400),
    ],
)
async def test_nonsense_gets_an_error_and_the_server_lives_on(
    request_bytes: bytes, status: int
) -> None:
    """Every wrong request has an answer with a message, and the next one is served."""
    async with ModelServer([{"text": "Still here."}]) as server:
        answer = await send_bytes(server, request_bytes)
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        assert b'"message"' in answer
        next_one = write_post("/v1/chat/completions", write_body(USER))
        assert b"Still here." in await send_bytes(server, next_one)


@settings(max_examples=50)
@given(st.binary(max_size=200))
async def test_no_bytes_lead_to_another_exception(content: bytes) -> None:
    """A request, none, or a refusal with its status."""
    try:
        request = await parse(content + b"\r\n\r\n")
    except BadRequest as refusal:
        assert 400 <= refusal.status < 500  # noqa: PT017 - any of them will do
    else:
        assert request is None or request.method


@pytest.mark.parametrize(
    ("status", "phrase"),
    [("overloaded", "529 Overloaded"), ("rate_limit", "429 Too Many Requests")],
)
async def test_the_phrase_fits_the_status(status: str, phrase: str) -> None:
    """Also for a status that no standard knows."""
    async with ModelServer([{"error": status}]) as server:
        answer = await send_bytes(server, write_post("/v1/messages", write_body(USER)))
    assert answer.startswith(f"HTTP/1.1 {phrase}\r\n".encode())


async def test_a_cut_answer_says_more_than_it_sends() -> None:
    """`break_after` on a whole reply drops the connection in the middle of the body."""
    async with ModelServer([{"text": "Hello.", "break_after": 0}]) as server:
        answer = await send_bytes(server, write_post("/v1/messages", write_body(USER)))
    head, _, body = answer.partition(b"\r\n\r\n")
    promised = int(head.lower().split(b"content-length: ")[1].split()[0])
    assert len(body) == promised // 2


async def test_replies_are_chosen_by_the_conversation_if_asked():
    """Several conversations at once, each gets the script from its beginning."""
    script = [{"text": "First."}, {"text": "Second."}]
    async with serve_script(MESSAGES, script, per_conversation=True) as (provider, _):
        history = make_request().messages
        assert (await provider.complete(make_request())).text == "First."
        assert (await provider.complete(make_request())).text == "First."
        longer = [*history, Message(role="assistant", content="First."), *history]
        assert (await provider.complete(ChatRequest(messages=longer))).text == "Second."


async def test_plain_text_is_understood_in_every_protocol():
    """Content may be a string or parts, and Responses takes one string for all."""
    bodies = {
        "/v1/messages": write_body(USER),
        "/v1/chat/completions": write_body({"role": "user", "content": [TEXT]}),
        "/v1/responses": {"input": "x"},
        "/v1beta/models/m:generateContent": {"contents": [{"parts": [{"text": "x"}]}]},
    }
    async with ModelServer([{"text": "Yes.", "expect": "x"}] * len(bodies)) as server:
        for path, body in bodies.items():
            answer = await send_bytes(server, write_post(path, body))
            assert b"Yes." in answer, answer


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
    async with serve_script(CHAT, [{"text": "Late.", "delay": 60.0}]) as (provider, server):
        asked = asyncio.create_task(provider.complete(make_request()))
        await wait_until(lambda: bool(server.requests))
        await asyncio.wait_for(server.close(), 5)
        with pytest.raises(llm_errors.ProviderUnavailableError):
            await asked


async def test_an_unmet_expectation_is_a_refusal_that_says_why(protocol):
    """`expect` holds over HTTP as it does in the process."""
    async with serve_script(protocol, [{"text": "x", "expect": "secret word"}]) as (provider, _):
        with pytest.raises(llm_errors.InvalidRequestError, match="secret word"):
            await provider.complete(make_request())


async def test_the_end_of_the_script_can_be_an_error():
    """`when_done` holds over HTTP as it does in the process."""
    async with serve_script(MESSAGES, [], when_done="raise") as (provider, _):
        with pytest.raises(llm_errors.InvalidRequestError, match="were played"):
            await provider.complete(make_request())


def test_a_bad_script_is_refused_when_it_is_handed_in():
    """An unknown key in a script names the nearest right one."""
    with pytest.raises(ModuleLoadError, match="tool_calls"):
        ModelServer([{"tool_call": []}])


def test_it_runs_from_the_command_line(tmp_path: Path):
    """python -m amplifier_hooks.agent.model_server script.yaml --port N"""
    script = tmp_path / "script.yaml"
    script.write_text("- text: Served.\n")
    command = [sys.executable, "-m", "amplifier_hooks.agent.model_server", str(script)]
    serving = subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, text=True, preexec_fn=handle_interrupts
    )
    try:
        assert serving.stdout is not None
        lines = [serving.stdout.readline(), serving.stdout.readline()]
        url = lines[1].split()[-1]

        async def ask() -> str:
            async with mount_provider(CHAT.module, {"base_url": url, "api_key": "k"}) as provider:
                text: str = (await provider.complete(make_request())).text
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
    command = [sys.executable, "-m", "amplifier_hooks.agent.model_server", missing]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "none.yaml" in done.stderr
    assert "Traceback" not in done.stderr


PATHS = {protocol.path for protocol in PROTOCOLS.values()} | {
    "/v1beta/models/m:generateContent",
    "/v1beta/models/m:streamGenerateContent",
}
FIELDS = st.sampled_from(
    [
        "role",
        "content",
        "type",
        "text",
        "tool_calls",
        "tool_call_id",
        "id",
        "tool_use_id",
        "call_id",
        "output",
        "parts",
        "functionResponse",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


# A message of the right shape first, so that what is odd lies deeper down.
MESSAGES_OF_ANY_KIND = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool", "model"]) | JSON},
        optional={
            "content": st.just("x") | JSON,
            "type": st.sampled_from(["function_call", "message"]) | JSON,
            "tool_calls": JSON,
            "tool_call_id": JSON,
            "call_id": JSON,
            "parts": JSON,
        },
    )
    | JSON,
    max_size=4,
)
BODIES = JSON | st.fixed_dictionaries(
    {},
    optional={
        "messages": MESSAGES_OF_ANY_KIND | JSON,
        "input": MESSAGES_OF_ANY_KIND | JSON,
        "contents": MESSAGES_OF_ANY_KIND | JSON,
        "max_tokens": st.just(9) | JSON,
        "model": JSON,
        "stream": st.booleans() | JSON,
        "stream_options": st.just({"include_usage": True}) | JSON,
        "tools": JSON,
    },
)


@settings(max_examples=150)
@given(st.sampled_from(sorted(PATHS)), BODIES, st.booleans())
async def test_any_body_gets_an_answer(path: str, body: Any, per_conversation: bool) -> None:
    """Whatever JSON stands in whatever field: an answer of the protocol, no dropped connection."""
    async with ModelServer([{"text": "x"}], per_conversation=per_conversation) as server:
        answer = await send_bytes(server, write_post(path, body))
    head, _, content = answer.partition(b"\r\n\r\n")
    assert head.split(b" ", 2)[1] in {b"200", b"400"}
    if b"event-stream" in head:
        assert answer.endswith(b"0\r\n\r\n")
    else:
        json.loads(content)


async def test_many_conversations_go_on_at_once():
    """One server is enough for many sessions; each follows its own conversation."""
    script = [{"text": "First."}, {"text": "Second."}]
    async with serve_script(CHAT, script, per_conversation=True) as (provider, server):
        again = [
            *make_request().messages,
            Message(role="assistant", content="x"),
            *make_request().messages,
        ]

        async def talk() -> str:
            first = await provider.complete(make_request())
            second = await provider.complete(ChatRequest(messages=again))
            return f"{first.text} {second.text}"

        async with asyncio.timeout(50):
            said_by_all = await asyncio.gather(*(talk() for _ in range(50)))
    assert set(said_by_all) == {"First. Second."}
    assert len(server.requests) == 100
