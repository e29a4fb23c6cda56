"""The pipes between us and a command."""

from __future__ import annotations

import asyncio
import contextlib
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.machine.pipes import OutputCapture, Pipes

chunks = st.lists(st.binary(max_size=30), max_size=20)


@given(chunks, st.integers(-1, 200))
def test_the_two_ends_of_a_stream_are_kept(parts: list[bytes], limit: int) -> None:
    """Up to the limit everything; beyond it the beginning, the end, and the number between."""

    async def capture() -> OutputCapture:
        return OutputCapture(limit)

    kept = asyncio.run(capture())
    for part in parts:
        kept.data_received(part)
    whole = b"".join(parts)
    size = max(limit, 0)
    assert kept.omitted == max(len(whole) - size, 0)
    if not kept.omitted:
        assert kept.read_text() == whole.decode(errors="replace")
    else:
        head, tail = whole[: size - size // 2], whole[len(whole) - size // 2 :]
        assert kept.read_text() == (
            f"{head.decode(errors='replace')}\n… {kept.omitted} bytes left out …\n"
            f"{tail.decode(errors='replace')}"
        )


async def test_an_endless_stream_costs_little_memory() -> None:
    """The end is cut before it grows."""
    kept = OutputCapture(100)
    for _ in range(1000):
        kept.data_received(b"x" * 10_000)
        assert len(kept._tail) < 100_000
    assert kept.omitted == 10_000_000 - 100


async def test_a_letter_across_the_border_is_whole() -> None:
    """Beginning and end are decoded together when nothing was left out."""
    kept = OutputCapture(4)
    kept.data_received("aüb".encode())
    assert kept.read_text() == "aüb"


async def test_what_is_written_at_the_other_end_arrives() -> None:
    """The end of the stream is noticed, too."""
    pipes = Pipes(100)
    with contextlib.ExitStack() as theirs:
        end = await pipes.open_output(pipes.stdout, theirs)
        os.write(end, b"hello")
    await asyncio.wait_for(pipes.stdout.closed.wait(), 5)
    assert pipes.stdout.read_text() == "hello"
    pipes.close()


async def test_waiting_for_the_end_is_limited() -> None:
    """A background child may keep the stream open."""
    pipes = Pipes(100)
    with contextlib.ExitStack() as theirs:
        await pipes.open_output(pipes.stdout, theirs)
        await pipes.drain(0.01)
        assert not pipes.stdout.closed.is_set()
    pipes.close()


@pytest.mark.parametrize(("given_", "read"), [("grüße", "grüße".encode()), (b"\xff", b"\xff")])
async def test_the_other_end_reads_what_it_is_given(given_: str | bytes, read: bytes) -> None:
    """Text as UTF-8, bytes as they are, and then the end."""
    pipes = Pipes(100)
    with contextlib.ExitStack() as theirs:
        end = await pipes.open_input(given_, theirs)
        assert await asyncio.to_thread(os.read, end, 100) == read
        assert await asyncio.to_thread(os.read, end, 100) == b""
    pipes.close()


async def test_without_input_there_is_no_pipe() -> None:
    """The command reads an empty file."""
    pipes = Pipes(100)
    with contextlib.ExitStack() as theirs:
        assert await pipes.open_input(None, theirs) == asyncio.subprocess.DEVNULL
    pipes.close()


async def test_output_is_told_as_it_comes_and_letters_stay_whole() -> None:
    """A piece that ends inside a letter waits for the rest of it; the limit does not matter."""
    told: list[tuple[str, str]] = []
    pipes = Pipes(1, lambda stream, text: told.append((stream, text)))
    whole = "aü".encode()
    pipes.stdout.data_received(whole[:2])
    pipes.stderr.data_received(b"oh")
    pipes.stdout.data_received(whole[2:])
    assert told == [("stdout", "a"), ("stderr", "oh"), ("stdout", "ü")]


@pytest.mark.parametrize("moment", range(6))
async def test_a_cancellation_at_the_end_is_not_lost(moment: int) -> None:
    """A Ctrl-C counts, though the wait is over in the same step of the loop."""
    pipes = Pipes(100)
    draining = asyncio.create_task(pipes.drain(60))
    await asyncio.sleep(0.01)
    pipes.stdout.closed.set()
    pipes.stderr.closed.set()
    for _ in range(moment):
        await asyncio.sleep(0)
    if draining.cancel():
        with pytest.raises(asyncio.CancelledError):
            await draining
    assert draining.done()
