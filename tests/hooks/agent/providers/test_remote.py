"""Providers that call a server, with the real SDKs: the same over all three protocols."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import llm_errors
from amplifier_core.capabilities import ALL_WELL_KNOWN_CAPABILITIES
from amplifier_core.interfaces import Provider, StreamingProvider
from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    Message,
    StreamChunk,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from amplifier_core.models import ProviderInfo
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.providers.remote import (
    ReplyBuilder,
    collect_response,
    describe_model,
    describe_remote,
)
from tests.hooks.agent.providers.nearly_compatible import answer_with
from tests.support.models import (
    BASH,
    CHAT,
    MESSAGES,
    fetch_reply,
    make_request,
    mount_provider,
    serve_script,
    stream_reply,
)
from tests.support.waiting import wait_until


def test_what_is_not_known_is_not_said() -> None:
    """A context that finds no window in the defaults takes its own."""
    info = describe_remote("p", "P", ("P_KEY", "P_URL"), {"model": "m", "context_window": None})
    assert info.defaults == {"model": "m"}
    assert set(info.capabilities) <= set(ALL_WELL_KNOWN_CAPABILITIES)
    assert [field.id for field in info.config_fields] == ["api_key", "base_url", "model"]


def test_a_model_has_its_own_limits_or_the_providers_or_none() -> None:
    """Zero is a limit that nobody knows."""
    defaults = {"context_window": 1000, "max_output_tokens": 100}
    info = ProviderInfo(id="p", display_name="P", capabilities=["tools"], defaults=defaults)
    own = describe_model("m", info, title="M", context_window=5000, max_output_tokens=None)
    assert (own.display_name, own.context_window, own.max_output_tokens) == ("M", 5000, 100)
    assert own.capabilities == ["tools"]
    bare = describe_model("m", ProviderInfo(id="p", display_name="P"))
    assert (bare.display_name, bare.context_window, bare.max_output_tokens) == ("m", 0, 0)


def finish(builder: ReplyBuilder, reason: str | None = "stop", **facts: Any) -> ChatResponse:
    return collect_response(builder.finish(usage=None, finish_reason=reason, model="m", **facts))


def describe(chunks: list[StreamChunk]) -> list[tuple[str, int, str]]:
    return [(chunk.kind, chunk.index, chunk.text) for chunk in chunks]


def test_opening_a_block_closes_the_one_before() -> None:
    """One block is open at a time, and its pieces are passed on as they come."""
    builder = ReplyBuilder()
    chunks = [
        *builder.add_text("t", "thinking", "Hm"),
        *builder.add_text("t", "thinking", "."),
        *builder.add_text("x", "text", "Yes"),
    ]
    assert describe(chunks) == [
        ("block_start", 0, ""),
        ("thinking", 0, "Hm"),
        ("thinking", 0, "."),
        ("block_end", 0, ""),
        ("block_start", 1, ""),
        ("text", 1, "Yes"),
    ]
    *end, last = builder.finish(usage=None, finish_reason="stop", model="m")
    assert describe(end) == [("block_end", 1, "")]
    assert last.response is not None
    assert last.response.content == [ThinkingBlock(thinking="Hm."), TextBlock(text="Yes")]


def test_arguments_are_collected_and_not_passed_on() -> None:
    """Half an argument is of no use to a listener."""
    builder = ReplyBuilder()
    list(builder.open_block(0, "tool_call", id="a", name="Bash"))
    assert list(builder.add_text(0, "tool_call", '{"n":')) == []
    assert list(builder.add_text(0, "tool_call", " 1}")) == []
    reply = finish(builder)
    assert reply.content == [ToolCallBlock(id="a", name="Bash", input={"n": 1})]
    assert reply.tool_calls is not None
    assert reply.tool_calls[0].arguments == {"n": 1}


def test_streamed_arguments_go_before_those_that_were_known() -> None:
    """The whole input, which comes with some protocols, serves when nothing was streamed."""
    for streamed, expected in (("", {"known": 1}), ('{"streamed": 2}', {"streamed": 2})):
        builder = ReplyBuilder()
        list(builder.open_block(0, "tool_call", id="a", name="Bash"))
        builder.add_facts(0, input={"known": 1})
        list(builder.add_text(0, "tool_call", streamed))
        assert [call.arguments for call in finish(builder).tool_calls or []] == [expected]


def test_facts_are_kept_with_their_block() -> None:
    """A signature comes after the thought that it signs; facts of unknown blocks are dropped."""
    builder = ReplyBuilder()
    list(builder.open_block(0, "thinking", item_id="rs_1", signature=None))
    builder.add_facts(0, signature="s")
    builder.add_facts(9, signature="nobody's")
    (block,) = finish(builder).content
    assert isinstance(block, ThinkingBlock)
    assert (block.signature, block.model_extra) == ("s", {"item_id": "rs_1"})


@pytest.mark.parametrize(
    ("said", "meant"), [("stop", "tool_calls"), ("length", "length"), (None, None)]
)
def test_a_reply_that_calls_tools_ends_with_them(said: str | None, meant: str | None) -> None:
    """Some servers say "stop" when they mean that the tools are to run."""
    builder = ReplyBuilder()
    list(builder.open_block(0, "tool_call", name="Bash"))
    assert finish(builder, said).finish_reason == meant


def test_what_is_known_of_the_reply_is_in_its_metadata() -> None:
    """Without anything there is none."""
    assert finish(ReplyBuilder(), id="r1", region=None).metadata == {"id": "r1"}
    assert finish(ReplyBuilder()).metadata is None
    assert finish(ReplyBuilder()).content == []


STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["text", "thinking", "tool_call"]), st.text()),
    max_size=12,
)


@given(STEPS)
def test_blocks_never_overlap_and_no_text_is_lost(steps: list[tuple[int, Any, str]]) -> None:
    """However pieces are interleaved: every block opens and closes once, and has all its text."""
    builder = ReplyBuilder()
    chunks = [c for key, kind, text in steps for c in builder.add_text((key, kind), kind, text)]
    chunks += builder.finish(usage=None, finish_reason=None, model=None)
    opened = [chunk.index for chunk in chunks if chunk.kind == "block_start"]
    closed = [chunk.index for chunk in chunks if chunk.kind == "block_end"]
    assert opened == closed == list(range(len({(key, kind) for key, kind, _ in steps})))
    for kind in ("text", "thinking"):
        told = sorted("".join(chunk.text for chunk in chunks if chunk.kind == kind))
        assert told == sorted("".join(text for _, one, text in steps if one == kind))


def test_chunks_without_a_reply_at_their_end_are_a_mistake() -> None:
    """Nobody takes the last piece for the whole."""
    with pytest.raises(ValueError, match="end without a response"):
        collect_response(iter([StreamChunk("text", 0, "text", "x")]))


TWO_CALLS: dict[str, Any] = {
    "text": "Let me look.",
    "tool_calls": [
        {"name": "Bash", "input": {"command": "ls"}},
        {"name": "Bash", "input": {"command": "git status --short", "größe": 'ä\n"x"'}},
    ],
}


async def test_a_provider_fulfils_the_protocols_of_the_kernel(protocol):
    """Providers implement `Provider` and `StreamingProvider` and are mounted by their name."""
    async with serve_script(protocol, []) as (provider, _):
        assert isinstance(provider, Provider)
        assert isinstance(provider, StreamingProvider)
        assert provider.name == "model"


async def test_a_provider_says_what_it_is_and_needs(protocol):
    """Apps ask for the settings, contexts read the limits."""
    options = {"name": "mine", "model": "m", "max_output_tokens": 9, **protocol.options}
    async with mount_provider(protocol.module, options) as provider:
        info = provider.get_info()
    vendor = protocol.module.__name__.rpartition(".")[2].upper()
    assert (info.id, info.display_name.upper()) == ("mine", vendor)
    assert info.credential_env_vars == [f"{vendor}_API_KEY"]
    assert (info.defaults["model"], info.defaults["max_output_tokens"]) == ("m", 9)
    fields = {field.id: field for field in info.config_fields}
    assert (fields["api_key"].field_type, fields["api_key"].required) == ("secret", True)
    assert fields["base_url"].env_var == f"{vendor}_BASE_URL"
    assert (fields["model"].default, fields["model"].required) == ("m", False)


@pytest.mark.parametrize("elsewhere", [{}, {"base_url": "http://localhost"}])
async def test_the_window_is_that_of_the_vendors_own_models(elsewhere):
    """What another server under the same protocol can read is not known."""
    async with mount_provider(MESSAGES.module, elsewhere) as provider:
        assert provider.get_info().defaults.get("context_window") == (
            None if elsewhere else 200_000
        )


async def test_the_models_are_those_that_the_server_offers(protocol):
    """With what it says of them, and the provider's own limits for the rest."""
    offered = {
        "data": [
            {"id": "a", "type": "model", "object": "model", "created": 1, "owned_by": "x",
             "display_name": "Model A", "created_at": "2026-01-01T00:00:00Z",
             "max_input_tokens": 1000, "max_tokens": 100},
            {"id": "b", "type": "model", "object": "model", "created": 1, "owned_by": "x",
             "created_at": "2026-01-01T00:00:00Z"},
        ],
        "has_more": False,
        "object": "list",
    }  # fmt: skip
    async with answer_with(protocol, offered, []) as provider:
        models = await provider.list_models()
    known = provider.get_info().defaults.get("max_output_tokens") or 0
    assert [(one.id, one.display_name) for one in models] == [("a", "Model A"), ("b", "b")]
    assert [one.context_window for one in models] == [1000, 0]
    assert [one.max_output_tokens for one in models] == [100, known]
    assert "tools" in models[0].capabilities


