"""The server of the resident process."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.client.client import VERSION, Restart, read_answer
from amplifier_hooks.coding_agents.daemon import server
from amplifier_hooks.coding_agents.daemon.server import Freshness, read_idle_seconds
from tests.hooks.coding_agents.daemon.conftest import Serve
from tests.support.guest_lines import ask, ask_bytes, write_question
from tests.support.guest_resident import PlayedJudge
from tests.support.guests import PYTHON, write_launch_text
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
    monkeypatch.setattr(server, "_BEAT_SECONDS", 0.01)
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
    monkeypatch.setattr(server, "LONGEST_PAYLOAD", 1000)
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
    monkeypatch.setattr(server, "_HEAD_SECONDS", 0.02)
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


async def test_status_says_how_it_is(folder: Path, serve: Serve) -> None:
    """Version, process, sessions and what is open, also to a client of another version."""
    async with serve():
        await ask(folder)
        code, text, _ = await ask(folder, agent="-", event="status", version="0")
    facts = json.loads(text)
    assert (code, facts.pop("uptime") > 0) == (0, True)
    assert facts == {
        "version": VERSION,
        "pid": os.getpid(),
        "sessions": 1,
        "open": 0,
        "ending": False,
        "http": None,
        "alarms": [],
    }


async def test_stop_ends_it(folder: Path, serve: Serve, judge: PlayedJudge) -> None:
    """The socket is gone when the answer is there, and the sessions are suspended."""
    async with serve():
        assert (await ask(folder, agent="-", event="stop"))[0] == 0
        assert not (folder / "guest.sock").exists()
    assert judge.closed


async def test_nothing_else_can_be_asked(folder: Path, serve: Serve) -> None:
    """The answer names what was asked."""
    async with serve():
        code, _, error = await ask(folder, agent="-", event="dance")
    assert (code, b"'dance'" in error) == (2, True)


def make_program(folder: Path, version: str = VERSION) -> Path:
    """The client of an installation."""
    program = folder / "client.py"
    program.write_text(f'import sys\n\nVERSION = "{version}"\n')
    return program


def test_what_is_as_it_was_stays(folder: Path) -> None:
    """Also when the file was written again with the same content."""
    write_launch_text(folder, "{}")
    fresh = Freshness(folder, make_program(folder))
    assert fresh.find_reason_to_restart(VERSION) == ""
    write_launch_text(folder, "{}")
    os.utime(folder / "launch.json", (1, 1))
    assert fresh.find_reason_to_restart(VERSION) == ""


def test_another_launch_is_a_reason(folder: Path) -> None:
    """Another program, environment or port; but not that the file is gone."""
    write_launch_text(folder, "{}")
    fresh = Freshness(folder, make_program(folder))
    write_launch_text(folder, '{"new": 1}')
    assert "launch.json has changed" in fresh.find_reason_to_restart(VERSION)
    (folder / "launch.json").unlink()
    assert fresh.find_reason_to_restart(VERSION) == ""


def test_a_new_version_on_the_disk_is_a_reason(folder: Path) -> None:
    """A client of another version is a reason only if a new process would be of another one."""
    program = make_program(folder)
    fresh = Freshness(folder, program)
    assert fresh.find_reason_to_restart("9.9") == ""
    make_program(folder, "9.9")
    assert fresh.find_reason_to_restart("9.9") == "version 9.9 is installed now"
    program.unlink()
    assert fresh.find_reason_to_restart("9.9") == ""


def test_the_version_is_found_in_the_real_client(folder: Path) -> None:
    """The line that is looked for is there."""
    assert Freshness(folder)._read_installed() == VERSION


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
