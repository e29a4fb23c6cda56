"""The server of the resident process."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.client.client import Restart, read_answer
from amplifier_hooks.coding_agents.daemon import server
from amplifier_hooks.coding_agents.daemon.server import read_idle_seconds
from tests.hooks.coding_agents.daemon.conftest import Serve
from tests.support.guest_lines import ask, ask_bytes, write_question
from tests.support.guest_resident import PlayedJudge
from tests.support.guests import PYTHON
from tests.support.waiting import wait_until

NOBODY = 65534


async def test_fifty_at_once_are_answered(folder: Path, serve: Serve, judge: PlayedJudge) -> None:
    """Nobody waits for another one."""
    async with serve():
        answers = await asyncio.gather(*(ask(folder, {"sleep": 0.05}) for _ in range(50)))
    assert {code for code, _, _ in answers} == {0}
    assert len(judge.asked) == 50


async def test_it_takes_the_place_of_one_that_died(folder: Path, serve: Serve) -> None:
    """The socket that it left is removed, and the new one is private."""
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / "guest.sock"))
    async with serve():
        assert (folder / "guest.sock").stat().st_mode & 0o777 == 0o600
        assert (await ask(folder))[0] == 0


async def test_what_is_open_is_finished_before_it_ends(
    folder: Path, serve: Serve, judge: PlayedJudge
) -> None:
    """Told to end, it answers first, and then suspends the sessions."""
    async with serve() as resident:
        asking = asyncio.create_task(ask(folder, {"sleep": 0.05}))
        await wait_until(lambda: bool(judge.asked))
        resident.end("a test")
        assert not (folder / "guest.sock").exists()
        assert not judge.closed
        assert (await asking)[0] == 0
    assert judge.closed


async def test_what_takes_too_long_is_left_to_the_next_one(
    folder: Path, serve: Serve, judge: PlayedJudge
) -> None:
    """A call that waits for a person does not keep an ending process for ever."""
    async with serve(grace=0.05) as resident:
        asking = asyncio.create_task(ask(folder, {"sleep": 90}))
        await wait_until(lambda: bool(judge.asked))
        resident.end("a test")
        with pytest.raises(Restart):
            await asking


async def test_who_was_at_the_door_when_it_closed_is_not_lost(folder: Path, serve: Serve) -> None:
    """A connection made before the end is answered: with a judgement, or to start the next one."""
    async with serve() as resident:
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(folder / "guest.sock"))
        resident.end("a test")  # nothing was awaited: the server has not seen the connection
        line.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=line)
        writer.write(write_question())
        writer.write_eof()
        answer = await reader.read()
        writer.close()
    assert answer == b"\nrestart\n" or read_answer(answer)[0] == 0


async def test_it_ends_when_idle_but_not_while_it_is_held(
    folder: Path, serve: Serve, judge: PlayedJudge
) -> None:
    """An agent that comes by HTTP could not start it again."""
    judge.held = True
    async with serve(idle_seconds=0.01):
        await asyncio.sleep(0.05)
        assert (await ask(folder))[0] == 0
        judge.held = False
        await wait_until(lambda: judge.closed)
        assert not (folder / "guest.sock").exists()


async def test_more_calls_than_it_takes_are_refused_in_words(
    folder: Path, serve: Serve, judge: PlayedJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it still serves those that it has."""
    monkeypatch.setattr(server, "_MOST_CONNECTIONS", 1)
    async with serve():
        first = asyncio.create_task(ask(folder, {"sleep": 0.2}))
        await wait_until(lambda: bool(judge.asked))
        code, _, error = await ask(folder)
        assert (code, b"1 calls are open already" in error) == (2, True)
        assert (await first)[0] == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
async def test_another_user_gets_no_answer(folder: Path, serve: Serve, judge: PlayedJudge) -> None:
    """Even if the folder let them in."""
    code = (
        "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        f"os.setgid({NOBODY}); os.setuid({NOBODY}); t = socket.socket(socket.AF_UNIX);"
        "t.connect(sys.argv[1]); t.sendall(sys.stdin.buffer.read()); t.shutdown(1);"
        "print(t.recv(99))"
    )
    async with serve():
        folder.chmod(0o711)
        (folder / "guest.sock").chmod(0o666)
        done = await asyncio.to_thread(
            subprocess.run,
            [PYTHON, "-I", "-c", code, str(folder / "guest.sock")],
            input=write_question(),
            capture_output=True,
        )
    assert (done.stdout, judge.asked) in ((b"b''\n", []), (b"", []))


async def test_a_failure_to_suspend_does_not_keep_it(
    folder: Path, serve: Serve, judge: PlayedJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is logged, and the process ends."""

    async def fail() -> None:
        judge.closed = True
        raise RuntimeError("no disk")

    monkeypatch.setattr(judge, "close", fail)
    async with serve():
        assert await ask_bytes(folder, write_question())
    assert judge.closed


def test_the_idle_time_is_a_number_of_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of an hour, unless the environment says otherwise."""
    monkeypatch.delenv("AMPLIFIER_GUEST_IDLE", raising=False)
    assert read_idle_seconds() == 900
    monkeypatch.setenv("AMPLIFIER_GUEST_IDLE", "2.5")
    assert read_idle_seconds() == 2.5
    for text in ("0", "-1", "nan", "soon"):
        with pytest.raises(ValueError, match="AMPLIFIER_GUEST_IDLE must be"):
            read_idle_seconds(text)