async def test_without_a_list_there_is_the_configured_model(protocol, monkeypatch):
    """A server may have none, and without a key none is asked."""
    async with serve_script(protocol, [], {"model": "mine"}) as (provider, _):
        assert [one.id for one in await provider.list_models()] == ["mine"]
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    async with mount_provider(protocol.module, {"model": "mine", **protocol.options}) as provider:
        assert [one.id for one in await provider.list_models()] == ["mine"]


async def test_a_refused_key_is_said_when_models_are_listed(protocol):
    """An app that sets the provider up has to know."""
    refusal = {"error": {"type": "authentication_error", "message": "wrong key"}}
    async with answer_with(protocol, refusal, [], "401 Unauthorized") as provider:
        with pytest.raises(llm_errors.AuthenticationError):
            await provider.list_models()


async def test_a_reply_arrives_whole_and_streamed_alike(protocol, way):
    """`complete` and the last chunk of `stream` carry the same complete response."""
    script = [{"text": "Hello, dear  world!\nHow are you? "}]
    async with serve_script(protocol, script) as (provider, server):
        reply = await fetch_reply(provider, make_request(), way)
    assert reply.text == script[0]["text"]
    assert reply.content == [TextBlock(text=script[0]["text"])]
    assert reply.tool_calls is None
    assert reply.finish_reason == "stop"
    assert bool(server.requests[0].body.get("stream")) == (way == "streamed")
    assert server.requests[0].path == protocol.path


