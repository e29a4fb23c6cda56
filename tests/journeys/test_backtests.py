"""The sessions of all journeys before the hooks that they had: nothing is decided differently."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_core.testing import MockTool
from tests.support.backtests import backtest_harness
from tests.support.sessions import SessionHarness, calls

ROOT = Path(__file__).parents[2]


async def test_a_session_of_guards_is_judged_as_it_was(tmp_path: Path) -> None:
    """A question, a denial, a redacted secret, a todo list: all as recorded."""
    hooks = ["hooks-redaction", "hooks-production-guard", "hooks-command-guard"]
    hooks += ["hooks-progress-monitor", "hooks-todo-display"]
    todos = [{"content": "look", "status": "pending", "activeForm": "looking"}]
    script = [
        calls("Todo", todos=todos),
        calls("Bash", command="git push --force"),
        calls("Bash", command="echo AKIAIOSFODNN7EXAMPLE"),
        {"text": "done"},
    ]
    harness = SessionHarness(
        script,
        tools=[MockTool("Bash")],
        working_dir=tmp_path,
        tool_modules=["tool-todo"],
        hooks=[{"module": one} for one in hooks],
    )
    async with harness:
        await harness.session.execute("go")
    (tmp_path / "trail").mkdir()
    found = await backtest_harness(harness, tmp_path / "trail")
    assert found.events > 10
    assert set(found.counts) <= {"cannot_tell"}
    assert {one.path for one in found.unclear} <= {"messages", "response", "tool_input.command"}


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_every_session_of_the_journeys_is_judged_as_it_was() -> None:
    """Each test of this folder passes, and its sessions are backtested afterwards."""
    options = ["-q", "-p", "tests.support.backtests", "-p", "no:cacheprovider", "-p", "no:randomly"]
    program = [sys.executable, "-m", "pytest", *options, "tests/journeys"]
    done = subprocess.run(
        program, cwd=ROOT, capture_output=True, text=True, timeout=1400, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:]
    assert " passed" in done.stdout
