"""Starting the resident process."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.client import client, starting
from amplifier_hooks.coding_agents.daemon.control import read_status
from tests.support.guests import (
    PYTHON,
    assert_refused,
    build_command,
    call_client,
    serve_script,
    write_launch_text,
    write_played_launch,
)


def call_many(folder: Path, count: int, payload: object = None) -> list[dict[str, object]]:
    """The answers of so many calls at once; each must have one."""
    with ThreadPoolExecutor(count) as pool:
        done = list(pool.map(lambda _: call_client(folder, payload), range(count)))
    assert [one.stderr for one in done if one.returncode] == []
    return [json.loads(one.stdout) for one in done]


def test_many_first_calls_start_one_process(folder: Path) -> None:
    """All at once on a cold machine: one process, and an answer for each."""
    write_played_launch(folder)
    assert len({one["pid"] for one in call_many(folder, 6)}) == 1


def test_calls_survive_the_death_of_the_process(folder: Path) -> None:
    """Killed while it has calls open, each of them is judged by its successor."""
    kill_under_load(folder, 6)


@pytest.mark.slow
def test_fifty_calls_survive_the_death_of_the_process(folder: Path) -> None:
    """The same with more of them, on a machine that is busy with them."""
    kill_under_load(folder, 50)


def kill_under_load(folder: Path, count: int) -> None:
    """Let so many call at once, and kill the process that they call."""
    write_played_launch(folder)
    first = json.loads(call_client(folder).stdout)["pid"]
    with ThreadPoolExecutor(1) as pool:
        calls = pool.submit(call_many, folder, count, {"sleep": 0.3})
        while (read_status(folder) or {"open": 0})["open"] < 2:
            pass
        os.kill(first, signal.SIGKILL)
        pids = {one["pid"] for one in calls.result()}
    assert len(pids - {first}) == 1


def test_a_process_that_hangs_up_is_not_asked_again(folder: Path) -> None:
    """While it dies it may still take connections: its successor gets the second question."""
    write_played_launch(folder)
    with socket.socket(socket.AF_UNIX) as dying:
        dying.bind(str(folder / "guest.sock"))
        dying.listen()
        thread = threading.Thread(target=hang_up_on_all, args=(dying,))
        thread.start()
        done = call_client(folder)
        dying.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=60)
    assert done.returncode == 0, done.stderr


def hang_up_on_all(listener: socket.socket) -> None:
    """Take every connection, and close it."""
    with contextlib.suppress(OSError):
        while True:
            listener.accept()[0].close()


def test_the_process_shares_nothing_with_the_agent(folder: Path) -> None:
    """Its own session and folder, exactly the environment of launch.json, no pipe of the agent."""
    write_played_launch(folder, GIVEN="yes")
    command = build_command(folder, "claude", "PreToolUse", "50")
    extra = os.open("/dev/zero", os.O_RDONLY)
    done = subprocess.run(
        command,
        input=b"{}",
        capture_output=True,
        env={"PATH": "/usr/bin", "EVIL": "1", "PYTHONSTARTUP": "/x"},
        pass_fds=[extra],
        check=True,
    )
    os.close(extra)
    pid = json.loads(done.stdout)["pid"]
    assert os.getsid(pid) not in {os.getsid(0), pid}
    home = Path(f"/proc/{pid}")
    assert (home / "cwd").readlink() == Path("/")
    names = {one.split(b"=")[0] for one in (home / "environ").read_bytes().split(b"\0")} - {b""}
    assert names == {b"PATH", b"PYTHONPATH", b"AMPLIFIER_GUEST_IDLE", b"GIVEN"}
    opened = {int(one.name): str(one.readlink()) for one in (home / "fd").iterdir()}
    log = str(folder / "resident.log")
    assert [opened[place] for place in range(3)] == ["/dev/null", log, log]
    assert not any(name.startswith("pipe:") or name == "/dev/zero" for name in opened.values())
    assert (folder / "resident.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("failures", "asked"),
    [
        ([ConnectionResetError(), ConnectionResetError()], 2),
        ([ValueError("rubbish"), TimeoutError()], 2),
        ([FileNotFoundError(), ConnectionResetError(), ConnectionResetError()], 3),
        ([PermissionError("not ours")], 1),
        ([client.Restart()] * 5, 5),
        ([ConnectionRefusedError()] * 5, 5),
    ],
)
def test_a_question_that_was_heard_is_repeated_only_once(
    monkeypatch: pytest.MonkeyPatch, failures: list[Exception], asked: int
) -> None:
    """An event that ends every process is given up; where nobody was there, it is asked again."""
    asking = iter(failures)

    def ask(*_: object) -> starting.Answer:
        raise next(asking)

    monkeypatch.setattr(client, "ask", ask)
    monkeypatch.setattr(starting, "ensure_resident", lambda *_, **__: None)
    with pytest.raises((RuntimeError, OSError, client.Restart)):
        starting.ask_again(client, (b"", b"", b"", b"", b"", 9.0), next(asking))
    assert len(failures) - len(list(asking)) == asked


@pytest.mark.slow
def test_an_event_that_crashes_every_process_is_refused(folder: Path) -> None:
    """And the next one is served."""
    write_played_launch(folder)
    assert_refused(call_client(folder, {"crash": True}), "ended without an answer, twice")
    assert call_client(folder).returncode == 0


def test_a_process_that_says_restart_has_a_successor(folder: Path) -> None:
    """What is out of date is not asked again."""
    write_played_launch(folder)
    with serve_script(folder, b"\nrestart\n"):
        (folder / "guest.sock").rename(folder / "old.sock")
        (folder / "guest.sock").symlink_to("old.sock")
        done = call_client(folder)
    assert json.loads(done.stdout)["event"] == "PreToolUse"


def test_a_process_that_hangs_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is there but says nothing is killed by whoever holds the lock."""
    monkeypatch.setattr(starting, "_PROBE_SECONDS", 0.1)
    write_launch_text(folder, '{"argv": ["/bin/echo", "ready"], "env": {}}')
    code = (
        "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]);"
        "s.listen(); print('up', flush=True); time.sleep(90)"
    )
    with subprocess.Popen(
        [PYTHON, "-I", "-c", code, str(folder / "guest.sock")], stdout=subprocess.PIPE
    ) as hung:
        assert hung.stdout.readline() == b"up\n"
        starting.ensure_resident(client, os.fsencode(folder), hung=True)
        assert hung.wait(50) == -signal.SIGKILL


