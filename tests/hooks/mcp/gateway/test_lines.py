"""Lines of bytes over a pipe."""

from __future__ import annotations

import asyncio
import os
import select

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.lines import LineReader, LineTooLong, LineWriter, write_if_room


async def read_all(pieces: list[bytes], largest: int = 100) -> list[bytes | str]:
    stream = asyncio.StreamReader()
    for piece in pieces:
        stream.feed_data(piece)
    stream.feed_eof()
    reader = LineReader(stream, largest)
    found: list[bytes | str] = []
    while True:
        try:
            line = await reader.read()
        except LineTooLong as error:
            found.append(str(error))
            continue
        if line is None:
            return found
        found.append(line)


@given(st.lists(st.binary(max_size=30), max_size=8))
def test_lines_do_not_depend_on_the_pieces_in_which_they_come(pieces: list[bytes]) -> None:
    """Blank ones are skipped, and what has no end is no line."""
    whole = b"".join(pieces)
    lines = [one.rstrip(b"\r") for one in whole.split(b"\n")[:-1] if one.strip()]
    assert asyncio.run(read_all(pieces, 1_000)) == lines


async def test_a_line_that_is_too_long_is_told_and_skipped() -> None:
    """However it comes; the next one can be read."""
    for pieces in ([b"x" * 300 + b"\nnext\n"], [b"x" * 90] * 4 + [b"\nnext\n"]):
        told, line = await read_all(pieces)
        assert "bytes" in str(told)
        assert line == b"next"


async def test_a_line_without_end_is_told_when_its_sender_is_gone() -> None:
    """And then there is no more."""
    (told,) = await read_all([b"x" * 300])
    assert "300 bytes" in str(told)


async def test_nobody_can_write_to_a_pipe_that_is_closed() -> None:
    """Neither before nor after that was noticed."""
    source, sink = os.pipe()
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(sink, "wb", 0)
    )
    writer = LineWriter(asyncio.StreamWriter(transport, protocol, None, loop))
    await writer.write(b"a")
    assert os.read(source, 10) == b"a\n"
    os.close(source)

    async def go_on() -> None:
        while True:
            await writer.write(b"b" * 1_000)
            await asyncio.sleep(0)

    with pytest.raises(ChannelError, match="nobody reads"):
        await go_on()
    writer.close()


def test_nobody_waits_for_a_reader_of_diagnostics() -> None:
    """What does not fit into a pipe is dropped, and a long line is cut so that it fits."""
    source, sink = os.pipe()
    try:
        assert write_if_room(sink, b"a" * 10_000)
        assert os.read(source, 20_000) == b"a" * (select.PIPE_BUF - 1) + b"\n"
        written = 0
        while write_if_room(sink, b"b" * 1_000):
            written += 1
        assert written > 10
        os.read(source, 100_000)
        assert write_if_room(sink, b"c")
        os.close(source)
        assert not write_if_room(sink, b"d")
    finally:
        os.close(sink)
    assert not write_if_room(sink, b"e")
