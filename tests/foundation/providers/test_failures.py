"""Every way in which a model call can fail, as an error of the kernel."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import llm_errors
from amplifier_core.errors import ModuleLoadError
from amplifier_foundation.providers.failures import Origin, refused, retry_after, translate
from tests.foundation.providers.mounting import (
    BASH,
    CHAT,
    MESSAGES,
    asking,
    mounted,
    playing,
    replied,
)

REFUSALS = {
    "rate_limit": (llm_errors.RateLimitError, 429, True),
    "overloaded": (llm_errors.ProviderUnavailableError, 529, True),
    "server_error": (llm_errors.ProviderUnavailableError, 500, True),
    "authentication": (llm_errors.AuthenticationError, 401, False),
    "access_denied": (llm_errors.AccessDeniedError, 403, False),
    "not_found": (llm_errors.NotFoundError, 404, False),
    "invalid_request": (llm_errors.InvalidRequestError, 400, False),
    "context_length": (llm_errors.ContextLengthError, 400, False),
    "content_filter": (llm_errors.ContentFilterError, 400, False),
}


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_refusal_has_its_own_error(protocol, way, refusal):
    """Every SDK error is mapped with provider, model, status_code and whether to retry."""
    kind, status, retryable = REFUSALS[refusal]
    script = [{"error": refusal}]
    async with playing(protocol, script, {"model": "m-1"}) as (provider, server):
        with pytest.raises(llm_errors.LLMError) as caught:
            await replied(provider, asking(), way)
    error = caught.value
    assert type(error) is kind
    assert (error.provider, error.model) == ("model", "m-1")
    assert (error.status_code, error.retryable) == (status, retryable)
    assert str(error).startswith("model (m-1): ")
    assert len(server.requests) == 1, "the SDK must not retry: the loop does"


async def test_the_wait_that_the_server_asks_for_is_kept(protocol, way):
    """429 with retry-after: the loop learns how long to wait."""
    script = [{"error": {"type": "rate_limit", "retry_after": 2.5}, "text": "Now."}]
    async with playing(protocol, script) as (provider, _):
        with pytest.raises(llm_errors.RateLimitError) as caught:
            await replied(provider, asking(), way)
        assert caught.value.retry_after == 2.5
        assert (await replied(provider, asking(), way)).text == "Now."


async def test_a_stream_that_breaks_off_is_said_to_be_broken(protocol):
    """A broken stream is an error of its own, and what came before it was delivered."""
    script = [{"text": "One two three four five six.", "break_after": 8}]
    seen = []
    async with playing(protocol, script) as (provider, _):
        with pytest.raises(llm_errors.StreamBrokenError) as caught:  # noqa: PT012
            async for chunk in provider.stream(asking()):
                seen.append(chunk)  # noqa: PERF401 - the loop ends with an error
    assert caught.value.retryable
    assert any(chunk.kind == "text" for chunk in seen)
    assert not any(chunk.kind == "response" for chunk in seen)


async def test_a_reply_cut_in_half_is_retryable(protocol):
    """A connection that is lost in the middle of a whole reply can be tried again."""
    async with playing(protocol, [{"text": "Hello.", "break_after": 0}]) as (provider, _):
        with pytest.raises(llm_errors.ProviderUnavailableError) as caught:
            await provider.complete(asking())
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        ("overloaded", llm_errors.ProviderUnavailableError),
        ("rate_limit", llm_errors.RateLimitError),
        ("server_error", llm_errors.ProviderUnavailableError),
    ],
)
async def test_an_error_in_mid_stream_keeps_its_kind(protocol, refusal, kind):
    """An error event inside a stream that began with status 200 is still that error."""
    script = [{"error": {"type": refusal, "after": 5}}]
    async with playing(protocol, script) as (provider, _):
        with pytest.raises(llm_errors.LLMError) as caught:
            async for _ in provider.stream(asking()):
                pass
    assert type(caught.value) is kind
    assert caught.value.retryable


async def test_a_lost_connection_is_retryable(protocol, way):
    """Connection lost before an answer: unavailable, retryable."""
    async with playing(protocol, [{"error": "connection"}]) as (provider, _):
        with pytest.raises(llm_errors.ProviderUnavailableError) as caught:
            await replied(provider, asking(), way)
    assert caught.value.retryable


async def test_nobody_listening_is_unavailable(protocol, way):
    """A server that is not there: unavailable, and the sentence says no connection."""
    async with playing(protocol, []) as (provider, server):
        await server.close()
        with pytest.raises(llm_errors.ProviderUnavailableError, match="no connection"):
            await replied(provider, asking(), way)


async def test_a_server_that_never_answers_times_out(protocol, way):
    """A slow server is a retryable timeout after `timeout` seconds."""
    async with playing(protocol, [{"error": "timeout"}], {"timeout": 0.3}) as (provider, _):
        started = time.monotonic()
        with pytest.raises(llm_errors.LLMTimeoutError) as caught:
            await replied(provider, asking(), way)
    assert 0.25 < time.monotonic() - started < 5
    assert caught.value.retryable


async def test_a_stream_that_falls_silent_times_out(protocol):
    """A stream without a word for `timeout` seconds is a timeout, not a wait for ever."""
    script = [{"text": "One two three.", "pause": 30.0}]
    async with playing(protocol, script, {"timeout": 0.3}) as (provider, _):
        with pytest.raises(llm_errors.LLMTimeoutError):
            await replied(provider, asking(), "streamed")


async def test_a_slow_stream_is_delivered_as_it_comes(protocol):
    """A slow stream within its limits is no error, and its pieces are not held back."""
    script = [{"text": "One two three.", "pause": 0.05}]
    async with playing(protocol, script, {"timeout": 5.0}) as (provider, _):
        chunks = provider.stream(asking())
        arrivals = [time.monotonic() async for chunk in chunks if chunk.kind == "text"]
    assert len(arrivals) == 3
    assert arrivals[-1] - arrivals[0] > 0.07


async def test_cancelling_in_mid_stream_closes_the_connection(protocol):
    """Cancellation in mid-stream closes the connection."""
    script = [{"text": "word " * 500, "pause": 0.02}]
    async with playing(protocol, script) as (provider, server):
        begun = asyncio.Event()

        async def listen() -> None:
            async for chunk in provider.stream(asking()):
                if chunk.kind == "text":
                    begun.set()

        listening = asyncio.create_task(listen())
        await asyncio.wait_for(begun.wait(), 20)
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        await _until(lambda: server.disconnects == 1)


async def test_closing_the_iterator_closes_the_connection(protocol):
    """A consumer that has heard enough ends the request at the server too."""
    async with playing(protocol, [{"text": "word " * 500, "pause": 0.02}]) as (provider, server):
        chunks = provider.stream(asking())
        await anext(chunks)
        await chunks.aclose()
        await _until(lambda: server.disconnects == 1)


async def test_cancelling_a_whole_reply_closes_the_connection(protocol):
    """A cancelled call does not go on at the server."""
    async with playing(protocol, [{"text": "Late.", "delay": 30.0}]) as (provider, server):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(provider.complete(asking()), 0.5 + len(server.requests))
        await _until(lambda: server.disconnects == len(server.requests))


async def _until(true) -> None:
    async with asyncio.timeout(10):
        while not true():
            await asyncio.sleep(0.01)


async def test_a_missing_key_is_one_sentence_that_says_what_to_set():
    """A missing key is an AuthenticationError with one sentence that says what to set."""
    for protocol, variable in ((MESSAGES, "ANTHROPIC_API_KEY"), (CHAT, "OPENAI_API_KEY")):
        async with mounted(protocol.module) as provider:
            for way in ("whole", "streamed"):
                with pytest.raises(llm_errors.AuthenticationError) as caught:
                    await replied(provider, asking(), way)
                assert variable in str(caught.value)
                assert not caught.value.retryable


async def test_a_local_server_needs_no_key():
    """Ollama, vLLM and LM Studio want no key: a base URL is enough."""
    async with playing(CHAT, [{"text": "Hi."}], {"api_key": None}) as (provider, _):
        assert (await provider.complete(asking())).text == "Hi."


async def test_a_wrong_key_is_refused(protocol, way):
    """An auth failure of the server is an AuthenticationError; the key is not in the message."""
    config = {"api_key": "wrong-key-0123456789"}
    async with playing(protocol, [], config, api_key="right") as (provider, _):
        with pytest.raises(llm_errors.AuthenticationError) as caught:
            await replied(provider, asking(), way)
    assert "wrong-key" not in str(caught.value)
    assert "wrong-key" not in repr(provider.config)


async def test_a_wrong_address_is_a_clear_sentence(protocol):
    """A base URL that leads elsewhere is not retried and names the server's answer."""
    async with playing(protocol, []) as (_, server):
        settings = protocol.config(server) | {"base_url": f"{server.url}/nowhere"}
        async with mounted(protocol.module, settings) as provider:
            with pytest.raises(llm_errors.NotFoundError, match="There is no POST /nowhere"):
                await provider.complete(asking())


