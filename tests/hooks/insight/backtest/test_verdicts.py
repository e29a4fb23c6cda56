"""What became of an event, of then and of now, in the same form."""

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
from amplifier_core.records import HookAnswer
from amplifier_core.utils.copying import copy_plain, detach
from amplifier_core.utils.nested import iterate_texts, rewrite
from amplifier_hooks.insight.backtest.verdicts import (
    LONGEST,
    Difference,
    Failure,
    Gap,
    GapAccess,
    GapAccesses,
    MissingValue,
    Verdict,
    compare,
    describe_difference,
    fill_gaps,
    list_changes,
    read_dispatch,
    read_recorded,
)
from amplifier_hooks.trails import RecordedEvent

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
    assert looks.pop_all()[:1] == (GapAccess("guard", "tool_input", "redacted"),)
    assert looks.pop_all() == ()


def test_what_the_machinery_does_is_no_look() -> None:
    """Events are copied and compared for every hook, also for those that look at nothing."""
    looks = GapAccesses(hook="guard")
    data = {"messages": Gap("messages", "why", looks), "n": [1]}
    assert copy_plain(data) == data
    assert detach(data) == data
    assert copy.deepcopy(data)["messages"] is data["messages"]
    assert HookResult(action="modify", data=data).data is not None
    assert looks.pop_all() == ()


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
    assert looks.pop_all() == ()


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


def _record(event: str, action: str, *answers: HookAnswer) -> Verdict:
    recorded = RecordedEvent(
        sequence=1, time="", session="s", turn=1, event=event, data={}, left={"a": 1},
        answers=answers, action=action,
    )  # fmt: skip
    return read_recorded(recorded, recorded.left)


async def _run(event: str, *results: HookResult) -> Verdict:
    registry = HookRegistry()
    for number, result in enumerate(results):

        async def answer(event: str, data: Any, result: HookResult = result) -> HookResult:
            return result

        registry.register(event, answer, number, f"hook{number}")
    return read_dispatch(await registry.dispatch(event, {"a": 1}), ())


async def test_the_strongest_answer_decides_then_as_now() -> None:
    """By action, and of equal ones the first."""
    then = _record(
        "tool:pre",
        "ask_user",
        HookAnswer("hook0", 1, "inject_context"),
        HookAnswer("hook1", 2, "ask_user"),
    )
    ask = HookResult(action="ask_user", approval_prompt="really?")
    now = await _run("tool:pre", HookResult(action="inject_context", context_injection="x"), ask)
    assert (then.action, then.hook, then.injecting) == ("ask_user", "hook1", ("hook0",))
    assert (now.action, now.hook, now.injecting) == ("ask_user", "hook1", ("hook0",))
    assert now.asking[0].prompt == "really?"


async def test_what_only_tells_of_something_cannot_be_stopped_or_changed() -> None:
    """A denial of session:end denies nothing."""
    now = await _run("session:end", HookResult(action="deny", reason="stay"))
    then = _record("session:end", "deny", HookAnswer("hook0", 1, "deny"))
    assert now.action == then.action == "continue"
    assert now.left == then.left == {}


def test_an_answer_behind_a_denial_counts_for_nothing() -> None:
    """It had no effect then."""
    behind = HookAnswer("late", 2, "inject_context", unheeded=True)
    then = _record("tool:pre", "deny", HookAnswer("first", 1, "deny"), behind)
    assert (then.hook, then.injecting) == ("first", ())


FAILED = (Failure("hook", "RuntimeError"),)
LOOKED = (GapAccess("hook", "messages", "why"),)
TOO_LONG = {"a": "x" * 10}


def went_on(left: dict[str, Any], **more: Any) -> Verdict:
    return Verdict("continue", left, **more)


