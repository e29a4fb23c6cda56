"""Sessions that were recorded happen again: no hook decides differently, nothing is executed."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.insight.replay import Job, Replay, launch_replay
from amplifier_hooks.insight.replay.job import do_job
from tests.hooks.cli.conftest import home as home
from tests.hooks.cli.program import invoke
from tests.support.replays import describe
from tests.support.trust import trust_project

ROOT = Path(__file__).parents[2]


def replay(trail: Path, folder: Path, bundle: str = "") -> Replay:
    """Replay a trail in this process."""
    told = do_job(Job(trail=str(trail), folder=str(folder), bundle=bundle, scratch=str(folder)))
    assert "found" in told, told
    return Replay.from_dict(told["found"])


def test_the_first_session_of_a_new_user_happens_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One call that ran, one that a hook denied, one that nobody could be asked about."""
    assert invoke("init", "--offline", "agent").code == 0
    monkeypatch.chdir(home / "agent")
    trust_project(home / "agent")
    assert invoke("run", "look around").code == 0
    (trail,) = (home / "data" / "amplifier" / "audit").iterdir()
    found = replay(trail, home / "agent")
    assert found.status == "identical", describe(found)
    assert (found.totals.calls, found.totals.questions) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["--yes", "--no"])
def test_the_demonstration_happens_again(home: Path, answer: str) -> None:
    """A lint error, a secret, a denied command and a person's decision: behind a wall."""
    kept = re.search(r"kept in (\S+)", invoke("demo", "--keep", answer).stdout)
    assert kept is not None
    folder = Path(kept.group(1))
    (trail,) = (folder / "audit").iterdir()
    bundle = str(folder / "amplifier.yaml")
    job = Job(trail=str(trail), folder=str(folder / "project"), bundle=bundle)
    found = asyncio.run(launch_replay(job))
    shutil.rmtree(folder)
    assert found.status == "identical", describe(found)
    assert found.totals.questions == 1


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_every_session_of_the_journeys_happens_again() -> None:
    """Each test of this folder passes, and its sessions are replayed afterwards."""
    options = ["-q", "-p", "tests.support.replays", "-p", "no:cacheprovider", "-p", "no:randomly"]
    program = [sys.executable, "-m", "pytest", *options, "tests/journeys"]
    done = subprocess.run(
        program, cwd=ROOT, capture_output=True, text=True, timeout=1400, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:]
    told = re.search(r"replays: (\d+) as before", done.stdout)
    assert told is not None, done.stdout[-600:]
    assert int(told[1]) > 150
