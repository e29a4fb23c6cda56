"""amplifier hooks trace, as text."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.dispatch import Dispatch
from amplifier_core.hooks import HookRegistry
from amplifier_hooks.agent.session.inspection.effective_hooks import Stopwatch
from amplifier_hooks.cli.commands.hooks.trace_text import (
    DataChange,
    describe_changes,
    print_trace,
    trace_to_dict,
)
from tests.support.hooks import asks, injects, modifies, raises, says


def test_only_what_differs_is_named_as_deep_as_both_sides_agree() -> None:
    """Fields by their path, items of lists of the same length by their place."""
    before = {"a": 1, "b": {"c": [1, {"d": 2}], "e": "x"}, "f": [1]}
    after = {"a": 1, "b": {"c": [1, {"d": 3}], "e": "x"}, "f": [1, 2]}
    assert list(describe_changes(before, after)) == [
        DataChange("b.c[1].d", "2", "3"),
        DataChange("f", "[1]", "[1, 2]"),
    ]
    assert list(describe_changes(before, before)) == []


def test_a_field_that_came_or_went_is_called_that() -> None:
    """None is a value like any other."""
    changes = describe_changes({"old": 1, "same": None}, {"same": "x", "new": None})
    assert [f"{one.field} {one}" for one in changes] == [
        "old removed: 1",
        'same null → "x"',
        "new added: null",
    ]


def test_of_a_long_value_the_place_is_shown_where_it_differs() -> None:
    """A secret in the middle of a file is not lost among the rest."""
    (change,) = describe_changes({"text": "a" * 500 + "KEY" + "b" * 500}, {"text": "a" * 500 + "*"})
    assert "aKEYbbb" in change.before
    assert change.after.endswith('a*"')
    assert change.before.startswith("…")
    assert len(change.before) < 130


def test_values_that_json_cannot_hold_are_shown_all_the_same() -> None:
    """A hook may put anything into the data."""
    (change,) = describe_changes({"a": 1}, {"a": {(1, 2): 3}})
    assert str(change) == "1 → {(1, 2): 3}"


DATA = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


async def trace(*hooks: tuple[str, Any]) -> tuple[Dispatch, Stopwatch]:
    registry, watch = HookRegistry(), Stopwatch()
    for number, (name, hook) in enumerate(hooks):
        registry.register("tool:pre", hook, number, name)
    return await registry.dispatch("tool:pre", DATA, watch), watch


async def show(capsys: pytest.CaptureFixture[str], *hooks: tuple[str, Any]) -> list[str]:
    run, watch = await trace(*hooks)
    print_trace(run, watch, DATA)
    return capsys.readouterr().out.splitlines()


async def test_each_answer_has_a_row_with_its_details_below(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Order, hook, action and time; then the reason, the question, the injection."""
    shown = await show(
        capsys,
        ("asker", asks("Really?", reason="it is Friday", approval_options=["Yes", "No"])),
        ("talker", injects("mind\nthe gap")),
    )
    assert shown[:2] == ["", "tool:pre"]
    assert shown[2].startswith("   1. asker                        ask_user       ")
    assert shown[2].endswith(" ms")
    assert shown[3:6] == [
        "       reason: it is Friday",
        "       asks: Really?",
        "       options: Yes, No",
    ]
    assert shown[6].startswith("   2. talker                       inject_context ")
    assert shown[7:9] == ["       injects: mind", "       injects: the gap"]
    assert shown[-1] == "  ⇒ ask_user  a person would be asked first: it is Friday"
    assert shown[2].index(" ms") == shown[6].index(" ms")


async def test_hooks_behind_a_denial_are_listed_as_not_reached(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The chain ended before them."""
    shown = await show(capsys, ("guard", says("deny", reason="no")), ("late", says()))
    assert "      late                         not reached: the chain was stopped" in shown
    assert shown[-1] == "  ⇒ deny  it would not happen: no"


async def test_the_fold_after_a_change_says_what_was_and_what_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Only the fields that differ, under the hook that changed them and in the fold."""
    first = modifies(tool_input={"command": "even", "timeout": 5})
    second = modifies(tool_input={"command": "uneven", "timeout": 5})
    shown = await show(capsys, ("first", first), ("second", second))
    assert '       changes tool_input.command: "ls" → "even"' in shown
    assert "       changes tool_input.timeout: added: 5" in shown
    assert '       changes tool_input.command: "even" → "uneven"' in shown
    assert shown[-3:] == [
        "  ⇒ continue  it happens, with this change:",
        '     tool_input.command: "ls" → "uneven"',
        "     tool_input.timeout: added: 5",
    ]
    assert not any("tool_name: " in line for line in shown)


async def test_a_failure_is_shown_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    """With its kind and its message, made harmless."""
    shown = await show(capsys, ("broken", raises(RuntimeError("it broke\x1b[2K"))))
    assert "       failed: RuntimeError: it broke\\u{1B}[2K" in shown
    assert shown[-1] == "  ⇒ continue  it happens"


async def test_where_nobody_listens_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """And it happens."""
    assert (await show(capsys))[2:] == ["  no hook listens", "", "  ⇒ continue  it happens"]


async def test_a_trace_for_machines_holds_the_same() -> None:
    """Answers with their fields, those not reached, and the fold."""
    run, watch = await trace(
        ("broken", raises(RuntimeError("x"))),
        ("guard", says("deny", reason="no")),
        ("late", says()),
    )
    told = trace_to_dict(run, watch)
    assert told["event"] == "tool:pre"
    assert [(one["hook"], one["action"], one["error"]) for one in told["answers"]] == [
        ("broken", "continue", "RuntimeError('x')"),
        ("guard", "deny", None),
    ]
    assert all(one["ms"] >= 0 for one in told["answers"])
    assert told["answers"][1]["reason"] == "no"
    assert told["not_reached"] == ["late"]
    assert told["fold"] == {"action": "deny", "reason": "no"}
