"""Whatever starts programs on the agent's material starts them behind the same wall."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.session.capabilities import SessionWall
from amplifier_hooks.agent.tools import bash, search
from amplifier_hooks.guards import git_status, linter_feedback, test_runner
from amplifier_hooks.guards.policy.protected_places import list_places
from amplifier_hooks.sandbox.landlock import query_abi
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(query_abi() < 1, reason="THIS KERNEL HAS NO LANDLOCK")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "work"
    folder.mkdir()
    (tmp_path / "outside").mkdir()
    return folder


@pytest.fixture
def attack(work: Path) -> str:
    """A program that leaves a trace inside, and would leave one outside."""
    script = work / "attack"
    script.write_text(f"#!/bin/bash\ntouch {work}/ran\ntouch {work.parent}/outside/escaped\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


@pytest.fixture
async def host(work: Path):
    made = TestCoordinator()
    wall = SessionWall.open(None, [work], list_places([work]))
    made.register_capability("session.working_dir", str(work))
    made.register_capability("session.wall", wall)
    yield made
    await wall.close()


async def edit(host: TestCoordinator, path: Path) -> None:
    data = {"tool_name": "Write", "tool_input": {"file_path": str(path)}}
    await host.hooks.emit("tool:post", {**data, "tool_result": {"success": True}})


def check(work: Path) -> None:
    assert (work / "ran").exists()
    assert list((work.parent / "outside").iterdir()) == []


async def test_commands_of_bash(host, work, attack) -> None:
    """The one that everybody thinks of."""
    await bash.mount(host, None)
    await host.get("tools")["Bash"].execute({"command": attack})
    check(work)


async def test_the_tests_that_run_after_an_edit(host, work, attack) -> None:
    """They are code that the agent may just have written."""
    await test_runner.mount(host, {"command": attack, "when": "request"})
    await edit(host, work / "x.py")
    await host.hooks.emit("provider:request", {"messages": []})
    await wait_until((work / "ran").exists)
    check(work)


async def test_linters(host, work, attack) -> None:
    """Their configuration and their plugins lie in the project."""
    (work / "x.py").write_text("x = 1\n")
    linter = {"name": "own", "files": ["*.py"], "command": [attack]}
    await linter_feedback.mount(host, {"linters": [linter]})
    await edit(host, work / "x.py")
    check(work)


async def test_git_at_the_start_of_a_session(host, work, attack) -> None:
    """A repository's configuration names programs, here one that filters files."""
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    (work / ".gitattributes").write_text("* filter=own\n")
    (work / "file").write_text("x")
    subprocess.run(["git", "-C", str(work), "add", "file"], check=True)
    for name in ("filter.own.clean", "filter.own.smudge"):
        subprocess.run(["git", "-C", str(work), "config", name, attack], check=True)
    os.utime(work / "file", (1, 1))  # of the same size: git has to read it, through the filter
    await git_status.mount(host, {"timeout": 30})
    await host.hooks.emit("session:start", {})
    check(work)


async def test_searches_that_need_a_process(host, work, monkeypatch) -> None:
    """The search itself is ours; it finds what is there, behind the wall too."""
    (work / "file").write_text("needle\n")
    await search.mount(host, {"engine": "re"})
    found = await host.get("tools")["Grep"].execute({"pattern": "need.e"})
    assert "file" in found.output
