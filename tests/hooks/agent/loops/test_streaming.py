"""loop-streaming passes on a reply piece by piece while it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from amplifier_core.llm_errors import StreamBrokenError
from amplifier_core.message_models import ChatRequest, ChatResponse, StreamChunk, TextBlock
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, TestCoordinator
from amplifier_hooks.agent.loops import streaming
from amplifier_hooks.agent.loops.streaming import HeldText
from amplifier_hooks.guards.policy.secrets.stream import LiteralScrubber
from tests.support.sessions import SessionHarness


def test_pieces_pass_every_scrubber_that_looks_over_their_edges() -> None:
    """One after the other; what the first held back still passes the second at the end."""
    held = HeldText([LiteralScrubber({"abcd"}), str.upper, LiteralScrubber({"wxyz"})])
    pieces = [held.feed(piece) for piece in ("an a", "bc", "d and w", "x", "yz or ab")]
    assert "".join([*pieces, held.flush()]) == "an [secret] and [secret] or ab"
    assert pieces[0] == "an "


def test_without_such_scrubbers_nothing_waits() -> None:
    """A piece goes through as it is."""
    held = HeldText([str.upper])
    assert held.feed("ghp_") == "ghp_"
    assert held.flush() == ""


WHOLE = ChatResponse(content=[TextBlock(text="whole")])


class Model:
    """A provider that streams what it was given, and notices when it is closed."""

    name = "model"

    def __init__(self, *chunks: StreamChunk) -> None:
        self.chunks = chunks
        self.closed = asyncio.Event()

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        return WHOLE

    def parse_tool_calls(self, response: ChatResponse) -> list[Any]:
        return []

    async def stream(self, request: ChatRequest, **kwargs: Any) -> AsyncIterator[StreamChunk]:
        try:
            for chunk in self.chunks:
                yield chunk
        finally:
            self.closed.set()


def streams(script: list[dict[str, Any]], **more: Any) -> SessionHarness:
    return SessionHarness(script, loop="loop-streaming", **more)


async def use(harness: SessionHarness, model: Any) -> None:
    await harness.coordinator.unmount("providers", "scripted")
    await harness.coordinator.mount("providers", model)


async def test_deltas_and_thinking_are_events() -> None:
    """Blocks open, grow and close in order; a thought is told as a whole when it is complete."""
    async with streams([{"thinking": "let me see", "text": "hello world"}]) as harness:
        heard = harness.listen()
        assert await harness.session.execute("x") == "hello world"
    blocks = [name for name in heard.names if name.startswith(("content_block", "thinking"))]
    assert blocks == [
        "content_block:start",
        *["thinking:delta"] * 3,
        "thinking:final",
        "content_block:end",
        "content_block:start",
        *["content_block:delta"] * 2,
        "content_block:end",
    ]
    text = "".join(d["delta"] for _, d in heard.get_events("content_block:delta"))
    thought = "".join(d["delta"] for _, d in heard.get_events("thinking:delta"))
    ((_, final),) = heard.get_events("thinking:final")
    assert (text, thought) == ("hello world", "let me see")
    assert final["thinking"] == "let me see"


async def test_deltas_that_nobody_hears_are_not_recorded() -> None:
    """A reply has thousands of deltas; the trail has its blocks and the reply, not each word."""
    async with streams([{"thinking": "let me see", "text": "hello world"}]) as harness:
        final = EventRecorder()
        harness.hooks.register("thinking:final", final)
        await harness.session.execute("x")
        recorded = {record["event"] for record in harness.trail.records}
    assert final.events[0][1]["thinking"] == "let me see"
    assert "content_block:start" in recorded
    assert not recorded & {"content_block:delta", "thinking:delta"}


async def test_a_provider_that_cannot_stream_replies_whole() -> None:
    """Streaming is optional in a provider."""
    async with streams([]) as harness:
        model = Model()
        model.stream = None  # type: ignore[assignment, method-assign]
        await use(harness, model)
        assert await harness.session.execute("x") == "whole"


async def test_a_broken_stream_is_tried_again() -> None:
    """A stream that ends before the reply did is asked for again as a whole."""
    broken: dict[str, Any] = {"text": "one two three four", "break_after": 2}
    script = [broken, {"text": "whole"}]
    async with streams(script) as harness:
        heard = harness.listen()
        assert await harness.session.execute("x") == "whole"
        assert harness.texts("assistant") == ["whole"]
    assert len(heard.get_events("provider:retry")) == 1


async def test_a_stream_without_a_reply_at_its_end_is_broken() -> None:
    """What a provider streamed is no reply until it says so."""
    async with streams([], loop_config={"attempts": 1}) as harness:
        await use(harness, Model(StreamChunk("text", 0, "text", "half a")))
        with pytest.raises(StreamBrokenError, match="ended without a reply"):
            await harness.session.execute("x")


async def test_the_stream_is_closed_as_soon_as_the_reply_is_there() -> None:
    """A connection does not stay open because there would be more to read."""
    model = Model(StreamChunk("response", 0, response=WHOLE), StreamChunk("text", 1, "text", "?"))
    async with streams([]) as harness:
        await use(harness, model)
        assert await harness.session.execute("x") == "whole"
        assert model.closed.is_set()


class Iterating:
    """An asynchronous iterator that is no generator and cannot be closed."""

    def __init__(self, source: AsyncIterator[StreamChunk]) -> None:
        self.source = source

    def __aiter__(self) -> AsyncIterator[StreamChunk]:
        return self

    async def __anext__(self) -> StreamChunk:
        return await anext(self.source)


async def test_a_stream_need_not_be_a_generator() -> None:
    """Any asynchronous iterator will do, also one without `aclose`."""

    class Plain(Model):
        def stream(self, request: ChatRequest, **kwargs: Any) -> AsyncIterator[StreamChunk]:
            return Iterating(super().stream(request))

    chunks = [StreamChunk("text", 0, "text", "whole"), StreamChunk("response", 0, response=WHOLE)]
    async with streams([]) as harness:
        await use(harness, Plain(*chunks))
        heard = harness.listen()
        assert await harness.session.execute("x") == "whole"
    assert [d["delta"] for _, d in heard.get_events("content_block:delta")] == ["whole"]


async def test_it_mounts_as_the_orchestrator_with_its_options() -> None:
    """Its options are those of loop-basic."""
    host = TestCoordinator()
    assert await streaming.mount(host, {"system": "Be brief."}) is None
    loop = host.get("orchestrator")
    assert (loop.name, loop.config.system) == ("loop-streaming", "Be brief.")


TOKEN = "ghp_" + "Zz9" * 12


def split(kind: Any, text: str, size: int = 5) -> list[StreamChunk]:
    name = "thinking" if kind == "thinking" else "text"
    return [StreamChunk(kind, 0, name, text[n : n + size]) for n in range(0, len(text), size)]


@pytest.mark.parametrize("kind", ["text", "thinking"])
@pytest.mark.parametrize("ended", [True, False])
async def test_a_secret_that_is_split_over_pieces_is_never_told(kind: str, ended: bool) -> None:
    """Hooks and display get it masked; the rest of the text arrives in full."""
    chunks = split(kind, f"use {TOKEN} or password=hunter22 now ghp_")
    chunks += [StreamChunk("block_end", 0, kind)] if ended else []
    async with streams([], hooks=[{"module": "hooks-redaction"}]) as harness:
        await use(harness, Model(*chunks, StreamChunk("response", 0, response=WHOLE)))
        heard = harness.listen()
        await harness.session.execute("x")
    event = "thinking:delta" if kind == "thinking" else "content_block:delta"
    told = [data["delta"] for _, data in heard.get_events(event)]
    masked = "use [REDACTED:github-token] or password=[REDACTED:key-value] now ghp_"
    assert "".join(told) == masked
    assert TOKEN not in repr(heard.events)
    assert "".join(told[:1]) == "use "


async def test_ordinary_pieces_are_told_as_they_come() -> None:
    """Each piece is an event of its own: nothing waits that cannot become a secret."""
    chunks = [StreamChunk("text", 0, "text", word) for word in ("The ", "quick ", "brown ", "fox.")]
    async with streams([], hooks=[{"module": "hooks-redaction"}]) as harness:
        await use(harness, Model(*chunks, StreamChunk("response", 0, response=WHOLE)))
        heard = harness.listen()
        await harness.session.execute("x")
    told = [data["delta"] for _, data in heard.get_events("content_block:delta")]
    assert told == ["The ", "quick ", "brown ", "fox."]


class Hangs(Model):
    """A provider that says its pieces and then nothing more."""

    async def stream(self, request: ChatRequest, **kwargs: Any) -> AsyncIterator[StreamChunk]:
        async for chunk in super().stream(request):
            yield chunk
        await asyncio.Event().wait()


async def interrupt_reply(harness: SessionHarness, *pieces: str) -> None:
    """Stop a reply at once, after these pieces."""
    harness.listen()
    model = Hangs(*(StreamChunk("text", 0, "text", piece) for piece in pieces))
    await use(harness, model)
    work = asyncio.create_task(harness.session.execute("x"))
    await asyncio.wait_for(model.closed.wait(), 50)
    await harness.coordinator.request_cancel(immediate=True)
    await work
    assert harness.session.status == "interrupted"


async def test_what_was_said_before_a_stop_stays_in_the_conversation() -> None:
    """With a mark where it ends, and judged like every reply."""
    async with streams([]) as harness:
        await interrupt_reply(harness, "One, ", "two,")
        assert harness.texts("assistant") == ["One, two,\n\n[The reply was interrupted here.]"]
        (reply,) = harness.heard.get_events("provider:response")
        assert reply[1]["response"]["finish_reason"] == "interrupted"


async def test_what_could_not_be_kept_of_a_stopped_reply_is_not_its_last_message() -> None:
    """The hooks are told of the conversation as it is."""
    async with streams([]) as harness:
        context: Any = harness.session.context
        add = context.add_message

        def refuse(message: Any) -> Any:
            if message["role"] == "assistant":
                raise ValueError("full")
            return add(message)

        context.add_message = refuse
        with pytest.raises(ValueError, match="full"):
            await interrupt_reply(harness, "One, two,")
        ((_, done),) = harness.heard.get_events("orchestrator:complete")
        assert done["final_message"] == {}


async def test_what_a_hook_withholds_is_not_kept_of_a_stopped_reply() -> None:
    """A reply that may not stand whole may not stand in part."""

    async def withhold(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="not this")

    async with streams([]) as harness:
        harness.hooks.register("provider:response", withhold)
        await interrupt_reply(harness, "One, two,")
        assert harness.texts("assistant") == []


async def test_half_a_secret_is_not_kept_of_a_stopped_reply() -> None:
    """What may be the beginning of one was not shown, and is not kept."""

    class Hides:
        def __call__(self, text: str) -> str:
            return text

        def open_stream(self) -> Any:
            return self

        def feed(self, piece: str) -> str:
            return piece.partition("sk-")[0]

        def flush(self) -> str:
            return ""

    async with streams([]) as harness:
        harness.coordinator.register_scrubber(Hides())
        await interrupt_reply(harness, "The key is ", "sk-12")
        assert harness.texts("assistant") == ["The key is\n\n[The reply was interrupted here.]"]


@pytest.mark.parametrize("listens", [True, False])
async def test_the_answer_says_whether_its_text_was_told_as_it_arrived(listens: bool) -> None:
    """Where nobody listens to the pieces, nobody has seen the answer before it is judged."""
    async with SessionHarness([{"text": "one"}], loop="loop-streaming") as harness:
        judged = EventRecorder()
        harness.hooks.register("prompt:answer", judged)
        if listens:
            harness.hooks.register("content_block:delta", EventRecorder())
        await harness.session.execute("x")
    assert judged.events[0][1]["streamed"] is listens


async def test_a_denial_that_ends_the_turn_was_not_streamed() -> None:
    """The text of the reply was told; the sentence that takes its place was not."""
    async with SessionHarness([{"text": "one"}], loop="loop-streaming") as harness:
        judged = EventRecorder()
        harness.hooks.register("prompt:answer", judged)
        harness.hooks.register("content_block:delta", EventRecorder())
        denied = EventRecorder(HookResult(action="deny", reason="no"))
        harness.hooks.register("provider:response", denied, name="guard")
        await harness.session.execute("x")
    assert judged.events[0][1]["response"] == "Operation denied by guard: no"
    assert judged.events[0][1]["streamed"] is False


async def test_a_reply_that_came_whole_was_not_streamed() -> None:
    """A provider that cannot stream replies at once."""

    class Whole(Model):
        stream = None  # type: ignore[assignment]

    async with SessionHarness([], loop="loop-streaming") as harness:
        judged = EventRecorder()
        harness.hooks.register("prompt:answer", judged)
        harness.hooks.register("content_block:delta", EventRecorder())
        harness.coordinator.mount_points["providers"].clear()
        await harness.coordinator.mount("providers", Whole())
        assert await harness.session.execute("x") == "whole"
    assert judged.events[0][1]["streamed"] is False
