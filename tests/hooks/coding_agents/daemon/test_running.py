"""Running as the one resident process of a folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.daemon.launching import Door, write_launch
from amplifier_hooks.coding_agents.daemon.running import read_door, run_resident, take_lock
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
    assert read_door(folder) is None
    write_launch(folder, {})
    assert read_door(folder) is None
    write_launch(folder, {}, door=Door(81, "t"))
    assert read_door(folder) == Door(81, "t")
    write_launch_text(folder, '{"argv": ["/p"], "env": {}, "http": {"port": "x"}}')
    assert read_door(folder) is None
