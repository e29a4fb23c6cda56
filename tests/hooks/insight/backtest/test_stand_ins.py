"""Stand-ins: recorded hooks that answer again."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.hooks import HookRegistry
from amplifier_core.records import HookAnswer
from amplifier_hooks.insight.backtest.stand_ins import StandIns
from amplifier_hooks.trails import RecordedEvent, RecordedHook


def _make_event(*answers: HookAnswer, left: dict[str, Any] | None = None) -> RecordedEvent:
    data = {"a": 1, "gone": 2}
    return RecordedEvent(
        sequence=1, time="", session="s", turn=1, event="tool:pre", data=data,
        left=data if left is None else left, answers=answers,
    )  # fmt: skip


def _turn(standing: StandIns, event: RecordedEvent) -> None:
    standing.turn_to(event, event.data, event.left)


@pytest.mark.parametrize(
    ("hook", "says_who", "expected"),
    [
        (RecordedHook(1, "trail-guard", "tool:pre", 0), True, True),
        (RecordedHook(1, "tool-bash", "tool:pre", 0, module="tool-bash", kind="tools"), True, True),
        (RecordedHook(1, "mine", "tool:pre", 0, module="mine", kind="hooks"), True, False),
        (RecordedHook(1, "named", "*", 0, module="hooks-backup", kind="hooks"), True, True),
        (RecordedHook(1, "trail-guard", "tool:pre", 0), False, True),
        (RecordedHook(1, "cli-display", "*", 0), False, True),
        (RecordedHook(1, "hooks-rules", "tool:pre", 0), False, False),
        (RecordedHook(1, "hooks-backup", "tool:pre", 0), False, True),
    ],
)
def test_a_policy_replaces_hooks_of_hook_modules_that_only_answer(
    hook: RecordedHook, says_who: bool, expected: bool
) -> None:
    """All others answer as they did; trails of earlier versions are read by names."""
    assert StandIns({"hooks-backup"}).is_one(hook, says_who=says_who) is expected


async def test_each_answers_what_it_answered_and_nothing_where_it_did_not() -> None:
    """By the number of its registration."""
    standing, registry = StandIns(()), HookRegistry()
    standing.add(RecordedHook(7, "guard", "tool:*", -5), registry)
    _turn(standing, _make_event(HookAnswer("guard", 7, "deny", reason="no")))
    denied = await registry.emit("tool:pre", {"a": 1})
    assert (denied.action, denied.reason) == ("deny", "no")
    _turn(standing, _make_event(HookAnswer("other", 8, "deny")))
    assert (await registry.emit("tool:pre", {"a": 1})).action == "continue"


async def test_a_change_is_made_again_also_where_it_took_something_away() -> None:
    """Fields that records leave out stay."""
    standing, registry = StandIns(()), HookRegistry()
    standing.add(RecordedHook(7, "guard", "tool:pre", 0), registry)
    changed = _make_event(HookAnswer("guard", 7, "modify"), left={"a": 2, "new": 3})
    _turn(standing, changed)
    run = await registry.dispatch("tool:pre", {**changed.data, "messages": []})
    assert {key: run.data[key] for key in run.data if key != "timestamp"} == {
        "a": 2, "new": 3, "messages": [],
    }  # fmt: skip
    assert standing.doubt == ""


async def test_a_number_that_is_given_again_belongs_to_the_new_hook() -> None:
    """A process that resumes a session counts from one."""
    standing, registry = StandIns(()), HookRegistry()
    for name in ("first", "second"):
        standing.add(RecordedHook(1, name, "tool:pre", 0), registry)
    assert [one.name for one in registry.handlers_for("tool:pre")] == ["second"]


async def test_an_answer_is_recalled_by_name_if_there_is_one() -> None:
    """Of two of one name nobody knows which."""
    standing = StandIns(())
    assert standing.recall("guard", {}) is None
    _turn(standing, _make_event(HookAnswer("guard", 7, "deny"), HookAnswer("x", 8, "deny")))
    known = standing.recall("guard", {})
    assert known is not None
    assert known.action == "deny"
    _turn(standing, _make_event(HookAnswer("x", 7, "deny"), HookAnswer("x", 8, "deny")))
    assert standing.recall("x", {}) is None
