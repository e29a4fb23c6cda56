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

from amplifier_foundation.guests.client import client, starting
from amplifier_foundation.guests.resident.asking import read_status
from tests.support.guests import (
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
    """Twenty at once on a cold machine: one process, twenty answers."""
    write_played_launch(folder)
    assert len({one["pid"] for one in call_many(folder, 20)}) == 1


def test_calls_survive_the_death_of_the_process(folder: Path) -> None:
    """Killed while it has twenty calls open, each of them is judged by its successor."""
    write_played_launch(folder)
    first = json.loads(call_client(folder).stdout)["pid"]
    with ThreadPoolExecutor(1) as pool:
        calls = pool.submit(call_many, folder, 20, {"sleep": 0.3})
        while (read_status(folder) or {"open": 0})["open"] < 5:
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


def test_a_call_that_ends_the_process_is_repeated_only_once(folder: Path) -> None:
    """An event that crashes every resident process is refused, and the next one is served."""
    write_played_launch(folder)
    assert_refused(call_client(folder, {"crash": True}), "ended without an answer, twice")
    assert call_client(folder).returncode == 0


def test_a_process_of_another_version_is_replaced(folder: Path) -> None:
    """What says `restart` is not asked again; its successor is."""
    write_played_launch(folder)
    with serve_script(folder, b"\nrestart\n"):
        (folder / "guest.sock").rename(folder / "old.sock")
        (folder / "guest.sock").symlink_to("old.sock")
        done = call_client(folder)
    assert json.loads(done.stdout)["event"] == "PreToolUse"


def test_a_process_that_hangs_is_ended(folder: Path) -> None:
    """One that is there but says nothing is killed by whoever holds the lock."""
    write_played_launch(folder)
    pid = json.loads(call_client(folder).stdout)["pid"]
    place = os.fsencode(folder)
    os.kill(pid, signal.SIGSTOP)
    before = starting._PROBE_SECONDS
    starting._PROBE_SECONDS = 0.2
    try:
        starting.ensure_resident(client, place, hung=True)
    finally:
        starting._PROBE_SECONDS = before
    assert read_status(folder)["pid"] != pid


def test_a_process_that_is_only_busy_is_left_alone(folder: Path) -> None:
    """One that still says a word stays."""
    write_played_launch(folder)
    pid = json.loads(call_client(folder).stdout)["pid"]
    starting.ensure_resident(client, os.fsencode(folder), hung=True)
    assert read_status(folder)["pid"] == pid


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, ("launch.json", "No such file", "install the guard again")),
        ("{", ("launch.json", "no JSON")),
        ("[]", ("launch.json", "does not say what to start")),
        ('{"argv": ["python"], "env": {}}', ("does not say what to start",)),
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


def test_a_launch_file_that_others_can_write_is_not_obeyed(folder: Path) -> None:
    """It names a program that would run as us."""
    write_played_launch(folder)
    (folder / "launch.json").chmod(0o620)
    assert_refused(call_client(folder), "somebody else can write")


def test_the_log_is_bounded(folder: Path) -> None:
    """A log that has grown too long is begun anew."""
    write_played_launch(folder)
    (folder / "resident.log").write_bytes(b"x" * 1_000_001)
    assert call_client(folder).returncode == 0
    assert (folder / "resident.log").stat().st_size < 10_000


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


def test_a_log_that_cannot_be_opened_costs_only_the_log(folder: Path) -> None:
    """A link in its place is not followed."""
    write_played_launch(folder)
    (folder / "resident.log").symlink_to("/dev/full")
    assert call_client(folder).returncode == 0