async def test_blocks_open_grow_and_close_in_order(protocol):
    """Blocks open, grow and close, one at a time, and the response comes last."""
    script = [{"thinking": "I think so.", "text": "It is so.", **TWO_CALLS}]
    async with serve_script(protocol, script) as (provider, _):
        chunks, _ = await stream_reply(provider, make_request(tools=[BASH]))
    assert [c.kind for c in chunks].count("response") == 1
    assert chunks[-1].kind == "response"
    for index, group in groupby(chunks[:-1], key=lambda chunk: chunk.index):
        block = list(group)
        assert (block[0].kind, block[-1].kind) == ("block_start", "block_end"), index
        assert {chunk.block_type for chunk in block} == {block[0].block_type}
    text = "".join(chunk.text for chunk in chunks if chunk.kind == "text")
    thinking = "".join(chunk.text for chunk in chunks if chunk.kind == "thinking")
    assert (thinking, text) == ("I think so.", "Let me look.")
    kinds = [chunk.block_type for chunk in chunks if chunk.kind == "block_start"]
    assert kinds == ["thinking", "text", "tool_call", "tool_call"]


async def test_parallel_tool_calls_keep_their_order_and_input(protocol, way):
    """Several calls in one reply arrive as the model wrote them."""
    async with serve_script(protocol, [TWO_CALLS]) as (provider, server):
        reply = await fetch_reply(provider, make_request(tools=[BASH]), way)
    calls = provider.parse_tool_calls(reply)
    assert [call.name for call in calls] == ["Bash", "Bash"]
    assert [call.arguments for call in calls] == [c["input"] for c in TWO_CALLS["tool_calls"]]
    assert [call.id for call in calls] == [f"{protocol.prefix}_1_1", f"{protocol.prefix}_1_2"]
    assert reply.finish_reason == "tool_calls"
    assert "Run a command." in str(server.requests[0].body["tools"])


