"""The two ends of a relay over pipes."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.mcp.frames import write_frame
from amplifier_hooks.machine.programs import list_binding_words
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.pipes import (
    ClientPipes,
    LineReader,
    LineTooLong,
    LineWriter,
    ServerProcess,
    write_if_room,
)
from tests.support.waiting import wait_until


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


PING = write_frame({"jsonrpc": "2.0", "id": 1, "method": "ping"})
ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
DEAF = (
    "import signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "print('{}', flush=True)\ntime.sleep(600)"
)
STREAMS = """
import os, subprocess, sys
from amplifier_hooks.mcp.gateway.pipes import open_standard_streams
source, sink = open_standard_streams()
print("from a hook", flush=True)
subprocess.run(["sh", "-c", "echo from its program; cat"])
sink.write(b"protocol:" + source.read())
"""


def is_alive(pid: int) -> bool:
    """Whether a process is there and not only waits to be counted."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def start(code: str) -> ServerProcess:
    return await ServerProcess.start([sys.executable, "-c", code])


async def test_a_server_is_spoken_to_and_ends_with_its_input() -> None:
    """By itself, since that is what the protocol asks of it."""
    server = await start(ECHO)
    await server.send(PING)
    assert await server.receive() == PING.raw
    await server.close()
    await server.close()
    assert await server.receive() is None
    assert server.describe_end().endswith("ended with exit code 0")
    with pytest.raises(ChannelError):
        await server.send(PING)


async def test_a_server_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that ignores a polite signal."""
    monkeypatch.setattr("amplifier_hooks.mcp.gateway.pipes._PATIENCE", 0.1)
    server = await start(DEAF)
    assert await server.receive() == b"{}"
    await asyncio.wait_for(server.close(), 30)
    assert "SIGKILL" in server.describe_end()
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)


async def test_it_is_said_how_a_server_ended() -> None:
    """Killed, or by itself."""
    server = await start(ECHO)
    os.kill(server.pid, signal.SIGKILL)
    assert await server.receive() is None
    assert "SIGKILL" in server.describe_end()
    await server.close()
    server = await start("import sys; sys.exit(3)")
    assert await server.receive() is None
    assert "exit code 3" in server.describe_end()
    await server.close()


@pytest.mark.parametrize("command", [["/there/is/no/such"], ["a\0b"]])
async def test_a_program_that_is_not_there_is_named(command: list[str]) -> None:
    """With the reason."""
    with pytest.raises(ChannelError, match="cannot be started"):
        await ServerProcess.start(command)


async def test_a_client_is_spoken_to_over_pipes() -> None:
    """In both directions, until it goes."""
    (source, ours), (theirs, sink) = os.pipe(), os.pipe()
    client = await ClientPipes.open(os.fdopen(source, "rb", 0), os.fdopen(sink, "wb", 0))
    os.write(ours, PING.raw + b"\n")
    assert await client.receive() == PING.raw
    await client.send(PING)
    assert os.read(theirs, 1_000) == PING.raw + b"\n"
    os.close(ours)
    assert await client.receive() is None
    await client.close()
    os.close(theirs)


async def test_a_server_does_not_outlive_a_gateway_that_was_killed(tmp_path: Path) -> None:
    """Also one that does not mind the end of its input."""
    code = (
        "import asyncio, os, sys\n"
        "from amplifier_hooks.mcp.gateway.pipes import ServerProcess\n"
        "async def main():\n"
        f"    server = await ServerProcess.start([sys.executable, '-c', {DEAF!r}])\n"
        "    await server.receive()\n"
        "    print(server.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())"
    )
    gateway = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert gateway.stdout is not None
    server = int(await asyncio.to_thread(gateway.stdout.readline))
    gateway.kill()
    gateway.communicate()
    if not list_binding_words():
        pytest.skip("this machine has no setpriv")
    await wait_until(lambda: not is_alive(server))


def test_standard_output_is_for_the_protocol_alone() -> None:
    """What hooks and their programs print goes elsewhere, and they read nothing of the client."""
    ran = subprocess.run(
        [sys.executable, "-c", STREAMS], input=b"message", capture_output=True, check=True
    )
    assert ran.stdout == b"protocol:message"
    assert ran.stderr.split(b"\n") == [b"from a hook", b"from its program", b""]


@pytest.mark.parametrize(
    ("ends", "word"),
    [("<&-", "input"), ("< /dev/null", "input"), ('< "$0"', "input"), ("> /dev/null", "output")],
)
def test_without_a_client_at_standard_input_and_output_it_says_so(ends: str, word: str) -> None:
    """Nobody could wait at a file, and at /dev/null one would wait for ever."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" {ends}', sys.executable, STREAMS],
        stdin=subprocess.PIPE,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert f"ChannelError: standard {word} is no pipe, socket or terminal" in done.stderr
