"""Gaps: copies leave them alone, and whoever looks at one is noted."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.utils.copying import copy_plain, detach
from amplifier_core.utils.nested import iterate_texts, rewrite
from amplifier_hooks.insight.backtest.verdicts import (
    Gap,
    GapAccess,
    GapAccesses,
    MissingValue,
    fill_gaps,
)

LOOKS: list[Callable[[Any], Any]] = [
    lambda gap: len(gap),
    lambda gap: bool(gap),
    lambda gap: str(gap),
    lambda gap: f"{gap}",
    lambda gap: gap == "x",
    lambda gap: gap != "x",
    lambda gap: gap in {"x", "y"},
    lambda gap: "x" in gap,
    lambda gap: gap["x"],
    lambda gap: gap.get("x"),
    lambda gap: list(gap),
    lambda gap: gap + "x",
    lambda gap: "x" + gap,
    lambda gap: Path(gap),
    lambda gap: isinstance(gap, str),
    lambda gap: isinstance(gap, Mapping),
    lambda gap: json.dumps(gap, default=str),
    lambda gap: rewrite({"a": [gap]}, lambda text, key: text),
    lambda gap: list(iterate_texts([gap])),
]


@pytest.mark.parametrize("number", range(len(LOOKS)))
def test_a_hook_that_looks_is_noted(number: int) -> None:
    """However it looks, and whether or not it bears that there is nothing."""
    looks = GapAccesses(hook="guard")
    gap = Gap("tool_input", "redacted", looks)
    with contextlib.suppress(MissingValue):
        LOOKS[number](gap)
    assert looks.take()[:1] == (GapAccess("guard", "tool_input", "redacted"),)
    assert looks.take() == ()


def test_what_the_machinery_does_is_no_look() -> None:
    """Events are copied and compared for every hook, also for those that look at nothing."""
    looks = GapAccesses(hook="guard")
    data = {"messages": Gap("messages", "why", looks), "n": [1]}
    assert copy_plain(data) == data
    assert detach(data) == data
    assert copy.deepcopy(data)["messages"] is data["messages"]
    assert HookResult(action="modify", data=data).data is not None
    assert looks.take() == ()


async def test_a_hook_that_changes_another_field_carries_a_gap_along() -> None:
    """What nobody looked at is what it was."""
    looks = GapAccesses(hook="guard")
    gap = Gap("messages", "why", looks)
    registry = HookRegistry()

    @registry.register("provider:request")
    async def change(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "model": "other"})

    run = await registry.dispatch("provider:request", {"messages": gap, "model": "this"})
    assert run.data["messages"] is gap
    assert run.data["model"] == "other"
    assert looks.take() == ()


def test_outside_of_hooks_a_gap_says_what_it_is() -> None:
    """So that it can be shown."""
    gap = Gap("messages", "trails do not repeat it", GapAccesses())
    assert str(gap) == "[not in the trail: trails do not repeat it]"
    assert gap in {gap, 1}
    with pytest.raises(MissingValue, match="the trail does not have messages"):
        gap.get("x")


def test_both_sides_of_an_event_have_the_same_gaps() -> None:
    """What hooks left alone compares equal; what they changed does not."""
    cut = {"$cut": {"chars": 9}}
    data = {"tool_input": {"text": cut, "path": "a"}, "list": [1, cut]}
    left = {**data, "tool_input": {"text": cut, "path": "b"}}
    missing = {"tool_input.text": "cut", "list[1]": "cut", "messages": "not repeated"}
    shown, kept = fill_gaps(data, left, missing, GapAccesses())
    assert shown["tool_input"]["text"] is kept["tool_input"]["text"]
    assert (shown["list"], shown["messages"]) == (kept["list"], kept["messages"])
    assert shown != kept
    assert kept["tool_input"]["path"] == "b"
