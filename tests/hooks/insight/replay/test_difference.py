"""Both ways from where they part."""

from __future__ import annotations

import json
from dataclasses import asdict

from amplifier_hooks.insight.replay.difference import (
    Difference,
    Totals,
    compare,
    name_item,
    note_gone,
    note_new,
)
from tests.hooks.insight.replay.items import call, event, note, question


def test_counterparts_that_are_alike_differ_in_nothing() -> None:
    """None, and not an empty difference."""
    assert compare(event("tool:pre"), event("tool:pre")) is None


def test_a_difference_says_where_and_about_what() -> None:
    """The record, the turn, the input."""
    found = compare(
        event("tool:pre", 7, tool_name="Bash", tool_input={"command": "ls"}),
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