async def test_results_of_tools_go_back_in_a_second_turn(protocol, way):
    """A tool call round trip of two turns, with parallel calls whose results come out of order."""
    script = [TWO_CALLS, {"text": "Two files.", "expect": "a.txt"}]
    async with serve_script(protocol, script) as (provider, server):
        history = [Message(role="user", content="What is here?")]
        first = await fetch_reply(provider, ChatRequest(messages=history, tools=[BASH]), way)
        one, two = provider.parse_tool_calls(first)
        history += [
            Message(role="assistant", content=first.content, tool_calls=first.tool_calls),
            Message(role="tool", tool_call_id=two.id, content="M b.txt"),
            Message(role="tool", tool_call_id=one.id, content="a.txt b.txt"),
        ]
        second = await fetch_reply(provider, ChatRequest(messages=history, tools=[BASH]), way)
    assert second.text == "Two files."
    body = str(server.requests[1].body)
    assert body.index("a.txt b.txt") < body.index("M b.txt")


async def test_usage_counts_the_cache_as_part_of_the_input(protocol, way):
    """Vendors count differently; ours is one way for all."""
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 60}
    async with serve_script(protocol, [{"text": "Hi.", "usage": usage}]) as (provider, _):
        reply = await fetch_reply(provider, make_request(), way)
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 20)
    assert (reply.usage.total_tokens, reply.usage.cache_read_tokens) == (120, 60)


async def test_what_a_request_asks_for_is_sent(protocol):
    """Model, temperature and limits of the request win over those of the config."""
    config = {"model": "small", "temperature": 1.0, "max_output_tokens": 5, "extra": {"top_p": 0.5}}
    async with serve_script(protocol, [{}, {}], config) as (provider, server):
        await provider.complete(make_request())
        await provider.complete(make_request(model="big", temperature=0.0, max_output_tokens=7))
    first, second = (received.body for received in server.requests)
    limit = next(key for key in first if key.startswith("max_"))
    assert (first["model"], first["temperature"], first[limit]) == ("small", 1.0, 5)
    assert (second["model"], second["temperature"], second[limit]) == ("big", 0.0, 7)
    assert first["top_p"] == second["top_p"] == 0.5


@pytest.mark.parametrize("choice", ["auto", "none", "required", "any", "Bash", None])
async def test_the_choice_of_tools_is_said_in_each_protocol(protocol, choice):
    """`tool_choice` is auto, none, required (or any), or the name of a tool."""
    async with serve_script(protocol, [{}]) as (provider, server):
        await provider.complete(make_request(tools=[BASH], tool_choice=choice))
    sent = server.requests[0].body.get("tool_choice")
    must = "any" if protocol is MESSAGES else "required"
    word = {"any": must, "required": must}.get(choice or "", choice)
    if choice == "Bash":
        assert sent["type"] in {"tool", "function"}
        assert "Bash" in str(sent)
    else:
        assert sent == ({"type": word} if word and protocol is MESSAGES else word)


async def test_a_choice_without_tools_is_not_sent(protocol):
    """Servers refuse a choice among no tools."""
    async with serve_script(protocol, [{}]) as (provider, server):
        await provider.complete(make_request(tool_choice="auto"))
    assert not {"tools", "tool_choice"} & set(server.requests[0].body)


