"""amplifier hooks stats: what hooks did in recorded sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hooks.cli.program import invoke
from tests.hooks.insight.written_trail import write_trail


@pytest.fixture
def trails(home: Path) -> Path:
    """A folder with the trails of two sessions."""
    for name in ("one", "two"):
        write_trail(home / "trails" / name)
    return home / "trails"


def test_the_figures_of_all_named_trails_are_added_up(trails: Path) -> None:
    """As JSON, with a word for each hook."""
    told = json.loads(invoke("hooks", "stats", trails, "--json").stdout)
    assert (told["version"], told["trails"]) == (1, 2)
    assert told["hooks"]["guard"]["answers"] == {"continue": 2, "deny": 4, "ask_user": 2}
    assert told["hooks"]["dead"]["standing"] == "dead"


def test_the_table_has_a_row_for_each_hook_the_worst_first(trails: Path) -> None:
    """And a note where something would have happened."""
    lines = invoke("hooks", "stats", trails).stdout.splitlines()
    assert [line.split()[0] for line in lines if line][2:] == ["guard", "dead", "shadow"]
    shown = invoke("hooks", "stats", trails, "--shadow").stdout
    assert "would have denied 2 of 2 calls" in shown
    assert "b.txt" in shown
    assert "calls" in invoke("hooks", "stats", trails / "one", "--hook", "guard").stdout


def test_a_hook_that_nobody_knows_is_a_slip(trails: Path) -> None:
    """The nearest names are told."""
    ran = invoke("hooks", "stats", trails, "--hook", "gard")
    assert ran.code == 2
    assert "No hook 'gard' in these sessions; have guard" in ran.stderr


def test_a_folder_without_sessions_says_what_to_do(home: Path) -> None:
    """Also where a named trail is not there."""
    assert "There is no recorded session of this folder" in invoke("hooks", "stats").stderr
    assert "No trail 'nothing'" in invoke("hooks", "stats", "nothing").stderr
