"""The drivers themselves: one for each adapter, and none where its framework is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from amplifier_hooks.coverage import TABLES

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_A_DRIVER = {"agent-hooks"}
"""Not a framework that runs agents, but a contract; it has a kit of its own."""


def test_every_adapter_has_a_driver() -> None:
    """None escapes the contract."""
    drivers = {file.stem for file in (ROOT / "tests" / "adapters" / "drivers").glob("*.py")}
    wanted = {one.module.rpartition(".")[2] for one in TABLES}
    assert wanted - {name.replace("-", "_") for name in WITHOUT_A_DRIVER} <= drivers


def test_looking_for_drivers_leaves_the_process_as_it_is() -> None:
    """What a driver sets up for its framework is not set up for other tests without it."""
    code = (
        "import os; before = dict(os.environ); from tests.adapters.conftest import find_drivers; "
        "found = set(find_drivers()); "
        "changed = dict(os.environ) != before; assert 'crewai' in found or not changed, found"
    )
    env = {name: value for name, value in os.environ.items() if name != "AMPLIFIER_ADAPTER"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, check=True, timeout=120)
