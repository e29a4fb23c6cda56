"""The page on guarded agents has the tables that its script writes."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.dialect import Power
from amplifier_hooks.coding_agents.known import TITLES
from tests.support.scripts import load_script

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guests.md"


@pytest.fixture(scope="module")
def guests() -> ModuleType:
    """The script, as a module."""
    return load_script(ROOT / "scripts" / "guests")


def test_the_tables_are_those_that_the_script_writes(guests: ModuleType) -> None:
    """To renew them: .venv/bin/python scripts/guests."""
    assert PAGE.read_text(encoding="utf-8") == guests.write_page()


def test_every_agent_has_a_section_and_a_table() -> None:
    """What it cannot do is as important as what it can."""
    page = PAGE.read_text(encoding="utf-8")
    for name, title in TITLES.items():
        assert f"\n## {title}\n" in page
        _, _, table = page.partition(f"\n### {title}\n")
        assert all(f"\n| {event} " in table for event in DIALECTS[name].events)


def test_every_word_of_the_tables_is_explained(guests: ModuleType) -> None:
    """A new power needs a line on the page."""
    assert tuple(guests.WORDS) == get_args(Power)


@pytest.mark.parametrize(
    ("agent", "event", "cell"),
    [
        ("opencode", "tool:pre", "deny, rewrite"),
        ("opencode", "session:start", "seen"),
        ("opencode", "tool:error", "–"),
        ("gemini", "context:pre_compact", "tell \\*"),
    ],
)
def test_a_cell_says_what_an_answer_can_do(
    guests: ModuleType, agent: str, event: str, cell: str
) -> None:
    """A star marks what is not installed unless it is asked for."""
    assert guests._describe_moment(agent, event) == cell
