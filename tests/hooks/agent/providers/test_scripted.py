"""provider-scripted plays what was written."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import llm_errors
from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import StreamingProvider
from amplifier_core.message_models import (
    ChatRequest,
    Message,
)
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.providers import scripted
from amplifier_hooks.agent.providers.scripted import (
    Failure,
    Playback,
    Reply,
    ScriptedCall,
    ScriptedProvider,
    read_script,
    replies_of,
)
from tests.support.models import (
    fetch_reply,
    make_request,
    mount_provider,
    stream_reply,
)


def play(playback: Playback, count: int) -> list[str]:
    """What happens next, `count` times."""
    taken = (playback.pop() for _ in range(count))
    return [
        "end" if one is None else one.type if isinstance(one, Failure) else one.text
        for one in taken
    ]


def test_replies_come_in_order_and_then_none() -> None:
    """`close` and `raise` are told apart by whoever plays; the script itself is over."""
    playback = Playback(replies_of([{"text": "one"}, {"text": "two"}]))
    assert play(playback, 4) == ["one", "two", "end", "end"]


def test_a_script_that_repeats_counts_its_rounds() -> None:
    """`lap` tells the rounds apart; an empty script does not repeat."""
    playback = Playback(replies_of([{"text": "one"}]), "repeat")
    assert play(playback, 3) == ["one"] * 3
    assert playback.lap == 2
    assert play(Playback([], "repeat"), 2) == ["end", "end"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"error": "overloaded"}, ["overloaded", "next"]),
        ({"error": {"type": "overloaded", "times": 2}}, ["overloaded", "overloaded", "next"]),
        ({"error": "overloaded", "text": "late"}, ["overloaded", "late", "next"]),
        (
            {"error": {"type": "overloaded", "times": 2}, "text": "late"},
            ["overloaded", "overloaded", "late", "next"],
        ),
    ],
)
def test_an_error_comes_before_its_reply(line: dict[str, Any], expected: list[str]) -> None:
    """An error alone takes up no reply; with a reply the retry gets it."""
    playback = Playback(replies_of([line, {"text": "next"}]))
    assert play(playback, len(expected)) == expected


def test_an_expectation_is_a_part_of_what_was_said() -> None:
    """What was said instead is shown, shortened."""
    playback = Playback([Reply(expect="ready")])
    assert playback.find_surprise("Are you ready?") is None
    surprise = playback.find_surprise("x" * 500) or ""
    assert "Reply 1 of the script expects 'ready'" in surprise
    assert len(surprise) < 300
    playback.pop()
    assert playback.find_surprise("anything") is None


def test_calls_and_errors_are_written_as_a_model_would() -> None:
    """Given text is sent as it is, also if it is no JSON; an error without words names its kind."""
    assert ScriptedCall(name="A", input={"ü": 1}).written_arguments == '{"ü": 1}'
    assert ScriptedCall(name="A", arguments="{broken").written_arguments == "{broken"
    assert Failure(type="rate_limit").sentence == "The script says rate limit."
    assert Failure(type="rate_limit", message="slow down").sentence == "slow down"


@pytest.mark.parametrize("content", ["- text: hi\n", "script:\n  - text: hi\n"])
def test_a_file_is_a_list_or_a_mapping(tmp_path: Path, content: str) -> None:
    """Both forms mean the same."""
    path = tmp_path / "talk.yaml"
    path.write_text(content)
    assert [reply.text for reply in read_script(path)] == ["hi"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"- txet: x", "did you mean 'text'"),
        (b"- text: [", "cannot be read"),
        (b"- text: 2026-13-45", "cannot be read: month"),
        (b"- text: \xff", "cannot be read"),
        (b"just words", "script bad.yaml"),
        (b"- error: explosion", "explosion"),
        (b"- {delay: -1}", "delay"),
        (b"- {error: {type: timeout, times: 0}}", "times"),
        (b"", "script bad.yaml"),
    ],
)
def test_a_bad_file_is_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    """It names the file or the key, and has no second line."""
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    with pytest.raises(ModuleLoadError) as refusal:
        read_script(path)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_script_of_python_names_its_owner() -> None:
    """Replies and mappings may be mixed; mistakes say whose script it is."""
    assert len(replies_of([Reply(text="a"), {"text": "b"}])) == 2
    with pytest.raises(ModuleLoadError, match=r"my test: .*tool_call'"):
        replies_of([{"tool_call": []}], "my test")


def test_a_script_counts_only_what_it_wants_to() -> None:
    """What is missing follows from the rest; what is wrong is named."""
    (reply,) = replies_of([{"usage": {"input_tokens": 9, "output_tokens": 3}}])
    assert reply.usage is not None
    assert reply.usage.total_tokens == 12
    with pytest.raises(ModuleLoadError, match="usage"):
        replies_of([{"usage": {"input_tokens": "many"}}])


async def test_it_plays_reply_after_reply(way):
    """Each request gets the next reply with its text, thinking, calls and usage."""
    script = [
        {
            "text": "Let me look.",
            "thinking": "Files, then.",
            "tool_calls": [{"name": "Bash", "input": {"command": "ls"}}, {"name": "Todo"}],
            "usage": {"input_tokens": 9, "output_tokens": 3},
        },
        {"text": "Two files."},
    ]
    async with mount_provider(scripted, {"script": script}) as provider:
        assert isinstance(provider, StreamingProvider)
        first = await fetch_reply(provider, make_request(), way)
        second = await fetch_reply(provider, make_request(), way)
    assert [block.type for block in first.content] == ["thinking", "text", *["tool_call"] * 2]
    one, two = provider.parse_tool_calls(first)
    assert (one.name, one.arguments, two.arguments) == ("Bash", {"command": "ls"}, {})
    assert one.id != two.id
    assert first.usage.total_tokens == 12
    assert (first.finish_reason, second.finish_reason) == ("tool_calls", "stop")
    assert second.text == "Two files."


async def test_it_streams_word_by_word():
    """Each word comes with the space before it."""
    async with mount_provider(scripted, {"script": [{"text": "One two  three.\n"}]}) as provider:
        chunks, reply = await stream_reply(provider, make_request())
    words = [chunk.text for chunk in chunks if chunk.kind == "text"]
    assert words == ["One", " two", "  three.", "\n"]
    assert reply.text == "One two  three.\n"


@given(st.text())
async def test_no_character_is_lost_in_the_stream(text):
    """The words of a stream are the text; each piece is a word with the space before it."""
    provider = ScriptedProvider([Reply(text=text)])
    chunks, reply = await stream_reply(provider, make_request())
    pieces = [chunk.text for chunk in chunks]
    assert "".join(pieces) == reply.text == text
    assert all(len(piece.split()) <= 1 for piece in pieces)


async def test_an_error_is_raised_once_and_then_the_reply_comes(way):
    """A retry gets the reply that the error came before."""
    line = {"text": "At last.", "error": {"type": "rate_limit", "retry_after": 1.5}}
    async with mount_provider(scripted, {"script": [line, {"text": "Next."}]}) as provider:
        with pytest.raises(llm_errors.RateLimitError) as caught:
            await fetch_reply(provider, make_request(), way)
        assert (caught.value.retry_after, caught.value.status_code) == (1.5, 429)
        assert caught.value.provider == "scripted"
        assert (await fetch_reply(provider, make_request(), way)).text == "At last."
        assert (await fetch_reply(provider, make_request(), way)).text == "Next."


async def test_an_expectation_that_fails_says_what_was_said_instead():
    """`expect` must be in what was said last, else a clear error, and the script waits."""
    async with mount_provider(
        scripted, {"script": [{"text": "Yes.", "expect": "ready?"}]}
    ) as provider:
        with pytest.raises(llm_errors.InvalidRequestError) as caught:
            await provider.complete(make_request("Are you there?"))
        assert "'ready?'" in str(caught.value)
        assert "'Are you there?'" in str(caught.value)
        assert not caught.value.retryable
        assert (await provider.complete(make_request("Are you ready?"))).text == "Yes."


async def test_an_expectation_sees_past_what_a_hook_put_behind_the_question():
    """What a hook injects behind the question does not hide it; earlier turns do not count."""
    history = [
        Message(role="user", content="old"),
        Message(role="assistant", content="…"),
        Message(role="user", content="new"),
        Message(role="system", content="It is Monday."),
    ]
    async with mount_provider(scripted, {"script": [{"expect": "old"}]}) as provider:
        with pytest.raises(llm_errors.InvalidRequestError):
            await provider.complete(ChatRequest(messages=history))
    async with mount_provider(scripted, {"script": [{"text": "Ok.", "expect": "new"}]}) as provider:
        assert (await provider.complete(ChatRequest(messages=history))).text == "Ok."


async def test_behind_the_end_it_says_a_closing_sentence():
    """A script that is over still answers, always with the same sentence."""
    async with mount_provider(scripted, {"script": [], "closing": "Good night."}) as provider:
        for _ in range(3):
            assert (await provider.complete(make_request())).text == "Good night."


async def test_behind_the_end_it_raises_if_told_to():
    """A test that asks more often than expected fails with a clear error."""
    async with mount_provider(scripted, {"script": [{}], "when_done": "raise"}) as provider:
        await provider.complete(make_request())
        with pytest.raises(llm_errors.InvalidRequestError, match="1 replies"):
            await provider.complete(make_request())


async def test_a_script_that_repeats_gives_fresh_ids():
    """Every round has ids that the conversation has not seen."""
    config = {"script": [{"tool_calls": [{"name": "Bash"}]}, {}], "when_done": "repeat"}
    async with mount_provider(scripted, config) as provider:
        replies = [await provider.complete(make_request()) for _ in range(6)]
    ids = [call.id for reply in replies for call in provider.parse_tool_calls(reply)]
    assert len(ids) == len(set(ids)) == 3


async def test_malformed_arguments_and_broken_streams_can_be_played(way):
    """The awkward cases of real models, without a server."""
    script = [
        {"tool_calls": [{"name": "Bash", "arguments": '{"a'}]},
        {"text": "x y", "break_after": 2},
    ]
    async with mount_provider(scripted, {"script": script}) as provider:
        (call,) = provider.parse_tool_calls(await fetch_reply(provider, make_request(), way))
        assert call.arguments == {}
        assert call.parse_error
        with pytest.raises(llm_errors.StreamBrokenError):
            await fetch_reply(provider, make_request(), way)


async def test_a_delay_does_not_block_the_loop(way):
    """A slow reply waits without stopping others."""
    async with mount_provider(scripted, {"script": [{"text": "Hm.", "delay": 0.05}]}) as provider:
        started = time.monotonic()
        waiting = asyncio.create_task(fetch_reply(provider, make_request(), way))
        beside = 0
        while not waiting.done():
            await asyncio.sleep(0)
            beside += 1
        assert (await waiting).text == "Hm."
    assert beside > 2
    assert time.monotonic() - started >= 0.05


def work_in(folder: Path) -> TestCoordinator:
    host = TestCoordinator()
    host.register_capability("session.working_dir", str(folder))
    return host


async def test_a_script_can_be_a_file(tmp_path: Path):
    """A relative path starts from the session's working directory."""
    (tmp_path / "talk.yaml").write_text("- text: From a file.\n- {text: Bye., expect: x}\n")
    host = work_in(tmp_path)
    await scripted.mount(host, {"script_file": "talk.yaml", "name": "told"})
    provider = host.get("providers", "told")
    assert (await provider.complete(make_request())).text == "From a file."


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"script_file": "none.yaml"}, r"none\.yaml"),
        ({"script_file": "bad.yaml"}, "'text'"),
        ({"script_file": "a.yaml", "script": [{"text": "x"}]}, "not both"),
    ],
)
async def test_a_bad_script_is_refused_at_the_mount(tmp_path: Path, config, sentence):
    """The message names the file, the key, or says that only one of the two may be given."""
    (tmp_path / "bad.yaml").write_text("- txet: x")
    with pytest.raises(ModuleLoadError, match=sentence):
        await scripted.mount(work_in(tmp_path), config)


async def test_it_is_fast_enough_for_a_benchmark():
    """A reply costs a small multiple of a bare awaited call."""

    async def bare(request):
        return request

    request, rounds = make_request(), 2000
    provider = ScriptedProvider(
        replies_of([{"tool_calls": [{"name": "Bash"}]}, {"text": "Done."}]), when_done="repeat"
    )

    async def seconds(call):
        started = time.perf_counter()
        for _ in range(rounds):
            await call(request)
        return time.perf_counter() - started

    await seconds(provider.complete)
    ratio = min([await seconds(provider.complete) / await seconds(bare) for _ in range(5)])
    assert ratio < 60


async def test_it_says_what_it_is():
    """A script has one model and no limits."""
    async with mount_provider(scripted, {"name": "mine", "model": "m"}) as provider:
        assert (provider.get_info().id, provider.get_info().defaults) == ("mine", {"model": "m"})
        assert [one.id for one in await provider.list_models()] == ["m"]
