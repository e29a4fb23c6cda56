"""All tables together: complete, consistent, and cheap to read."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from amplifier_core.events import ALL_EVENTS
from amplifier_hooks.coverage.coverage import Coverage
from amplifier_hooks.coverage.tables import ORDER, list_coverage

ROOT = Path(__file__).resolve().parents[3]
JUDGED = ("prompt:submit", "prompt:answer", "provider:request", "provider:response")


def test_every_adapter_has_a_table() -> None:
    """In the order of how many people use the frameworks."""
    assert tuple(one.name for one in list_coverage()) == ORDER


@pytest.mark.parametrize("table", list_coverage(), ids=lambda one: one.name)
def test_a_table_says_everything_that_a_user_asks(table: Coverage) -> None:
    """Real events, an extra of that name, the line, and a reason for each event that is missing."""
    assert set(table.events) <= set(ALL_EVENTS)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert table.name in project["optional-dependencies"]
    assert table.attach
    assert table.unseen
    for event in JUDGED:
        missing = event not in table.events
        assert not missing or table.limits.get(event), f"{table.name}: why not {event}?"


def test_no_framework_is_imported() -> None:
    """`amplifier doctor` reads the tables."""
    code = (
        "import sys; from amplifier_hooks.coverage.tables import list_coverage; "
        "list_coverage(); "
        "print([one for one in ('langchain', 'agents', 'crewai', 'google.adk', 'strands', "
        "'pydantic_ai', 'fastmcp', 'agent_framework', 'claude_agent_sdk') if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
