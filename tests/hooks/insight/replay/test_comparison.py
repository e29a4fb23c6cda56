"""Comparing what happened with what happens."""

from __future__ import annotations

from amplifier_core.records import HookAnswer
from amplifier_hooks.insight.replay.comparison import (
    Change,
    find_changes,
    find_doubts,
    identify,
    is_compared,
    is_like,
)
from tests.hooks.insight.replay.items import call, event, note, question


def test_times_are_not_compared() -> None:
    """Nor what else differs from run to run."""
    then = event("tool:post", tool_name="A", duration_ms=4, timestamp="x", parent_id="p")
    assert find_changes(then, event("tool:post", tool_name="A", duration_ms=90)) == []


def test_only_the_values_that_differ_are_named() -> None:
    """By the path down to them."""
    then = event("tool:pre", tool_input={"a": 1, "b": {"c": [1]}})
    now = event("tool:pre", tool_input={"a": 1, "b": {"c": [2]}})
    assert find_changes(then, now) == [Change("given tool_input.b.c", [1], [2])]


def test_answers_count_where_they_say_more_than_continue() -> None:
    """A hook that was only there made no difference."""
    quiet = HookAnswer("quiet", 1, "continue")
    loud = HookAnswer("loud", 2, "deny", reason="no")
    then = event("tool:pre", 1, quiet, action="continue")
    now = event("tool:pre", 1, loud, action="deny", reason="no")
    assert find_changes(then, event("tool:pre")) == []
    assert find_changes(then, now) == [
        Change("decision", "continue", "deny"),
        Change("reason", None, "no"),
        Change("hook loud", None, "deny: no"),
    ]


def test_a_hook_that_fails_now_is_seen() -> None:
    """Though its failure changes nothing."""
    failed = HookAnswer("h", 1, "continue", error="ValueError: x")
    (change,) = find_changes(event("tool:pre"), event("tool:pre", 1, failed))
    assert change == Change("hook h", None, "continue, failed: ValueError: x")


def test_what_hooks_left_is_compared_where_they_changed_it() -> None:
    """And not told twice where they did not."""
    then = event("tool:pre", left={"tool_input": {"a": 2}}, tool_input={"a": 1})
    now = event("tool:pre", tool_input={"a": 1})
    assert find_changes(then, now) == [Change("left tool_input", {"a": 2}, None)]


def test_what_a_trail_does_not_have_is_like_anything() -> None:
    """A value that was cut or committed."""
    assert is_like({"a": {"$cut": "text"}}, {"a": "anything"})
    assert is_like([{"$commitment": "x"}], [3])
    assert not is_like({"a": 1}, {"a": 2})
    assert not is_like([1], [1, 2])


def test_the_sentence_about_an_unknown_tool_is_not_compared() -> None:
    """It names all tools, which not every trail does."""
    then = event("tool:error", error={"type": "InvalidToolCall", "message": "have A, B"})
    now = event("tool:error", error={"type": "InvalidToolCall", "message": "have A"})
    assert find_changes(then, now) == []


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
