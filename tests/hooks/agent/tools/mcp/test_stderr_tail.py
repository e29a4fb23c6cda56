"""What a server prints on standard error never holds it up, and its end is kept."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_hooks.agent.tools.mcp.stderr_tail import StderrTail


@pytest.fixture
async def tail():
    made = StderrTail("calc")
    yield made
    made.close()


async def test_the_last_lines_are_kept(tail):
    """They say why a server ended."""
    tail.writer.write("".join(f"line {number}\n" for number in range(10)))
    tail.writer.flush()
    assert tail.describe().splitlines() == [f"line {number}" for number in range(5, 10)]


async def test_nothing_said_is_nothing(tail):
    """Most servers are silent."""
    assert tail.describe() == ""


async def test_whoever_prints_much_does_not_wait(tail):
    """More than a pipe holds, and no more of it is kept than is shown."""

    def flood():
        for _ in range(50):
            tail.writer.write("x" * 10_000 + "\n")
        tail.writer.write("the end\n")
        tail.writer.flush()

    await asyncio.wait_for(asyncio.to_thread(flood), 30)
    assert tail.describe().endswith("the end")
    assert len(tail._kept) <= 4_000


async def test_bytes_that_are_no_text_are_shown_as_such(tail):
    """And a line that is long is cut."""
    tail.writer.buffer.write(b"\xff\xfe odd\n" + b"y" * 3_000 + b"\n")
    tail.writer.buffer.flush()
    odd, long = tail.describe().splitlines()
    assert odd.endswith(" odd")
    assert len(long) == 300
