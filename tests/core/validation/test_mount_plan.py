"""The checks of a mount plan."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.validation import MountPlanValidator

SESSION = {"orchestrator": "a", "context": {"module": "b"}}


@pytest.mark.parametrize(
    ("plan", "errors"),
    [
        ({"session": SESSION, "tools": ["x", {"module": "y"}], "agents": 5}, []),
        ([], ["is a mapping"]),
        (None, ["is a mapping"]),
        ({}, ["session.orchestrator is named", "session.context is named"]),
        ({"session": "x"}, ["session.orchestrator is named", "session.context is named"]),
        ({"session": {**SESSION, "context": ""}}, ["session.context is named"]),
        (
            {"session": SESSION, "hooks": {}, "tools": ["x", {}, 7, None]},
            [
                "tools 2 names its module",
                "tools 3 names its module",
                "tools 4 names its module",
                "hooks is a list",
            ],
        ),
    ],
)
def test_what_is_wrong_with_a_plan_is_named(plan: Any, errors: list[str]) -> None:
    """Each entry by its place, so that its author finds it."""
    assert [one.name for one in MountPlanValidator().validate(plan).errors] == errors


def test_what_would_do_is_said() -> None:
    """A missing part with the line to add."""
    summary = MountPlanValidator().validate({"session": {"context": "b"}}).summary()
    assert "add session.orchestrator" in summary