async def test_an_empty_reply_is_a_reply(protocol, way):
    """A model may say nothing; that is not an error."""
    async with serve_script(protocol, [{}]) as (provider, _):
        reply = await fetch_reply(provider, make_request(), way)
    assert reply.content == []
    assert reply.text == ""
    assert provider.parse_tool_calls(reply) == []


async def test_malformed_arguments_become_a_parse_error(protocol, way):
    """A call that cannot be read does not fail the reply it came in."""
    calls = [
        {"name": "Bash", "arguments": '{"command": "ls'},
        {"name": "Bash", "arguments": '["ls"]'},
        {"name": "Bash", "input": {"command": "ls"}},
    ]
    async with serve_script(protocol, [{"tool_calls": calls}]) as (provider, _):
        reply = await fetch_reply(provider, make_request(tools=[BASH]), way)
    cut, wrong, good = provider.parse_tool_calls(reply)
    assert cut.arguments == wrong.arguments == {}
    assert '{"command": "ls' in cut.parse_error
    assert "JSON object" in wrong.parse_error
    assert good.parse_error is None
    assert good.arguments == {"command": "ls"}


async def test_a_call_of_an_unknown_tool_is_passed_on(protocol, way):
    """Which tools exist is the loop's business: the provider hands over what the model wrote."""
    script = [{"tool_calls": [{"name": "Wirte", "input": {"a": 1}}]}]
    async with serve_script(protocol, script) as (provider, _):
        reply = await fetch_reply(provider, make_request(tools=[BASH]), way)
    assert [call.name for call in provider.parse_tool_calls(reply)] == ["Wirte"]


async def test_many_requests_run_at_once(protocol):
    """Nothing of one request leaks into another on the same provider."""
    script = [{"text": f"Reply {n}", "delay": 0.05} for n in range(20)]
    async with serve_script(protocol, script) as (provider, _):
        async with asyncio.timeout(20):
            replies = await asyncio.gather(*(provider.complete(make_request()) for _ in range(20)))
    assert {reply.text for reply in replies} == {line["text"] for line in script}


async def test_a_reply_at_its_limit_says_so(protocol, way):
    """A reply that ran out of tokens ends with finish_reason "length"."""
    word = {"toolu": "max_tokens"}.get(protocol.prefix, "length")
    word = "max_output_tokens" if "responses" in protocol.path else word
    async with serve_script(protocol, [{"text": "And so", "finish_reason": word}]) as (provider, _):
        assert (
            await fetch_reply(provider, make_request(tools=[BASH]), way)
        ).finish_reason == "length"


async def test_a_slow_stream_is_delivered_as_it_comes(protocol):
    """A slow stream within its limits is no error, and its pieces are not held back."""
    script = [{"text": "One two three.", "pause": 0.05}]
    async with serve_script(protocol, script, {"timeout": 5.0}) as (provider, _):
        chunks = provider.stream(make_request())
        arrivals = [time.monotonic() async for chunk in chunks if chunk.kind == "text"]
    assert len(arrivals) == 3
    assert arrivals[-1] - arrivals[0] > 0.07


# Leaving


async def test_cancelling_in_mid_stream_closes_the_connection(protocol):
    """The server does not go on writing for nobody."""
    script = [{"text": "word " * 500, "pause": 0.02}]
    async with serve_script(protocol, script) as (provider, server):
        begun = asyncio.Event()

        async def listen() -> None:
            async for chunk in provider.stream(make_request()):
                if chunk.kind == "text":
                    begun.set()

        listening = asyncio.create_task(listen())
        await asyncio.wait_for(begun.wait(), 20)
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        await wait_until(lambda: server.disconnects == 1, timeout=10)


async def test_closing_the_iterator_closes_the_connection(protocol):
    """A consumer that has heard enough ends the request at the server too."""
    async with serve_script(protocol, [{"text": "word " * 500, "pause": 0.02}]) as (
        provider,
        server,
    ):
        chunks = provider.stream(make_request())
        await anext(chunks)
        await chunks.aclose()
        await wait_until(lambda: server.disconnects == 1, timeout=10)


