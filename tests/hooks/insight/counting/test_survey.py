"""Surveys: several trails become one table of figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.insight.counting import Survey
from amplifier_hooks.trails import read_history
from tests.hooks.insight.counting.written import write_trail


def test_trails_are_added_up_and_each_hook_has_its_word(tmp_path: Path) -> None:
    """Calls, answers, questions and what would have been."""
    survey = Survey()
    for name in ("one", "two"):
        survey.read(write_trail(tmp_path / name))
    told = survey.to_dict()
    assert told["trails"] == 2
    assert {name: one["standing"] for name, one in told["hooks"].items()} == {
        "dead": "dead",
        "guard": "failing",
        "shadow": "active",
    }
    guard = told["hooks"]["guard"]
    assert (guard["calls"], guard["answers"]["deny"], guard["failures"]) == (8, 4, 2)
    assert (guard["approvals"]["asked"], guard["overruled_share"]) == (2, 1.0)
    assert told["hooks"]["shadow"]["shadowed"] == {"deny": 2}
    assert told["hooks"]["shadow"]["examples"]["deny"][0]["about"] == "b.txt"
    assert survey.to_dict("guard")["hooks"].keys() == {"guard"}
    assert survey.to_dict("nobody")["hooks"] == {}


def test_only_what_is_recent_enough_is_counted(tmp_path: Path) -> None:
    """The registrations count for all of a trail."""
    survey = Survey(since="9999")
    survey.read(write_trail(tmp_path / "one"))
    told = survey.to_dict()
    assert {name: one["calls"] for name, one in told["hooks"].items()} == {
        "dead": 0,
        "guard": 0,
        "shadow": 0,
    }
    assert (told["first"], told["last"]) == (None, None)


def test_a_trail_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The others are counted all the same."""
    survey = Survey()
    (tmp_path / "none").mkdir()
    survey.read(tmp_path / "none")
    survey.read(write_trail(tmp_path / "one"))
    told = survey.to_dict()
    assert list(told["unreadable"]) == [str(tmp_path / "none")]
    assert told["hooks"]["guard"]["calls"] == 4


@pytest.mark.parametrize("level", ["decisions", "normal"])
def test_while_a_trail_of_decisions_grows_its_calls_are_not_known(
    tmp_path: Path, level: str
) -> None:
    """A table that is shown meanwhile says so."""
    survey = Survey()
    survey.take_all(read_history(write_trail(tmp_path / "one", level=level)))
    assert survey.to_dict()["hooks"]["guard"]["calls_known"] is (level == "normal")
