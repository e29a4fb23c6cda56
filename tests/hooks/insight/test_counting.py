"""Shadows: what would have happened, with the latest cases of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.hook_counts import HookCounts
from amplifier_core.records import HookAnswer
from amplifier_hooks.guards.backup import Restoration
from amplifier_hooks.insight.counting import MOST_HOOKS, Shadows, Survey, Undone, judge_standing
from amplifier_hooks.trails import (
    Note,
    RecordedCall,
    RecordedEvent,
    RecordedHook,
    read_history,
)
from tests.hooks.insight.written_trail import write_trail
from tests.support.bodies import make_body

PLACE: dict[str, Any] = {"time": "2026-11-17T09:00:00Z", "session": "s", "turn": 1}


def make_event(sequence: int, hook: str = "h", **tool_input: Any) -> RecordedEvent:
    data = {"tool_name": "Bash", "tool_input": tool_input}
    answers = (HookAnswer(hook, 1, "continue", shadowed="deny"),)
    place = {**PLACE, "sequence": sequence, "event": "tool:pre"}
    return RecordedEvent(**place, data=data, left=data, answers=answers)


def make_note(sequence: int, **body: Any) -> Note:
    place = {**PLACE, "sequence": sequence, "event": "tool:pre"}
    return Note(**place, hook="h", body=make_body("shadowed", body))


def test_the_latest_cases_are_kept_with_what_would_have_been() -> None:
    """No more than wanted; what a call was about in one line."""
    shadows = Shadows(most=2)
    for number in range(3):
        shadows.add(make_event(2 * number, command=f"rm {number}\nmore"))
        shadows.add(make_note(2 * number + 1, action="deny", would=f"would deny {number}"))
    kept = shadows.examples["h"]["deny"]
    assert [(one.about, one.would) for one in kept] == [
        ("rm 1", "would deny 1"),
        ("rm 2", "would deny 2"),
    ]
    assert kept[0].to_dict()["sequence"] == 2


def test_a_trail_of_decisions_has_cases_too() -> None:
    """From the note alone."""
    shadows = Shadows()
    shadows.add(make_note(1, action="ask_user", would="would have asked"))
    (one,) = shadows.examples["h"]["ask_user"]
    assert (one.event, one.would) == ("tool:pre", "would have asked")


def test_cases_of_made_up_names_do_not_fill_the_memory() -> None:
    """Beyond a number of hooks no more cases are kept."""
    shadows = Shadows()
    for number in range(MOST_HOOKS + 5):
        shadows.add(make_event(number, f"hook {number}", file_path="a"))
    assert len(shadows.examples) == MOST_HOOKS


NOTE = Restoration("/w/a.txt", "2026-11-17T09:00:00+00:00", "2026-11-17T10:00:00+00:00", "b", "s")


def tell(undone: Undone, path: str, hour: int, *, runs: bool = True, folder: str = "/w") -> None:
    """One call of a session with a guard, a hook that asks, one in shadow and an observer."""
    time = f"2026-11-17T{hour:02}:30:00.000Z"
    place: dict[str, Any] = {"sequence": 1, "time": time, "session": "s", "turn": 1, "event": ""}
    undone.add(Note(**place, hook="", body=make_body("bundle_loaded", {"folder": folder})))
    undone.add(RecordedHook(1, "guard", "tool:pre", 0, on_error="deny"))
    undone.add(RecordedHook(3, "shadow", "tool:pre", 0, on_error="deny", shadow=True))
    data = {"tool_name": "Write", "tool_input": {"file_path": path}, "tool_call_id": "c"}
    answers = (
        HookAnswer("guard", 1, "continue"),
        HookAnswer("asks", 2, "ask_user"),
        HookAnswer("shadow", 3, "continue", shadowed="deny"),
        HookAnswer("observer", 4, "continue"),
    )
    told = {**place, "event": "tool:pre"}
    undone.add(RecordedEvent(**told, data=data, left=data, answers=answers))
    undone.add(RecordedEvent(**told, data=data, left=data, answers=answers, again=True))
    if runs:
        undone.add(RecordedCall(**place, stage="started", tool="Write", call_id="c"))
        undone.add(RecordedCall(**place, stage="finished", tool="Write", call_id="c"))
    undone.end_trail()


@pytest.mark.parametrize(
    ("path", "hour", "runs", "counted"),
    [
        ("a.txt", 9, True, True),
        ("/w/a.txt", 9, True, True),
        ("a.txt", 8, True, False),
        ("a.txt", 10, True, False),
        ("b.txt", 9, True, False),
        ("a.txt", 9, False, False),
    ],
)
def test_a_call_counts_if_its_file_was_put_back_to_what_it_was_before(
    path: str, hour: int, runs: bool, counted: bool
) -> None:
    """Once for each guard and each hook that had asked."""
    undone = Undone(lambda folder: [NOTE])
    tell(undone, path, hour, runs=runs)
    assert undone.counts == ({"guard": 1, "asks": 1} if counted else {})


def test_each_folder_has_its_own_restorations() -> None:
    """They are looked for once."""
    asked = []

    def read(folder: str) -> list[Restoration]:
        asked.append(folder)
        return [NOTE] if folder == "/w" else []

    undone = Undone(read)
    for folder in ("/w", "/other", "/w"):
        tell(undone, "a.txt", 9, folder=folder)
    assert undone.counts == {"guard": 2, "asks": 2}
    assert asked == ["/w", "/other"]


def make(**figures: Any) -> HookCounts:
    counts = HookCounts()
    for name, value in figures.items():
        setattr(counts, name, value)
    return counts


def slow() -> HookCounts:
    counts = make(calls=100)
    for number in range(100):
        counts.count_time(0.2 if number > 97 else 0.001)
    return counts


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        (make(calls=100, failures=1), "failing"),
        (make(calls=101, failures=1), "quiet"),
        (make(), "dead"),
        (slow(), "slow"),
        (make(calls=9, asked=5, overruled=5, answers={"ask_user": 5}), "noisy"),
        (make(calls=9, asked=4, overruled=4, answers={"ask_user": 4}), "active"),
        (make(calls=99, asked=10, overruled=8, answers={"ask_user": 10}), "active"),
        (make(calls=3), "quiet"),
        (make(calls=3, answers={"deny": 1}), "active"),
        (make(calls=3, shadowed={"deny": 1}), "active"),
        (make(calls=3, unheeded=1), "active"),
    ],
)
def test_the_figures_of_a_hook_come_to_one_word(counts: HookCounts, word: str) -> None:
    """The worst that fits."""
    assert judge_standing(counts, everywhere=True) == word


def test_only_a_hook_that_all_sessions_had_is_called_dead() -> None:
    """And only if all calls are known."""
    assert judge_standing(HookCounts()) == "quiet"
    assert judge_standing(HookCounts(), everywhere=True, sure=False) == "quiet"


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
    survey.add_all(read_history(write_trail(tmp_path / "one", level=level)))
    assert survey.to_dict()["hooks"]["guard"]["calls_known"] is (level == "normal")
