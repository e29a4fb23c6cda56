"""One connection of a client."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.client.client import Restart, read_answer
from amplifier_hooks.coding_agents.daemon import exchange, wire
from tests.hooks.coding_agents.daemon.conftest import Serve
from tests.support.guest_lines import ask, ask_bytes, write_question
from tests.support.guest_resident import PlayedJudge
from tests.support.guests import write_launch_text
from tests.support.waiting import wait_until


async def test_a_question_gets_its_answer(folder: Path, serve: Serve) -> None:
    """Exit code and output are the judge's."""
    async with serve():
        code, text, error = await ask(folder, {"code": 4})
    assert (code, json.loads(text)["event"], error) == (4, "PreToolUse", b"")


async def test_signs_of_life_come_while_it_works(
    folder: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client can tell a long judgement from a process that hangs."""
    monkeypatch.setattr(exchange, "_BEAT_SECONDS", 0.01)
    async with serve():
        received = await ask_bytes(folder, write_question({"sleep": 0.2}))
    assert received.startswith(b"..")
    assert read_answer(received)[0] == 0


@pytest.mark.parametrize("sent", [b"hello", b"hello\n", write_question(seconds="soon")])
async def test_what_is_no_question_is_refused(folder: Path, serve: Serve, sent: bytes) -> None:
    """In words, so that nobody has to guess."""
    async with serve():
        code, _, error = read_answer(await ask_bytes(folder, sent))
    assert (code, error.startswith(b"amplifier: this was not judged: ")) == (2, True)


async def test_too_large_an_event_is_refused(
    folder: Path, serve: Serve, judge: PlayedJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read to its end, so that the client can read why, but not kept."""
    monkeypatch.setattr(wire, "LONGEST_PAYLOAD", 1000)
    async with serve():
        sent = write_question(b"x" * 5_000_000)
        code, _, error = read_answer(await ask_bytes(folder, sent))
    assert (code, b"at most 1000 are read" in error, judge.asked) == (2, True, [])


async def test_a_client_that_leaves_cancels_nothing(
    folder: Path, serve: Serve, judge: PlayedJudge
) -> None:
    """Its event is judged, and recorded, to the end."""
    async with serve():
        _, writer = await asyncio.open_unix_connection(str(folder / "guest.sock"))
        writer.write(write_question({"sleep": 0.05}))
        writer.write_eof()
        await wait_until(lambda: bool(judge.asked))
        writer.close()
        await wait_until(lambda: judge.finished == 1)


async def test_a_client_that_says_nothing_is_let_go(
    folder: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever connects has to say how long they wait, in time."""
    monkeypatch.setattr(exchange, "_HEAD_SECONDS", 0.02)
    async with serve():
        reader, writer = await asyncio.open_unix_connection(str(folder / "guest.sock"))
        assert await reader.read() == b""
        writer.close()


async def test_a_client_of_another_version_is_told_to_install_again(
    folder: Path, serve: Serve, judge: PlayedJudge
) -> None:
    """A new process would be of the same version, so this one stays."""
    async with serve():
        code, _, error = await ask(folder, version="0.0.1")
        assert (code, b"version 0.0.1" in error, judge.asked) == (2, True, [])
        assert (await ask(folder))[0] == 0


async def test_a_process_that_is_out_of_date_says_restart(
    folder: Path, serve: Serve, judge: PlayedJudge
) -> None:
    """When the client reads it, the name is free for the next process."""
    write_launch_text(folder, "{}")
    async with serve():
        write_launch_text(folder, '{"other": 1}')
        with pytest.raises(Restart):
            await ask(folder)
        assert not (folder / "guest.sock").exists()
    assert (judge.asked, judge.closed) == ([], True)