async def test_a_web_page_instead_of_a_model_is_a_clear_sentence(protocol):
    """An answer that is not of the protocol asks whether base_url is right."""

    async def page(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<p>Hi"
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(page, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        config = {"base_url": f"http://127.0.0.1:{port}", "api_key": "k", **protocol.options}
        async with mounted(protocol.module, config) as provider:
            with pytest.raises(llm_errors.LLMError, match="base_url"):
                await provider.complete(asking())


async def test_a_refusal_of_the_model_is_a_filter_error(way):
    """A reply that the provider's filter stopped is a ContentFilterError."""
    for protocol, reason in ((MESSAGES, "refusal"), (CHAT, "content_filter")):
        script = [{"text": "I", "finish_reason": reason}]
        async with playing(protocol, script) as (provider, _):
            with pytest.raises(llm_errors.ContentFilterError):
                await replied(provider, asking(), way)


async def test_a_reply_at_its_limit_says_so(protocol, way):
    """A reply that ran out of tokens ends with finish_reason "length"."""
    word = {"toolu": "max_tokens"}.get(protocol.prefix, "length")
    word = "max_output_tokens" if "responses" in protocol.path else word
    async with playing(protocol, [{"text": "And so", "finish_reason": word}]) as (provider, _):
        assert (await replied(provider, asking(tools=[BASH]), way)).finish_reason == "length"


@pytest.mark.parametrize("module", [MESSAGES.module, CHAT.module])
async def test_an_unknown_option_is_named_with_the_nearest_right_one(module):
    """Bad input gets a clear sentence."""
    with pytest.raises(ModuleLoadError, match="base_url"):
        async with mounted(module, {"base_ulr": "http://localhost"}):
            pass


def test_a_used_up_quota_is_not_retried():
    """429 for an empty account does not get better by waiting."""
    error = refused(Origin("openai"), 429, "You exceeded your quota", "insufficient_quota")
    assert isinstance(error, llm_errors.RateLimitError)
    assert not error.retryable


@given(st.floats(0, 1e6, allow_nan=False))
def test_seconds_to_wait_are_read_from_either_header(seconds):
    """retry-after in seconds and retry-after-ms in milliseconds."""
    assert retry_after({"retry-after": str(seconds)}) == seconds
    assert retry_after({"retry-after-ms": str(seconds)}) == seconds / 1000


@given(st.text())
def test_a_header_that_says_nothing_is_no_wait(text):
    """Nonsense in a header never raises, and a wait is finite and not negative."""
    for name in ("retry-after", "retry-after-ms"):
        wait = retry_after({name: text})
        assert wait is None or 0 <= wait < float("inf")


def test_a_date_to_wait_for_is_understood():
    """retry-after may be a date."""
    soon = datetime.now(UTC) + timedelta(seconds=30)
    assert 25 < (retry_after({"retry-after": format_datetime(soon, usegmt=True)}) or 0) <= 30
    past = datetime.now(UTC) - timedelta(days=1)
    assert retry_after({"retry-after": format_datetime(past, usegmt=True)}) == 0


def test_our_own_errors_pass_unchanged():
    """What is already one of ours is not wrapped again."""
    error = llm_errors.StreamBrokenError("broken")
    assert translate(error, Origin("x")) is error


def test_sdks_are_imported_only_when_used():
    """Imports of anthropic and openai happen only with the first request."""
    program = """
import asyncio, sys
from tests.foundation.providers.mounting import CHAT, MESSAGES, asking, mounted, playing
HEAVY = {"anthropic", "openai", "httpx2", "xllamacpp"}

async def main():
    from amplifier_foundation.providers import local, scripted
    for module in (MESSAGES.module, CHAT.module, local, scripted):
        async with mounted(module):
            pass
    assert not HEAVY & set(sys.modules), HEAVY & set(sys.modules)
    async with playing(CHAT, [{"text": "Hi."}]) as (provider, _):
        assert (await provider.complete(asking())).text == "Hi."
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
from tests.foundation.providers.mounting import CHAT, asking, mounted

async def main():
    async with mounted(CHAT.module, {"api_key": "k"}) as provider:
        try:
            await provider.complete(asking())
        except ProviderUnavailableError as error:
            assert "amplifier-hooks[openai]" in str(error) and not error.retryable
            return
    raise SystemExit("no error")

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (402, llm_errors.AccessDeniedError, False),
        (408, llm_errors.LLMTimeoutError, True),
        (409, llm_errors.ProviderUnavailableError, True),
        (413, llm_errors.InvalidRequestError, False),
        (422, llm_errors.InvalidRequestError, False),
        (503, llm_errors.ProviderUnavailableError, True),
    ],
)
def test_every_status_has_its_error(status, kind, retryable):
    """The statuses that the scripts have no word for."""
    error = refused(Origin("x", "m"), status, "no")
    assert (type(error), error.status_code, error.retryable) == (kind, status, retryable)
