"""An agent that attacks what governs it: files, processes, links, time, reload."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.sandbox.protection import examine_machine
from tests.support.isolation import isolate, require_isolation

AGENT = Path(__file__).with_name("agent.py")
SHORT, LONG = 24, 1000


def run_agent(
    folder: Path, first: int, last: int, patience: float, sandbox: str = "required"
) -> tuple[list[str], str]:
    """What went wrong, and the last line."""
    require_isolation()
    if examine_machine().kind is None:
        pytest.skip(f"NO WALL ON THIS MACHINE, so it was not attacked: {examine_machine().reason}")
    command = [sys.executable, str(AGENT), str(folder), str(first), str(last), sandbox]
    ran = subprocess.run(
        isolate(command, writable=[folder]), capture_output=True, text=True, timeout=patience
    )
    *wrong, count = ran.stdout.splitlines() or [""]
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-3000:]
    return wrong, count


def test_no_plan_weakens_a_guard_reads_a_key_writes_a_trail_or_leaves_the_roots(
    tmp_path: Path,
) -> None:
    """Some plans of each kind, in a few real sessions behind the wall of this machine."""
    wrong, count = run_agent(tmp_path, 0, SHORT, 300)
    assert wrong == []
    assert json.loads(count)["plans"] == SHORT


def test_without_a_wall_the_same_plans_do_harm(tmp_path: Path) -> None:
    """So that the test above is known to see it."""
    wrong, _ = run_agent(tmp_path, 10, 18, 300, "off")
    assert {json.loads(line)["what"] for line in wrong} >= {"a file changed", "a secret was read"}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_neither_does_any_of_a_thousand(tmp_path: Path, part: int) -> None:
    """The long form, with other plans than the short one."""
    size = LONG // 4
    wrong, _ = run_agent(tmp_path, SHORT + part * size, SHORT + (part + 1) * size, 3000)
    assert wrong == []