async def test_cancelling_a_whole_reply_closes_the_connection(protocol):
    """A cancelled call does not go on at the server."""
    async with serve_script(protocol, [{"text": "Late.", "delay": 30.0}]) as (provider, server):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(provider.complete(make_request()), 0.5 + len(server.requests))
        await wait_until(lambda: server.disconnects == len(server.requests), timeout=10)


# Keys, addresses and packages


async def test_settings_come_from_the_usual_environment_variables(monkeypatch):
    """Without a config, the SDK's own variables are used."""
    async with serve_script(MESSAGES, [{"text": "Hi."}], api_key="secret-1") as (_, server):
        monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        async with mount_provider(MESSAGES.module) as provider:
            assert provider.name == "anthropic"
            assert (await provider.complete(make_request())).text == "Hi."


async def test_a_missing_key_is_one_sentence_that_says_what_to_set():
    """It names the variable, and is not worth a retry."""
    for protocol, variable in ((MESSAGES, "ANTHROPIC_API_KEY"), (CHAT, "OPENAI_API_KEY")):
        async with mount_provider(protocol.module) as provider:
            for way in ("whole", "streamed"):
                with pytest.raises(llm_errors.AuthenticationError) as caught:
                    await fetch_reply(provider, make_request(), way)
                assert variable in str(caught.value)
                assert not caught.value.retryable


async def test_a_local_server_needs_no_key():
    """Ollama, vLLM and LM Studio want no key: a base URL is enough."""
    async with serve_script(CHAT, [{"text": "Hi."}], {"api_key": None}) as (provider, _):
        assert (await provider.complete(make_request())).text == "Hi."


async def test_a_wrong_key_is_refused(protocol, way):
    """An auth failure of the server is an AuthenticationError; the key is not in the message."""
    config = {"api_key": "wrong-key-0123456789"}
    async with serve_script(protocol, [], config, api_key="right") as (provider, _):
        with pytest.raises(llm_errors.AuthenticationError) as caught:
            await fetch_reply(provider, make_request(), way)
    assert "wrong-key" not in str(caught.value)
    assert "wrong-key" not in repr(provider.config)


@pytest.mark.parametrize("module", [MESSAGES.module, CHAT.module])
async def test_an_unknown_option_is_named_with_the_nearest_right_one(module):
    """The person is told that a misspelt option has no effect."""
    host = TestCoordinator()
    await module.mount(host, {"base_ulr": "http://localhost"})
    ((message, level, _),) = host.screen.messages
    assert "unknown option 'base_ulr' is ignored; did you mean 'base_url'?" in message
    assert level == "warning"


def test_sdks_are_imported_only_when_used():
    """Mounting a provider costs nothing; its first request imports its SDK alone."""
    program = """
import asyncio, sys
from tests.support.models import CHAT, MESSAGES, make_request, mount_provider, serve_script
HEAVY = {"anthropic", "openai", "httpx2", "xllamacpp"}

async def main():
    from amplifier_hooks.agent.providers import local, scripted
    for module in (MESSAGES.module, CHAT.module, local, scripted):
        async with mount_provider(module):
            pass
    assert not HEAVY & set(sys.modules), HEAVY & set(sys.modules)
    async with serve_script(CHAT, [{"text": "Hi."}]) as (provider, _):
        assert (await provider.complete(make_request())).text == "Hi."
    assert "openai" in sys.modules and "anthropic" not in sys.modules

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_missing_sdk_says_what_to_install():
    """Without the extra the error names it."""
    program = """
import asyncio, sys
sys.modules["openai"] = None
from amplifier_core.llm_errors import ProviderUnavailableError
from amplifier_hooks.modules.installation import name_install_command
from tests.support.models import CHAT, make_request, mount_provider

async def main():
    async with mount_provider(CHAT.module, {"api_key": "k"}) as provider:
        try:
            await provider.complete(make_request())
        except ProviderUnavailableError as error:
            assert str(error).endswith(name_install_command("openai")) and not error.retryable
            return
    raise SystemExit("no error")

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