@pytest.mark.parametrize(
    ("was", "would", "scrubbed", "kind"),
    [
        # A tuple that a hook made is a list in the record.
        (went_on({"a": [1, [2]]}), went_on({"a": (1, (2,))}), None, None),
        # The record does not have the secret that a hook put in.
        (went_on({"a": "***"}), went_on({"a": "key"}), {"a": "***"}, None),
        (
            went_on({"a": "***"}),
            went_on({"a": "key"}),
            None,
            "changed_input",
        ),
        # Only what fails newly is an error.
        (
            went_on({}, failures=FAILED),
            went_on({}, failures=FAILED),
            None,
            None,
        ),
        (went_on({}, failures=FAILED), went_on({}), None, None),
        (went_on({}), went_on({}, failures=FAILED), None, "error"),
        # Whoever looked at a gap leaves nothing to compare, also where the actions are the same.
        (went_on({}), went_on({}, looks=LOOKED), None, "cannot_tell"),
        # Only what was cut or kept apart leaves a doubt, however deep it stands.
        (
            went_on({"a": {"$cut": {"chars": 10}}}),
            went_on(TOO_LONG),
            None,
            "cannot_tell",
        ),
        (
            went_on({"a": {"b": 1}}),
            went_on(TOO_LONG),
            None,
            "changed_input",
        ),
        (
            went_on({"a": {"b": "$cut"}}),
            went_on(TOO_LONG),
            None,
            "changed_input",
        ),
        (
            went_on({"a": [{"$cut": 9, "head": "x"}]}),
            went_on(TOO_LONG),
            None,
            "cannot_tell",
        ),
        (
            went_on({"a": {"b": {"$commitment": "c"}}}),
            went_on(TOO_LONG),
            None,
            "cannot_tell",
        ),
    ],
)
def test_what_is_left_of_an_event_is_compared_as_a_trail_has_it(
    was: Verdict, would: Verdict, scrubbed: dict[str, str] | None, kind: str | None
) -> None:
    """With the hook that looked, or why nobody can tell."""
    found = compare(was, would, lambda _: scrubbed) if scrubbed else compare(was, would)
    assert (found and found.kind) == kind
    if found and found.kind == "cannot_tell":
        assert found.hook == "hook" if would.looks else "not in the trail as a whole" in found.doubt


def test_an_example_names_its_place_and_shortens_what_it_is_about() -> None:
    """A megabyte of input is not repeated."""
    data = {"tool_name": "Write", "tool_input": {"text": "x" * 10_000}}
    event = RecordedEvent(
        sequence=7, time="t", session="s", turn=1, event="tool:pre", data=data, left=data
    )
    was, would = went_on(data), Verdict("deny", data, "guard", "no")
    told = describe_difference(
        Path("trail"), event, was, would, Difference("newly_denied", "guard")
    )
    assert (told["trail"], told["sequence"], told["tool"]) == ("trail", 7, "Write")
    assert len(told["about"]) == LONGEST + 1
    assert told["would"] == {"action": "deny", "hook": "guard", "reason": "no", "asks": []}
    assert json.loads(json.dumps(told)) == told


def test_changes_are_told_field_by_field() -> None:
    """What came, what went, and what only a trail without the value could tell."""
    gap = Gap("text", "redacted", GapAccesses())
    was = {"a": {"b": 1, "old": "x", "text": gap}, "same": [1]}
    would = {"a": {"b": 2, "new": "y", "text": "z"}, "same": [1]}
    assert list_changes(was, would) == [
        {"field": "a.b", "was": "1", "would": "2"},
        {"field": "a.old", "was": "x", "would": ""},
        {"field": "a.text", "was": "[not in the trail: redacted]", "would": "z"},
        {"field": "a.new", "was": "", "would": "y"},
    ]


@pytest.mark.parametrize(
    ("was", "would", "kind"),
    [
        ("continue", "deny", "newly_denied"),
        ("ask_user", "deny", "newly_denied"),
        ("deny", "ask_user", "no_longer_denied"),
        ("deny", "continue", "no_longer_denied"),
        ("continue", "ask_user", "newly_asked"),
        ("ask_user", "continue", "no_longer_asked"),
        ("ask_user", "ask_user", None),
        ("deny", "deny", None),
        ("continue", "continue", None),
    ],
)
def test_a_difference_is_named_by_what_changed_for_the_event(
    was: str, would: str, kind: str | None
) -> None:
    """With the hook that decided where something was decided."""
    then = Verdict(was, {"a": 1}, "old" if was != "continue" else "")
    now = Verdict(would, {"a": 1}, "new" if would != "continue" else "")
    found = compare(then, now)
    assert (found and found.kind) == kind
    if found is not None:
        assert found.hook == ("new" if kind in ("newly_denied", "newly_asked") else "old")


def test_only_answers_that_failed_then_are_failures() -> None:
    """With what was recorded of the error."""
    fine, failed = HookAnswer("fine", 1, "continue"), HookAnswer("bad", 2, "deny", error="OSError")
    assert _record("tool:pre", "deny", fine, failed).failures == (Failure("bad", "OSError"),)
