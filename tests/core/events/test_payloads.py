"""What each event carries: noted at run time, proved by the type checker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_core import events
from amplifier_core.payloads import SessionForkData

ROOT = Path(__file__).parents[3]

PROGRAM = """
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import SESSION_FORK, TOOL_POST, TOOL_PRE
from amplifier_core.payloads import SessionForkData, ToolPreData

async def tell(coordinator: SessionCoordinator) -> None:
    fork: SessionForkData = {"child_id": "c", "agent_name": "a"}
    await coordinator.notify(SESSION_FORK, fork)
    call: ToolPreData = {"tool_name": "Read", "tool_input": {}, "tool_call_id": "1"}
    await coordinator.judge(TOOL_PRE, call)
    for event in (TOOL_PRE, TOOL_POST):
        coordinator.hooks.register(event, print)
"""


def check(path: Path, *lines: str) -> list[str]:
    """What mypy says of the program with these lines at its end."""
    path.write_text(PROGRAM + "".join(f"    {line}\n" for line in lines), encoding="utf-8")
    cache = path.parent / "cache"
    config = ROOT / "pyproject.toml"
    # A process of its own: mypy raises the recursion limit of the one it runs in.
    command = [sys.executable, "-m", "mypy", str(path), f"--config-file={config}"]
    run = subprocess.run(
        [*command, f"--cache-dir={cache}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert not run.stderr
    return [line for line in run.stdout.splitlines() if path.name in line]


@pytest.mark.timeout(180)
def test_the_type_checker_proves_what_an_event_carries(tmp_path: Path) -> None:
    """A missing field, another event's data and a plain dict are errors; the right data is none."""
    wrong = (
        'await coordinator.notify(SESSION_FORK, {"agent_name": "a"})',
        "await coordinator.notify(SESSION_FORK, call)",
        'await coordinator.judge(TOOL_PRE, {"tool_name": 5})',
        'await coordinator.notify("session:fork", call)',
    )
    first = len(PROGRAM.splitlines()) + 1
    found = check(tmp_path / "program.py", *wrong)
    errors = [int(line.split(":")[1]) for line in found if ": error:" in line]
    assert errors == [first + number for number in range(len(wrong))], found


def test_every_event_has_its_type() -> None:
    """No event of ours is without one."""
    assert all(events.payload_type(event) for event in events.ALL_EVENTS)
    assert events.payload_type("session:fork") is SessionForkData
    assert {"child_id", "agent_name"} <= SessionForkData.__required_keys__
