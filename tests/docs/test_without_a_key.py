"""The commands of docs/without-a-key.md work as written, in an empty folder and without a key."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.docs.blocks import FENCE
from tests.hooks.cli.conftest import home as home
from tests.hooks.cli.program import run_amplifier

PAGE = (Path(__file__).parents[2] / "docs" / "without-a-key.md").read_text(encoding="utf-8")
OFFLINE, TRACE, SERVE, CONNECT, _LOCAL = (one[2] for one in FENCE.finditer(PAGE) if one[1] == "sh")
SCRIPT = next(one[2] for one in FENCE.finditer(PAGE) if one[2].startswith("# script.yaml"))
DEADLINE = 120


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An empty folder to work in, and a person with an environment of their own and no keys."""
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
    }


def run_block(commands: str, environment: dict[str, str]) -> str:
    """What the commands print; one that fails ends the test."""
    done = subprocess.run(
        ["bash", "-ec", commands],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        timeout=DEADLINE,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@contextmanager
def serve(environment: dict[str, str]) -> Iterator[str]:
    """The model server, started as on the page but on a free port; its address."""
    command = SERVE.strip().replace("--port 8765", "--port 0")
    with subprocess.Popen(
        ["bash", "-c", f"exec {command}"], env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found
            yield found[0]
        finally:
            server.terminate()


def run_lines(commands: str) -> str:
    """What the lines of a block print, each started without a terminal."""
    shown = ""
    for line in commands.splitlines():
        name, *arguments = shlex.split(line)
        done = run_amplifier(*arguments)
        assert (name, done.code) == ("amplifier", 0), done.output
        shown += done.output
    return shown


def test_a_first_session_needs_no_key(home: Path) -> None:
    """One call is denied by the hook that was written, one is asked about, all is on record."""
    shown = run_lines(OFFLINE)
    assert "✗ denied by first_hook" in shown
    assert "? hooks-production-guard asks: " in shown
    assert "⇒ deny" in run_lines(TRACE)


@pytest.mark.slow
def test_the_model_server_answers_the_real_sdks(environment: dict[str, str]) -> None:
    """The agent runs the call of the script and gives its last reply."""
    Path("script.yaml").write_text(SCRIPT, encoding="utf-8")
    with serve(environment) as address:
        shown = run_block(CONNECT.replace("http://127.0.0.1:8765", address), environment)
    assert "● Bash  ls" in shown
    assert "There is one file, script.yaml." in shown
