"""One connection to the writer: what it takes, and what ends it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import server
from amplifier_audit.messages import decode_message, encode_message
from tests.audit.server.support import find_log, run_server
from tests.audit.support import read_bodies

HELLO = encode_message(hello=1, session="ann", client="c", sent=0)


async def talk(root: Path, *lines: bytes) -> list[dict[str, Any]]:
    """Say all of it at once; every answer until the writer ends the connection."""
    async with run_server(root) as path:
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b"".join([HELLO, *lines]))
        content = await reader.read()
        writer.close()
    return [decode_message(line) for line in content.splitlines(keepends=True)]


def append(number: int, **body: Any) -> bytes:
    return encode_message(append=number, type="dispatch", body=body)


async def test_records_are_taken_in_their_order_until_it_is_closed(tmp_path: Path) -> None:
    """The end says how many there were, when they are on disk and the log is closed."""
    answers = await talk(tmp_path, append(0, n=0), append(1, n=1), encode_message(close=2))
    assert answers == [{"welcome": 1, "have": 0}, {"durable": 2}, {"closed": 2}]
    assert [body["n"] for body in read_bodies(find_log(tmp_path), "dispatch")] == [0, 1]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (append(1), "record 1 where 0 belongs"),
        (encode_message(append=0, type="dispatch"), "a type and a body"),
        (encode_message(append=0, type=5, body={}), "a type and a body"),
        (encode_message(append=0, type="dispatch", body=[]), "a type and a body"),
        (encode_message(read=0), "not a message of this protocol"),
        (b"\xff\n", "printable ASCII"),
    ],
)
async def test_anything_else_ends_the_connection(tmp_path: Path, line: bytes, word: str) -> None:
    """There is no message that reads, changes or removes."""
    answers = await talk(tmp_path, line, append(0))
    assert word in answers[-1]["failed"]
    assert read_bodies(find_log(tmp_path), "dispatch") == []


async def test_odd_members_of_a_record_do_no_harm(tmp_path: Path) -> None:
    """They are written as what they are."""
    odd = encode_message(append=0, type="t", body={}, session=["x"], turn={}, hook=5)
    answers = await talk(tmp_path, odd, encode_message(close=1))
    assert answers[-1] == {"closed": 1}


async def test_a_session_that_sends_faster_than_the_disk_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection is not read meanwhile; each time, what was synced is told."""
    monkeypatch.setattr(server, "BACKLOG", 1000)
    lines = [append(number, text="x" * 600) for number in range(10)]
    answers = await talk(tmp_path, *lines, encode_message(close=10))
    told = [answer["durable"] for answer in answers if "durable" in answer]
    assert len(told) > 3
    assert told == sorted(told)
    assert answers[-1] == {"closed": 10}


async def test_a_line_without_an_end_is_not_gathered_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is that of a message."""
    monkeypatch.setattr("amplifier_audit.server.MESSAGE_LIMIT", 5000)
    answers = await talk(tmp_path, append(0, text="x" * 20_000))
    assert "a line of more than" in answers[-1]["failed"]
