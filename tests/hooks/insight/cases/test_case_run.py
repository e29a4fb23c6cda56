"""The run of a case."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from amplifier_core.errors import AmplifierError
from amplifier_core.testing import wait_for
from amplifier_hooks.insight.cases.case import Step
from amplifier_hooks.insight.cases.case_run import find_events
from amplifier_hooks.insight.cases.subject import find_subject
from amplifier_hooks.insight.cases.threads import has_abandoned
from tests.hooks.insight.cases.hook_files import COUNTER, run, send, write_hook

SLOW = """
import asyncio, time
from pathlib import Path

async def on_tool_pre(event, data):
    command = data["tool_input"]["command"]
    if command == "await":
        await asyncio.Event().wait()
    if command == "block":
        time.sleep(100)
    if command == "thread":
        await asyncio.to_thread(wait)

def wait():
    while not Path(__file__).with_name("released").exists():
        time.sleep(0.01)
"""


def test_events_are_sent_in_order_to_the_same_hooks(tmp_path: Path) -> None:
    """For hooks that count; the next case begins anew, with its own options over those of all."""
    path = write_hook(tmp_path, COUNTER)
    calls = (Step("tool:pre", times=2), send("x", "deny", fields={"reason": "3 calls"}))
    for _ in range(2):
        assert run(path, *calls).passed
    assert run(path, send("x", "deny"), all_config={"most": 0}).passed
    assert run(path, *calls, config={"most": 2}, all_config={"most": 0}).passed


def test_an_expectation_holds_for_each_time(tmp_path: Path) -> None:
    """The first answer that differs ends the case, and its step is named."""
    path = write_hook(tmp_path, COUNTER)
    always = Step("tool:pre", expect=send("x", "continue").expect, times=5)
    found = run(path, always, send("x", "deny"))
    assert len(found.outcomes) == 3
    assert found.list_reasons() == ["step 1, tool:pre: action: expected continue, got deny"]


def test_an_event_that_nobody_hears_fails_the_case(tmp_path: Path) -> None:
    """`expect: continue` would hold for ever."""
    found = run(write_hook(tmp_path), Step("tool:post"))
    heard = "they listen to prompt:submit, tool:pre"
    assert found.problem.endswith(f"guard.py listens to tool:post; {heard}")
    assert not found.passed


def test_data_can_be_sent_exactly_as_given(tmp_path: Path) -> None:
    """To see what a guard does with a call that lacks something."""
    data = {"tool_name": "Bash", "tool_input": {}}
    bare = Step("tool:pre", data, send("", "deny", error="KeyError").expect)
    assert not run(write_hook(tmp_path), bare).passed
    exact = Step(bare.event, bare.data, bare.expect, complete=False)
    assert run(write_hook(tmp_path), exact).passed


@pytest.mark.parametrize("way", ["await", "block", "thread"])
def test_a_hook_that_hangs_is_ended_and_named(tmp_path: Path, way: str) -> None:
    """Whether it waits, blocks the loop, or waits for a thread."""
    path = write_hook(tmp_path, SLOW)
    found = run(path, send(way), limit=0.3)
    assert found.problem == "guard.on_tool_pre did not answer within 0.3 s"
    assert found.is_stuck
    assert found.has_failed_hook
    assert has_abandoned() is (way == "thread")
    assert run(path, send("ls", "continue")).passed
    (tmp_path / "released").touch()
    assert asyncio.run(wait_for(lambda: not has_abandoned()))


def test_a_hook_that_ends_the_program_is_named(tmp_path: Path) -> None:
    """The other cases run all the same."""
    path = write_hook(tmp_path, "import sys\nasync def on_tool_pre(event, data): sys.exit(3)\n")
    found = run(path, send("x", "continue"))
    assert found.problem == "guard.on_tool_pre ended the program with exit code 3"


def test_a_module_that_hangs_while_it_is_mounted_is_ended(tmp_path: Path) -> None:
    """Nothing is sent to it."""
    text = "import asyncio\nasync def mount(coordinator, config): await asyncio.sleep(100)\n"
    path = write_hook(tmp_path, text)
    assert run(path, send("x"), limit=0.1).problem == f"{path} was not ready within 0.1 s"
    with pytest.raises(AmplifierError, match=r"was not ready within 0\.1 s"):
        find_events(find_subject(str(path), tmp_path), {}, 0.1)


def test_a_case_with_files_runs_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """Which is gone afterwards; relative paths lead there."""
    text = """
from pathlib import Path
from amplifier_core import HookResult

async def on_tool_pre(event, data):
    Path("new").write_text("x")
    return HookResult(action="deny", reason=Path("in/a.txt").read_text() + str(Path.cwd()))
"""
    before = Path.cwd()
    found = run(write_hook(tmp_path, text), send("x", "deny"), files={"in/a.txt": "hello"})
    reason = str(found.outcomes[0].result.reason)
    assert reason.startswith("hello")
    assert not Path(reason.removeprefix("hello")).exists()
    assert Path.cwd() == before
