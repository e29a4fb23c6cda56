"""Comparing what happened with what happens."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from amplifier_core.records import HookAnswer
from amplifier_hooks.insight.changes import Change
from amplifier_hooks.insight.replay.comparison import (
    Difference,
    Matcher,
    Totals,
    compare,
    compare_items,
    find_doubts,
    identify,
    is_compared,
    is_like,
    is_quiet,
    name_item,
    note_gone,
    note_new,
)
from amplifier_hooks.trails import RecordedEvent
from tests.hooks.insight.replay.items import call, event, note, question


def test_a_difference_says_where_and_about_what() -> None:
    """The record, the turn, the input; counterparts that are alike differ in nothing."""
    then = event("tool:pre", 7, tool_name="Bash", tool_input={"command": "ls"})
    assert compare(then, then) is None
    found = compare(
        then,
        event("tool:pre", tool_name="Bash", tool_input={"command": "ls"}, action="deny"),
    )
    assert found is not None
    assert (found.kind, found.what, found.sequence, found.turn) == (
        "changed", "tool:pre of Bash", 7, 1,
    )  # fmt: skip
    assert found.about == {"command": "ls"}


def test_what_happens_on_one_side_only_is_shown_whole() -> None:
    """With what came then instead."""
    new = note_new(question("requested", 1, prompt="sure?"), event("tool:post", 9), "s")
    assert (new.kind, new.sequence, new.expected) == ("only now", 9, "tool:post")
    assert {one.field: one.now for one in new.changes}["prompt"] == "sure?"
    gone = note_gone(event("tool:post", 4))
    assert (gone.kind, gone.sequence) == ("only then", 4)
    last = note_new(event("tool:pre"), None, "s")
    assert (last.sequence, last.expected) == (None, "the end of the recording")


def test_items_have_names_that_people_understand() -> None:
    """Whatever they are."""
    names = [
        event("tool:pre", tool_name="A", again=True),
        event("session:end"),
        question("requested", 1),
        question("remembered", 1),
        call("started", 1),
        note("injection_dropped", hook="h"),
    ]
    assert [name_item(one) for one in names] == [
        "tool:pre of A, judged again",
        "session:end",
        "a question of h at tool:pre",
        "an answer for always of h at tool:pre",
        "a call of Echo",
        "an injection of h at tool:post that is dropped",
    ]


def test_everything_can_be_told_as_json_and_read_back() -> None:
    """Numbers of records too."""
    difference = note_gone(event("tool:pre", 3, tool_input={"a": 1}))
    totals = Totals(events=2, doubts={9: "b: masked", 3: "a: cut"})
    assert Difference.from_dict(json.loads(json.dumps(asdict(difference)))) == difference
    assert Totals.from_dict(json.loads(json.dumps(asdict(totals)))) == totals
    assert totals.doubtful == ["record 3, a: cut", "record 9, b: masked"]


ITEMS = [
    event("provider:request", 1),
    event("tool:pre", 2, tool_call_id="a"),
    event("tool:pre", 3, tool_call_id="b"),
    call("started", 4, "b"),
    event("provider:request", 5),
    event("tool:pre", 6, tool_call_id="a"),
]


def meet(matcher: Matcher, now: object) -> int | None:
    """The record of what is met."""
    found = matcher.match(now)
    return None if found is None else int(found.sequence)


def test_calls_that_ran_side_by_side_are_met_in_any_order() -> None:
    """Between two requests to the model."""
    matcher = Matcher(ITEMS)
    assert meet(matcher, event("provider:request")) == 1
    assert meet(matcher, event("tool:pre", tool_call_id="b")) == 3
    assert meet(matcher, call("started", 0, "b")) == 4
    assert meet(matcher, event("tool:pre", tool_call_id="a")) == 2
    assert meet(matcher, event("provider:request")) == 5


def test_nothing_is_met_across_a_quiet_moment() -> None:
    """What comes after the next request has not happened yet."""
    matcher = Matcher(ITEMS)
    assert meet(matcher, event("tool:pre", tool_call_id="a")) is None
    assert meet(matcher, event("provider:request")) == 1
    assert meet(matcher, event("provider:request")) is None
    assert matcher.next.sequence == 2


def test_of_several_the_one_that_is_the_same_is_met() -> None:
    """The first one if none is."""
    matcher = Matcher([event("x:y", 1, n=1), event("x:y", 2, n=2)])
    assert meet(matcher, event("x:y", n=2)) == 2
    assert meet(matcher, event("x:y", n=9)) == 1
    assert matcher.next is None


def test_what_did_not_happen_again_can_be_passed_over() -> None:
    """Up to the same quiet moment, if there is one."""
    matcher = Matcher(ITEMS[1:])
    assert [one.sequence for one in matcher.skip_to(event("provider:request"))] == [2, 3, 4]
    assert matcher.next.sequence == 5
    assert matcher.skip_to(event("session:end")) == []
    assert is_quiet(event("session:end"))


QUIET = HookAnswer("quiet", 1, "continue")
LOUD = HookAnswer("loud", 2, "deny", reason="no")
FAILED = HookAnswer("h", 1, "continue", error="ValueError: x")


@pytest.mark.parametrize(
    ("then", "now", "changes"),
    [
        # Times are not compared, nor what else differs from run to run.
        (
            event("tool:post", tool_name="A", duration_ms=4, timestamp="x", parent_id="p"),
            event("tool:post", tool_name="A", duration_ms=90),
            [],
        ),
        # The sentence about an unknown tool names all tools, which not every trail does.
        (
            event("tool:error", error={"type": "InvalidToolCall", "message": "have A, B"}),
            event("tool:error", error={"type": "InvalidToolCall", "message": "have A"}),
            [],
        ),
        # Values are named by the path down to them.
        (
            event("tool:pre", tool_input={"a": 1, "b": {"c": [1]}}),
            event("tool:pre", tool_input={"a": 1, "b": {"c": [2]}}),
            [Change("given tool_input.b.c[0]", 1, 2)],
        ),
        # A hook that was only there made no difference.
        (event("tool:pre", 1, QUIET, action="continue"), event("tool:pre"), []),
        (
            event("tool:pre", 1, QUIET, action="continue"),
            event("tool:pre", 1, LOUD, action="deny", reason="no"),
            [
                Change("decision", "continue", "deny"),
                Change("reason", None, "no"),
                Change("hook loud", None, "deny: no"),
            ],
        ),
        # One that fails now is seen, though its failure changes nothing.
        (
            event("tool:pre"),
            event("tool:pre", 1, FAILED),
            [Change("hook h", None, "continue, failed: ValueError: x")],
        ),
        # What hooks left is compared where they changed it, and not told twice elsewhere.
        (
            event("tool:pre", left={"tool_input": {"a": 2}}, tool_input={"a": 1}),
            event("tool:pre", tool_input={"a": 1}),
            [Change("left tool_input", {"a": 2}, None)],
        ),
    ],
)
def test_only_what_makes_a_difference_is_named(
    then: RecordedEvent, now: RecordedEvent, changes: list[Change]
) -> None:
    """Of values, answers, failures and decisions."""
    assert compare_items(then, now) == changes


def test_what_a_trail_does_not_have_is_like_anything() -> None:
    """A value that was cut or committed."""
    assert is_like({"a": {"$cut": "text"}}, {"a": "anything"})
    assert is_like([{"$commitment": "x"}], [3])
    assert not is_like({"a": 1}, {"a": 2})
    assert not is_like([1], [1, 2])


def test_pieces_of_replies_and_ends_of_calls_are_not_compared() -> None:
    """Events, questions, starts of calls and injections are."""
    compared = [
        event("tool:pre"),
        question("requested", 1),
        call("started", 1),
        note("injection_accepted"),
    ]
    others = [
        event("content_block:delta"),
        question("decided", 1),
        call("finished", 1),
        note("user_message"),
    ]
    assert [is_compared(one) for one in compared] == [True] * 4
    assert [is_compared(one) for one in others] == [False] * 4


def test_counterparts_are_of_the_same_call() -> None:
    """And both judged first, or both again."""
    one = event("tool:pre", tool_call_id="a")
    assert identify(one) == identify(event("tool:pre", 9, tool_call_id="a"))
    assert identify(one) != identify(event("tool:pre", tool_call_id="b"))
    assert identify(one) != identify(event("tool:pre", tool_call_id="a", again=True))


def test_masked_values_are_named_as_doubts() -> None:
    """In events, and in what questions and injections say."""
    assert find_doubts(note("injection_accepted", text="key [secret]")) == ["text is masked"]
    assert find_doubts(event("tool:pre", left={"x": "[REDACTED:key]"})) == ["x is masked"]
    assert find_doubts(event("tool:pre", x="plain")) == []
