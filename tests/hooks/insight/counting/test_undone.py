"""Undone calls: what guards let pass, and people took back."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.records import HookAnswer
from amplifier_hooks.guards.backup import Restoration
from amplifier_hooks.insight.counting.undone import Undone
from amplifier_hooks.trails import (
    Note,
    RecordedCall,
    RecordedEvent,
    RecordedHook,
)
from tests.support.bodies import make_body

NOTE = Restoration("/w/a.txt", "2026-11-17T09:00:00+00:00", "2026-11-17T10:00:00+00:00", "b", "s")


def tell(undone: Undone, path: str, hour: int, *, runs: bool = True, folder: str = "/w") -> None:
    """One call of a session with a guard, a hook that asks, one in shadow and an observer."""
    time = f"2026-11-17T{hour:02}:30:00.000Z"
    place: dict[str, Any] = {"sequence": 1, "time": time, "session": "s", "turn": 1, "event": ""}
    undone.take(Note(**place, hook="", body=make_body("bundle_loaded", {"folder": folder})))
    undone.take(RecordedHook(1, "guard", "tool:pre", 0, on_error="deny"))
    undone.take(RecordedHook(3, "shadow", "tool:pre", 0, on_error="deny", shadow=True))
    data = {"tool_name": "Write", "tool_input": {"file_path": path}, "tool_call_id": "c"}
    answers = (
        HookAnswer("guard", 1, "continue"),
        HookAnswer("asks", 2, "ask_user"),
        HookAnswer("shadow", 3, "continue", shadowed="deny"),
        HookAnswer("observer", 4, "continue"),
    )
    told = {**place, "event": "tool:pre"}
    undone.take(RecordedEvent(**told, data=data, left=data, answers=answers))
    undone.take(RecordedEvent(**told, data=data, left=data, answers=answers, again=True))
    if runs:
        undone.take(RecordedCall(**place, stage="started", tool="Write", call_id="c"))
        undone.take(RecordedCall(**place, stage="finished", tool="Write", call_id="c"))
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
