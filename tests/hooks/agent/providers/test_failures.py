"""Every way in which a model call can fail, as an error of the kernel."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import anthropic
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import llm_errors
from amplifier_hooks.agent.providers.failures import (
    Origin,
    SdkErrors,
    find_sdk_errors,
    make_refusal,
    read_retry_after,
    translate,
)
from tests.hooks.agent.providers.nearly_compatible import answer_with
from tests.support.models import (
    fetch_reply,
    make_request,
    mount_provider,
    serve_script,
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
    """Provider, model, status and whether a retry may help are all on the error."""
    kind, status, retryable = REFUSALS[refusal]
    script = [{"error": refusal}]
    async with serve_script(protocol, script, {"model": "m-1"}) as (provider, server):
        with pytest.raises(llm_errors.LLMError) as caught:
            await fetch_reply(provider, make_request(), way)
    error = caught.value
    assert type(error) is kind
    assert (error.provider, error.model) == ("model", "m-1")
    assert (error.status_code, error.retryable) == (status, retryable)
    assert str(error).startswith("model (m-1): ")
    assert len(server.requests) == 1, "the SDK must not retry: the loop does"


async def test_the_wait_that_the_server_asks_for_is_kept(protocol, way):
    """429 with retry-after: the loop learns how long to wait."""
    script = [{"error": {"type": "rate_limit", "retry_after": 2.5}, "text": "Now."}]
    async with serve_script(protocol, script) as (provider, _):
        with pytest.raises(llm_errors.RateLimitError) as caught:
            await fetch_reply(provider, make_request(), way)
        assert caught.value.retry_after == 2.5
        assert (await fetch_reply(provider, make_request(), way)).text == "Now."


async def test_a_stream_that_breaks_off_is_said_to_be_broken(protocol):
    """A broken stream is an error of its own, and what came before it was delivered."""
    script = [{"text": "One two three four five six.", "break_after": 8}]
    seen = []
    async with serve_script(protocol, script) as (provider, _):
        with pytest.raises(llm_errors.StreamBrokenError) as caught:  # noqa: PT012
            async for chunk in provider.stream(make_request()):
                seen.append(chunk)  # noqa: PERF401 - the loop ends with an error
    assert caught.value.retryable
    assert any(chunk.kind == "text" for chunk in seen)
    assert not any(chunk.kind == "response" for chunk in seen)


async def test_a_reply_cut_in_half_is_retryable(protocol):
    """A connection that is lost in the middle of a whole reply can be tried again."""
    async with serve_script(protocol, [{"text": "Hello.", "break_after": 0}]) as (provider, _):
        with pytest.raises(llm_errors.ProviderUnavailableError) as caught:
            await provider.complete(make_request())
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
    async with serve_script(protocol, script) as (provider, _):
        with pytest.raises(llm_errors.LLMError) as caught:
            async for _ in provider.stream(make_request()):
                pass
    assert type(caught.value) is kind
    assert caught.value.retryable


async def test_a_lost_connection_is_retryable(protocol, way):
    """Connection lost before an answer: unavailable, retryable."""
    async with serve_script(protocol, [{"error": "connection"}]) as (provider, _):
        with pytest.raises(llm_errors.ProviderUnavailableError) as caught:
            await fetch_reply(provider, make_request(), way)
    assert caught.value.retryable


async def test_nobody_listening_is_unavailable(protocol, way):
    """A server that is not there: unavailable, and the sentence says no connection."""
    async with serve_script(protocol, []) as (provider, server):
        await server.close()
        with pytest.raises(llm_errors.ProviderUnavailableError, match="no connection"):
            await fetch_reply(provider, make_request(), way)


async def test_a_server_that_never_answers_times_out(protocol, way):
    """A slow server is a retryable timeout after `timeout` seconds."""
    async with serve_script(protocol, [{"error": "timeout"}], {"timeout": 0.3}) as (provider, _):
        started = time.monotonic()
        with pytest.raises(llm_errors.LLMTimeoutError) as caught:
            await fetch_reply(provider, make_request(), way)
    assert time.monotonic() - started > 0.25
    assert caught.value.retryable


async def test_a_stream_that_falls_silent_times_out(protocol):
    """A stream without a word for `timeout` seconds is a timeout, not a wait for ever."""
    script = [{"text": "One two three.", "pause": 30.0}]
    async with serve_script(protocol, script, {"timeout": 0.3}) as (provider, _):
        with pytest.raises(llm_errors.LLMTimeoutError):
            await fetch_reply(provider, make_request(), "streamed")


async def test_a_wrong_address_is_a_clear_sentence(protocol):
    """A base URL that leads elsewhere is not retried and names the server's answer."""
    async with serve_script(protocol, []) as (_, server):
        settings = protocol.config(server) | {"base_url": f"{server.url}/nowhere"}
        async with mount_provider(protocol.module, settings) as provider:
            with pytest.raises(llm_errors.NotFoundError, match="There is no POST /nowhere"):
                await provider.complete(make_request())


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
        async with mount_provider(protocol.module, config) as provider:
            with pytest.raises(llm_errors.LLMError, match="base_url"):
                await provider.complete(make_request())