def test_a_process_that_is_only_busy_is_left_alone(warm: Path) -> None:
    """One that still says a word stays."""
    pid = read_status(warm)["pid"]
    starting.ensure_resident(client, os.fsencode(warm), hung=True)
    assert read_status(warm)["pid"] == pid


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, ("launch.json", "No such file", "install the guard again")),
        ('{"argv": ["/gone/python"], "env": {}}', ("/gone/python", "No such file")),
        ('{"argv": ["/bin/sh", "-c", "echo why not >&2"], "env": {}}', ("why not",)),
        ('{"argv": ["/bin/sh", "-c", "echo unread"], "env": {}}', ("left no message",)),
    ],
)
def test_a_process_that_cannot_start_is_reported_at_once(
    folder: Path, text: str | None, words: tuple[str, ...]
) -> None:
    """The client sees its end, and says the last line of its log."""
    if text is not None:
        write_launch_text(folder, text)
    assert_refused(call_client(folder), *words)


def test_a_broken_installation_is_named(folder: Path) -> None:
    """The error of the import is the sentence."""
    code = "import amplifier_not_there"
    write_launch_text(folder, json.dumps({"argv": [sys.executable, "-c", code], "env": {}}))
    assert_refused(call_client(folder), "No module named 'amplifier_not_there'")


def test_the_log_is_bounded(folder: Path) -> None:
    """A log that has grown too long is begun anew; only its owner can read it."""
    path = folder / "resident.log"
    path.write_bytes(b"x" * 1_000_000)
    os.close(starting._open_log(os.fsencode(folder)))
    assert path.stat().st_size == 1_000_000
    path.write_bytes(b"x" * 1_000_001)
    os.close(starting._open_log(os.fsencode(folder)))
    assert path.stat().st_size == 0
    path.unlink()
    os.close(starting._open_log(os.fsencode(folder)))
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_log_that_cannot_be_opened_costs_only_the_log(folder: Path) -> None:
    """A link in its place is not followed."""
    (folder / "resident.log").symlink_to("/dev/full")
    log = starting._open_log(os.fsencode(folder))
    assert os.write(log, b"gone") == 4
    os.close(log)
    assert starting._read_last_line(b"/gone", 0) == ""


@pytest.mark.slow
def test_a_full_disk_costs_only_the_log(folder: Path) -> None:
    """Nothing can be written, and the event is judged."""
    write_played_launch(folder)
    done = subprocess.run(
        build_command(folder, "claude", "PreToolUse", "50"),
        input=b"{}",
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
