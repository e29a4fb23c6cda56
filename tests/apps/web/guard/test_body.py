"""The body of a request."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_apps.web.guard.body import check_json, read_body, refuse_size, replay
from amplifier_apps.web.guard.refusal import Message, Refusal


def receive_all(*messages: Message):
    left = list(messages)

    async def receive() -> Message:
        if not left:
            await asyncio.Event().wait()
        return left.pop(0)

    return receive


def part(body: bytes, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


async def test_a_body_is_read_to_its_end():
    """In as many parts as it comes."""
    assert await read_body(receive_all(part(b"ab", True), part(b"c")), 3) == b"abc"


async def test_a_body_that_is_too_large_is_refused_at_the_first_byte_too_many():
    """Body size limit, whatever the head says."""
    endless = receive_all(part(b"ab", True), part(b"cd", True))
    assert await read_body(endless, 3) == refuse_size(3)
    assert refuse_size(3).status == 413


async def test_a_client_that_goes_away_gets_no_answer():
    """There is nobody to answer."""
    gone = receive_all(part(b"a", True), {"type": "http.disconnect"})
    assert await read_body(gone, 10) is None


async def test_a_body_that_does_not_come_is_not_waited_for():
    """Slow bodies hold nothing for long."""
    refusal = await read_body(receive_all(part(b"a", True)), 10, seconds=0.01)
    assert isinstance(refusal, Refusal)
    assert refusal.status == 408


@pytest.mark.parametrize("text", [b"", b"{}", b'{"a": [1, 2.5, null, "\\ud83d\\ude00"]}', b"1e300"])
def test_json_passes(text: bytes):
    """And nothing at all, where nothing is wanted."""
    assert check_json(text) is None


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"{'a': 1}",
        b"NaN",
        b"[-Infinity]",
        b"1e999",
        b"[" * 100_000,
        b"\xff",
        b"9" * 5000,
        b'{"option": 0, "option": 1}',
        b'[{"a": {"b": 1, "\\u0062": 2}}]',
    ],
)
def test_what_only_python_takes_for_json_is_refused(text: bytes):
    """What one part accepts, every other part must be able to keep."""
    refusal = check_json(text)
    assert refusal is not None
    assert (refusal.status, refusal.code) == (400, "json")


async def test_the_app_reads_the_body_again_and_then_what_follows():
    """A stream still notices that its client has gone."""
    again = replay(b"body", receive_all({"type": "http.disconnect"}))
    assert (await again())["body"] == b"body"
    assert (await again())["type"] == "http.disconnect"
