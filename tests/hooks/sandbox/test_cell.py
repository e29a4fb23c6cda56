"""A cell, as the agent sees it, against a supervisor that the test plays."""

from __future__ import annotations

import marshal
import os
import socket
import struct
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from amplifier_hooks.sandbox.cell import Cell, CellLost, Order, _encode
from amplifier_hooks.sandbox.launcher import words
from amplifier_hooks.sandbox.launcher.messages import receive

ORDER = Order(["echo", "ü\udcff"], {"A": "b"}, "/")


@pytest.fixture
def pair() -> Iterator[tuple[Cell, socket.socket]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    cell = Cell(ours)
    yield cell, theirs
    cell.close()
    theirs.close()


def say_ended(theirs: socket.socket, code: int, left: int) -> None:
    theirs.send(words.ENDED + struct.pack("ii", code << 8, left))


async def test_an_order_arrives_with_its_descriptors(pair) -> None:
    """Also with a name that is no text."""
    cell, theirs = pair
    read, write = os.pipe()
    cell.start(ORDER, [read])
    word, descriptors = receive(theirs, 65_536, 8)
    order = marshal.loads(word[1:])
    assert word[:1] == words.RUN
    assert order["argv"] == ["echo", "ü\udcff"]
    assert len(descriptors) == 1
    for descriptor in (*descriptors, read, write):
        os.close(descriptor)


async def test_a_command_that_left_nothing_is_done_at_once(pair) -> None:
    """One message says both."""
    cell, theirs = pair
    cell.start(ORDER, [])
    assert not cell.is_empty
    say_ended(theirs, 3, 0)
    assert await cell.wait() == 3
    assert (cell.returncode, cell.is_empty, cell.usable) == (3, True, True)


async def test_what_is_left_is_ended_on_request(pair) -> None:
    """With the grace that was given."""
    cell, theirs = pair
    cell.start(ORDER, [])
    receive(theirs, 65_536, 8)
    say_ended(theirs, 0, 1)
    assert await cell.wait() == 0
    assert not cell.is_empty
    theirs.send(words.GONE)
    await cell.end(0.5)
    assert theirs.recv(64) == words.TERMINATE + struct.pack("d", 0.5)
    assert cell.is_empty


@pytest.mark.parametrize(("told", "kind"), [((2, "gone"), OSError), ((None, "null"), ValueError)])
async def test_a_failure_to_start_is_raised(pair, told, kind) -> None:
    """As the operating system, or Python, put it."""
    cell, theirs = pair
    cell.start(ORDER, [])
    theirs.send(words.FAILED + marshal.dumps(told))
    with pytest.raises(kind):
        await cell.wait()
    assert cell.returncode is None


async def test_a_lost_supervisor_is_noticed(pair) -> None:
    """Such a cell is not used again."""
    cell, theirs = pair
    cell.start(ORDER, [])
    theirs.close()
    with pytest.raises(CellLost):
        await cell.wait()
    await cell.kill(0.1)
    assert (cell.usable, cell.is_empty) == (False, True)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
async def test_names_arrive_as_the_bytes_that_they_were(monkeypatch, encoding) -> None:
    """In whatever encoding this process reads names."""
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: encoding)
    name = b"\xc3\xbc\xff".decode(encoding, "surrogateescape")
    if encoding != "utf-8":
        monkeypatch.setattr(os, "fsencode", lambda text: text.encode(encoding, "surrogateescape"))
    words: Any = _encode(Order([name], {}, "/"))["argv"]
    assert words[0].encode("utf-8", "surrogateescape") == b"\xc3\xbc\xff"
