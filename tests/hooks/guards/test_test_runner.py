"""hooks-test-runner: the project's own tests after edits."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.models import HookResult
from amplifier_hooks.guards.test_runner import Config, mount, read_outcome, summarize_output
from amplifier_hooks.sandbox.process import CommandOutcome
from tests.support.harness import Harness
from tests.support.processes import is_running, is_written
from tests.support.waiting import wait_until


async def edit(harness: Harness, path: str = "app.py") -> None:
    await harness.emit("tool:post", tool_name="Edit", tool_input={"file_path": path}, success=True)


async def request(harness: Harness) -> HookResult:
    return await harness.emit("provider:request", messages=[])


def counting(tmp_path: Path, code: int = 0) -> str:
    return f"echo run >> {tmp_path}/runs; exit {code}"


def waiting(tmp_path: Path) -> str:
    return f"until [ -e {tmp_path}/go ]; do sleep 0.02; done"


def runs(tmp_path: Path) -> int:
    file = tmp_path / "runs"
    return len(file.read_text().splitlines()) if file.exists() else 0


async def test_real_pytest_failures_reach_the_agent_and_so_does_the_repair(
    harness: Harness, tmp_path: Path
) -> None:
    """Runs the configured test command after edits, injects a short failure summary."""
    test = tmp_path / "test_sum.py"
    test.write_text("def test_sum():\n    assert 1 + 1 == 3\n")
    quick = ["env", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"]
    command = [*quick, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    async with harness.mounted("test_runner", {"command": command, "when": "request"}):
        await edit(harness)
        failing = await request(harness)
        await edit(harness)
        unchanged = await request(harness)
        test.write_text("def test_sum():\n    assert 1 + 1 == 2\n")
        await edit(harness)
        repaired = await request(harness)
    text = str(failing.context_injection)
    assert text.startswith("The tests fail after your edits (env)")
    assert "test_sum.py::test_sum" in text
    assert len(text) < 500
    assert failing.user_message_level == "warning"
    assert unchanged.context_injection == "The tests still fail in the same way as before."
    assert repaired.context_injection == "The tests pass again."
    assert "Tests pass" in str(repaired.user_message)


async def test_many_edits_are_one_run(harness: Harness, tmp_path: Path) -> None:
    """Debounced: the edits of one reply are tested together."""
    async with harness.mounted("test_runner", {"command": counting(tmp_path), "when": "request"}):
        for _ in range(5):
            await edit(harness)
        await request(harness)
        await request(harness)
    assert runs(tmp_path) == 1


async def test_at_the_end_of_the_turn_by_config(harness: Harness, tmp_path: Path) -> None:
    """Debounced per turn / at orchestrator level by config."""
    config = {"command": counting(tmp_path, 1), "when": "turn"}
    async with harness.mounted("test_runner", config):
        await edit(harness)
        assert (await request(harness)).action == "continue"
        assert runs(tmp_path) == 0
        result = await harness.emit("orchestrator:complete", status="success")
    assert runs(tmp_path) == 1
    assert "The tests fail" in str(result.context_injection)


async def test_in_the_background_nobody_waits(harness: Harness, tmp_path: Path) -> None:
    """Observers never slow the agent: the result comes with a later request."""
    config = {"command": f"{waiting(tmp_path)}; {counting(tmp_path, 1)}", "debounce": 0.05}
    results: list[HookResult] = []

    async def has_result() -> bool:
        results.append(await request(harness))
        return results[-1].action != "continue"

    async with harness.mounted("test_runner", config):
        await edit(harness)
        await edit(harness)
        assert not await has_result()
        (tmp_path / "go").touch()
        await wait_until(has_result)
    assert "The tests fail" in str(results[-1].context_injection)
    assert runs(tmp_path) == 1


async def test_an_edit_ends_the_run_that_it_outdates(harness: Harness, tmp_path: Path) -> None:
    """What an earlier run finds is out of date already."""
    command = f"echo $$ > {tmp_path}/pid; {waiting(tmp_path)}; {counting(tmp_path)}"
    pid = tmp_path / "pid"
    async with harness.mounted("test_runner", {"command": command, "debounce": 0}):
        await edit(harness)
        await wait_until(lambda: is_written(pid))
        first = tmp_path / "first"
        pid.rename(first)
        await edit(harness)
        await wait_until(lambda: is_written(pid))
        await wait_until(lambda: not is_running(first))
        (tmp_path / "go").touch()
        await wait_until(lambda: bool(runs(tmp_path)))
    assert runs(tmp_path) == 1


async def test_cleanup_ends_the_run_under_way(harness: Harness, tmp_path: Path) -> None:
    """Clean-up leaves no process."""
    config = {"command": f"echo $$ > {tmp_path}/pid; sleep 60", "debounce": 0}
    pid = tmp_path / "pid"
    async with harness.mounted("test_runner", config):
        await edit(harness)
        await wait_until(lambda: bool(pid.exists() and pid.read_text().strip()))
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


async def test_only_edits_of_fitting_files_count(harness: Harness, tmp_path: Path) -> None:
    """`files` limits what starts the tests."""
    config = {"command": counting(tmp_path), "when": "request", "files": ["src/**/*.py"]}
    async with harness.mounted("test_runner", config):
        await edit(harness, "README.md")
        await harness.emit("tool:post", tool_name="Read", tool_input={"file_path": "src/a.py"})
        await request(harness)
        assert runs(tmp_path) == 0
        await edit(harness, "src/deep/a.py")
        await request(harness)
    assert runs(tmp_path) == 1


@pytest.mark.parametrize(
    ("command", "sentence"),
    [("sleep 20", "took longer than 0.2 s"), (["no-such-runner"], "Cannot run 'no-such-runner'")],
)
async def test_tests_that_cannot_run_are_the_users_business(
    harness: Harness, command: Any, sentence: str
) -> None:
    """The agent is told of failures of its code, not of the machinery."""
    config = {"command": command, "when": "request", "timeout": 0.2}
    async with harness.mounted("test_runner", config):
        await edit(harness)
        result = await request(harness)
    assert result.action == "continue"
    assert sentence in str(result.user_message)


def outcome(stdout: str, code: int = 1) -> CommandOutcome:
    return CommandOutcome(code, stdout, "", False, False, 1)


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        ("....\nFAILED t.py::a - boom\n3 passed, 1 failed in 0.12s", "FAILED t.py::a - boom"),
        ("ok 1 - a\nnot ok 2 - b\n", "not ok 2 - b"),
        ("=== RUN\n--- FAIL: TestB (0.00s)\nFAIL\n", "--- FAIL: TestB (0.00s)"),
        (" PASS a\n ● sums › adds\n", "● sums › adds"),
        ("Segmentation fault", "Segmentation fault"),
        ("", "exit code 1, without output"),
    ],
)
def test_the_summary_names_the_failures_of_many_runners(printed: str, kept: str) -> None:
    """A short failure summary, whichever the runner."""
    summary = summarize_output(outcome(printed), 3000)
    assert kept in summary
    assert "PASS" not in summary
    assert "ok 1" not in summary.replace("not ok", "")


def test_a_flood_of_failures_is_cut_and_times_do_not_make_them_new() -> None:
    """Short, and the same when it is the same."""
    flood = "\n".join(f"FAILED t.py::test_{number}" for number in range(500))
    assert len(summarize_output(outcome(flood), 3000)) <= 3000
    config = Config(command="x")
    first, second = (
        read_outcome(outcome(f"FAILED a\n1 failed in {seconds}s"), config)
        for seconds in ("0.12", "3.4")
    )
    assert first.same_as(second)


async def test_a_command_is_required(harness: Harness) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError, match="hooks-test-runner: option 'command' is required"):
        await mount(harness.coordinator, {})
    with pytest.raises(ModuleLoadError, match="must be a command line such as 'pytest -q'"):
        await mount(harness.coordinator, {"command": []})
