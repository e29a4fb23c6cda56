"""Running as the one resident process of a folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.daemon.folder import HttpPort, write_launch
from amplifier_hooks.coding_agents.daemon.server import (
    read_port,
    run_resident,
    take_lock,
    trim_log,
)
from tests.support.guest_lines import ask
from tests.support.guest_resident import PlayedJudge
from tests.support.guests import PLAYED, write_launch_text


def start_played(folder: Path, **env: str) -> subprocess.Popen[bytes]:
    """The resident process of the tests, as a child."""
    return subprocess.Popen(
        [sys.executable, str(PLAYED), str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[4])} | env,
    )


async def test_it_is_the_only_one_and_ends_properly(folder: Path) -> None:
    """A second one sees that it is not needed; a signal lets the first finish and suspend."""
    with start_played(folder) as first:
        assert first.stdout.readline() == b"ready\n"
        with start_played(folder) as second:
            assert second.wait(50) == 0
            assert second.stdout.read() == b"ready\n"
            second.stderr.read()
        assert json.loads((await ask(folder))[1])["pid"] == first.pid
        first.send_signal(signal.SIGTERM)
        assert first.wait(50) == 0
        assert b"signal SIGTERM" in first.stderr.read()
    assert (folder / "closed").read_text() == f"{first.pid}\n"
    assert (folder / "closed").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("mode", "env", "words"),
    [(0o755, {}, "0700"), (0o700, {"AMPLIFIER_GUEST_IDLE": "long"}, "AMPLIFIER_GUEST_IDLE")],
)
def test_it_says_why_it_cannot_run(
    folder: Path,
    mode: int,
    env: dict[str, str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one line, which the client repeats."""
    folder.chmod(mode)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    before = os.umask(0o022)
    assert run_resident(folder, PlayedJudge) == 1
    assert os.umask(before) == 0o077
    folder.chmod(0o700)
    said = capsys.readouterr().err
    assert (said.count("\n"), words in said) == (1, True)


def test_one_that_still_ends_is_waited_for(folder: Path) -> None:
    """Two that write the same trails at once would spoil them."""
    lock = take_lock(folder)
    with pytest.raises(TimeoutError, match="has not ended"):
        take_lock(folder, patience=0.05)
    os.close(lock)
    os.close(take_lock(folder))


def test_the_lock_is_not_inherited(folder: Path) -> None:
    """A child of a hook that lives on does not hold the place."""
    lock = take_lock(folder)
    with subprocess.Popen(["/bin/sleep", "60"], close_fds=False) as child:
        os.close(lock)
        try:
            # Between the start of a program and the closing of its files is a moment.
            os.close(take_lock(folder, patience=50))
            assert child.poll() is None
        finally:
            child.kill()


def test_the_door_is_in_the_launch_file(folder: Path) -> None:
    """Without one, or with nonsense there, nothing is served by HTTP."""
    assert read_port(folder) is None
    write_launch(folder, {})
    assert read_port(folder) is None
    write_launch(folder, {}, http=HttpPort(81, "t"))
    assert read_port(folder) == HttpPort(81, "t")
    write_launch_text(folder, '{"argv": ["/p"], "env": {}, "http": {"port": "x"}}')
    assert read_port(folder) is None


def test_a_log_that_is_too_long_begins_anew(tmp_path: Path) -> None:
    """What comes later stands at its beginning; a shorter one stays."""
    path = tmp_path / "log"
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, b"x" * 20)
    trim_log(log, 20)
    assert path.read_bytes() == b"x" * 20
    trim_log(log, 19)
    os.write(log, b"new")
    os.close(log)
    assert path.read_bytes() == b"new"


def test_what_is_no_file_has_no_length() -> None:
    """A terminal, a pipe or nothing at all is left alone."""
    read, write = os.pipe()
    trim_log(write, 0)
    os.close(read)
    os.close(write)
    trim_log(write, 0)


def test_warnings_are_logged_and_a_full_disk_is_borne() -> None:
    """A log that cannot be written ends nothing."""
    code = (
        "import logging, os; from amplifier_hooks.coding_agents.daemon.server import set_up_log;"
        "set_up_log(); log = logging.getLogger('x'); log.info('quiet'); log.warning('loud');"
        "os.dup2(os.open('/dev/full', os.O_WRONLY), 2); log.warning('lost');"
        "os.write(1, b'still here'); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr.endswith(b"WARNING loud\n")
    assert b"quiet" not in done.stderr
    assert done.stdout == b"still here"