@pytest.mark.parametrize("whole", [{"choices": None}, [], "x", {}])
async def test_an_answer_of_another_kind_is_an_error_not_a_crash(protocol, whole):
    """What cannot be read is one of our errors, and is not tried again."""
    async with answer_with(protocol, whole, []) as provider:
        with pytest.raises(llm_errors.LLMError) as caught:
            await provider.complete(make_request())
        assert not caught.value.retryable
        with pytest.raises(llm_errors.StreamBrokenError):
            await fetch_reply(provider, make_request(), "streamed")


def test_a_used_up_quota_is_not_retried():
    """429 for an empty account does not get better by waiting."""
    error = make_refusal(Origin("openai"), 429, "You exceeded your quota", "insufficient_quota")
    assert isinstance(error, llm_errors.RateLimitError)
    assert not error.retryable


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
    error = make_refusal(Origin("x", "m"), status, "no")
    assert (type(error), error.status_code, error.retryable) == (kind, status, retryable)


@given(st.floats(0, 1e6, allow_nan=False))
def test_seconds_to_wait_are_read_from_either_header(seconds):
    """retry-after in seconds and retry-after-ms in milliseconds."""
    assert read_retry_after({"retry-after": str(seconds)}) == seconds
    assert read_retry_after({"retry-after-ms": str(seconds)}) == seconds / 1000


@given(st.text())
def test_a_header_that_says_nothing_is_no_wait(text):
    """Nonsense in a header never raises, and a wait is finite and not negative."""
    for name in ("retry-after", "retry-after-ms"):
        wait = read_retry_after({name: text})
        assert wait is None or 0 <= wait < float("inf")


def test_a_date_to_wait_for_is_understood():
    """retry-after may be a date."""
    soon = datetime.now(UTC) + timedelta(seconds=30)
    assert 25 < (read_retry_after({"retry-after": format_datetime(soon, usegmt=True)}) or 0) <= 30
    past = datetime.now(UTC) - timedelta(days=1)
    assert read_retry_after({"retry-after": format_datetime(past, usegmt=True)}) == 0


def test_our_own_errors_pass_unchanged():
    """What is already one of ours is not wrapped again."""
    error = llm_errors.StreamBrokenError("broken")
    assert translate(error, Origin("x"), SdkErrors()) is error


@pytest.mark.parametrize("sdk", [anthropic, openai])
def test_errors_are_told_by_their_class(sdk):
    """A class of another library that only has the name of an SDK's is not taken for it."""
    errors = find_sdk_errors(sdk)
    request = sdk.DefaultHttpxClient().build_request("POST", "http://x")
    timeout = translate(sdk.APITimeoutError(request), Origin("x"), errors)
    assert type(timeout) is llm_errors.LLMTimeoutError
    lost = translate(sdk.APIConnectionError(request=request), Origin("x"), errors, streaming=True)
    assert type(lost) is llm_errors.StreamBrokenError
    pretender = type("APITimeoutError", (Exception,), {})()
    assert type(translate(pretender, Origin("x"), errors)) is llm_errors.ProviderUnavailableError


@pytest.mark.parametrize("failure", [TypeError("no"), KeyError("x"), ValueError()])
def test_what_nobody_foresaw_is_an_answer_that_cannot_be_read(failure):
    """It names what happened, asks about the address, and is not tried again."""
    error = translate(failure, Origin("x", "m"), SdkErrors())
    assert type(failure).__name__ in str(error)
    assert "base_url" in str(error)
    assert not error.retryable


@given(st.none() | st.integers(0, 999), st.text(max_size=30), st.text(max_size=30))
def test_every_refusal_becomes_one_of_our_errors(status, message, facts):
    """Whatever a server says, there is an error with a status of at least 400."""
    error = make_refusal(Origin("x"), status, message, facts)
    assert isinstance(error, llm_errors.LLMError)
    assert error.status_code is not None
    assert error.status_code >= 400


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("overloaded_error", llm_errors.ProviderUnavailableError),
        ("authentication_error", llm_errors.AuthenticationError),
        ("context_length_exceeded", llm_errors.ContextLengthError),
        ("something new", llm_errors.ProviderUnavailableError),
    ],
)
def test_errors_inside_streams_are_told_by_their_words(word, kind):
    """They come without a status; what they are is only in their body."""
    assert type(make_refusal(Origin("x"), None, "said", word)) is kind
