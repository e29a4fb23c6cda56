"""Points, data, verdicts and texts of the contract, and ours."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agent_hooks")

from agent_hooks import AgentContextBuilder
from agent_hooks import path as paths
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.answers import Outcome
from amplifier_core.approval import ApprovalQuestion
from amplifier_core.dispatch import Answer
from amplifier_core.models import HookResult
from amplifier_core.registration import HookHandler
from amplifier_hooks.frameworks.agent_hooks.translation import (
    POINTS,
    UnusableChange,
    change_reply,
    find_change,
    read_text,
    replace_text,
    restore_messages,
    show_message,
    show_reply,
    write_denial,
    write_permission,
    write_question,
)

CALL = {"tool_name": "Write", "tool_input": {"path": "a"}, "tool_call_id": "c1"}
RESULT = {"success": True, "output": "done", "error": None}


def open_context(event: str, data: dict[str, Any]) -> dict[str, Any]:
    builder = AgentContextBuilder(agent_id="a", framework="f", session_id="s")
    point = POINTS[event]
    return point.open(builder, point.project(data), data)


@pytest.mark.parametrize(
    ("event", "data", "key", "value"),
    [
        ("session:start", {"tools": ["b", "a"]}, "agent_init", {"tools_registered": ["a", "b"]}),
        (
            "prompt:submit",
            {"prompt": "go", "metadata": {"role": "external"}},
            "input",
            {"content": "go", "role": "external"},
        ),
        (
            "prompt:submit",
            {"prompt": "go", "metadata": {"role": "king"}},
            "input",
            {"content": "go", "role": "user"},
        ),
        ("tool:pre", CALL, "tool_call", {"id": "c1", "name": "Write", "args": {"path": "a"}}),
        (
            "tool:post",
            {**CALL, "tool_result": RESULT, "success": True, "duration_ms": 3},
            "tool_result",
            {"value": "done", "is_error": False, "duration_ms": 3},
        ),
        (
            "tool:post",
            {**CALL, "tool_result": {"output": None, "error": {"message": "no"}}, "success": False},
            "tool_result",
            {"value": {"message": "no"}, "is_error": True},
        ),
        ("prompt:answer", {"response": "x"}, "output", {"content": "x"}),
        (
            "session:end",
            {"reason": "complete", "duration_ms": 1500, "stats": {"tool_invocations": 2}},
            "summary",
            {"reason": "completed", "tool_calls": 2, "duration_seconds": 1.5},
        ),
        ("session:end", {"reason": "user_exit"}, "summary", {"reason": "cancelled"}),
        ("session:end", {"reason": "denied"}, "summary", {"reason": "error"}),
    ],
)
def test_each_event_has_its_context(event: str, data: Any, key: str, value: Any) -> None:
    """With the fields that the contract wants there."""
    assert open_context(event, data)[key] == value


def test_a_request_and_its_reply_are_told_with_their_model() -> None:
    """And with what they have in common."""
    about = {"provider": "anthropic", "model": None, "request_id": "r1"}
    messages = [{"role": "user", "content": "go", "timestamp": "now"}]
    sent = open_context("provider:request", {**about, "messages": messages, "tools": ["Write"]})
    assert sent["model"] == {"id": "anthropic", "vendor": "anthropic"}
    assert (sent["messages"], sent["tools"]) == (
        [{"role": "user", "content": "go"}],
        [{"name": "Write"}],
    )
    response = {"content": [{"type": "text", "text": "hi"}], "finish_reason": None}
    usage = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
    got = open_context("provider:response", {**about, "response": response, "usage": usage})
    assert got["response"] == {"content": "hi", "tool_calls": [], "finish_reason": "stop"}
    assert got["usage"] == {"prompt_tokens": 5, "completion_tokens": 7}
    assert sent["request_id"] == got["request_id"] == "r1"


@pytest.mark.parametrize(
    ("event", "data", "left", "why"),
    [
        ("session:start", {"tools": []}, ["x"], "there is nothing to rewrite here"),
        ("session:end", {"reason": "complete"}, {}, "there is nothing to rewrite here"),
        ("tool:pre", CALL, "x", "arguments are an object, got str"),
        ("provider:request", {"messages": []}, ["x"], "messages are a list of objects"),
        ("provider:response", {"response": {}}, {}, "a reply has content, tool_calls and"),
    ],
)
def test_what_cannot_be_carried_out_is_refused(event: str, data: Any, left: Any, why: str) -> None:
    """In a sentence that says what it would have to be."""
    point = POINTS[event]
    with pytest.raises(UnusableChange, match=why):
        point.merge(data, point.project(data), left)


IMAGE = {"type": "image", "url": "x"}
BLOCKS = [IMAGE, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
MESSAGES = [
    {"role": "assistant", "content": [{"type": "function_call", "name": "Write"}]},
    {"role": "tool", "content": [{"type": "function_result", "result": "done"}]},
    {"role": "assistant", "content": "done"},
]


@pytest.mark.parametrize(
    ("content", "text", "changed"),
    [
        ("a", "a", "new"),
        (None, "", "new"),
        (BLOCKS, "ab", [IMAGE, {"type": "text", "text": "new"}]),
        (MESSAGES, "done", [*MESSAGES[:2], {"role": "assistant", "content": "new"}]),
        (
            [{"role": "user", "content": BLOCKS}],
            "ab",
            [{"role": "user", "content": [IMAGE, {"type": "text", "text": "new"}]}],
        ),
        ({"odd": 1}, '{"odd": 1}', "new"),
        ([1, 2], "[1, 2]", "new"),
        ([{"role": "user", "content": 7}], '[{"role": "user", "content": 7}]', "new"),
    ],
)
def test_it_is_read_and_replaced_in_place(content: Any, text: str, changed: Any) -> None:
    """Everything around it stays; what nobody changed stays the very same."""
    assert read_text(content) == text
    assert replace_text(content, "new") == changed
    assert replace_text(content, text) is content


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def answer(name: str = "mine", error: BaseException | None = None, **fields: Any) -> Answer:
    return Answer(HookHandler(lambda event, data: None, name=name), HookResult(**fields), error)


@given(values, values)
def test_a_change_applied_to_what_was_there_is_what_was_left(before: Any, left: Any) -> None:
    """By the contract's own rules, whatever the two are."""
    path, value = find_change(before, left)
    assert paths.apply(before, path, value) == left


@pytest.mark.parametrize(
    ("before", "left", "path"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "$target.b"),
        ({"a": [{"c": 1}, 2]}, {"a": [{"c": 4}, 2]}, "$target.a[0].c"),
        ({"a": 1, "b": 2}, {"a": 3, "b": 4}, "$target"),
        ({"a": 1, "b": 2}, {"a": True, "b": 2}, "$target.a"),
        ({"a": [0, 1]}, {"a": [False, 2]}, "$target.a"),
        ({"a": 1}, {"a": 1, "b": 2}, "$target"),
        ([1, 2], [1], "$target"),
        ({"a.b": 1}, {"a.b": 2}, "$target"),
        ({"ä": 1}, {"ä": 2}, "$target"),
    ],
)
def test_no_more_is_rewritten_than_was_changed(before: Any, left: Any, path: str) -> None:
    """As far as the contract has a path for it."""
    assert find_change(before, left)[0] == path


def test_a_denial_names_its_hook_and_says_why() -> None:
    """What a failed hook raised is not told to others."""
    denied = write_denial(Outcome(False, hook="guard", reason="no"))
    assert (denied.reason, denied.message) == ("amplifier:guard", "no")
    failed = answer("guard", RuntimeError("a secret"), action="deny", reason="a secret")
    told = write_denial(Outcome(False, hook="guard", reason="a secret", answers=(failed,)))
    assert told.message == "hook 'guard' failed"
    assert write_denial(Outcome(False)).to_wire()["message"] == "no reason given"


def test_all_questions_stand_in_one_denial_that_may_be_lifted() -> None:
    """With who asks, and the digest of what would run."""
    asked = [
        ApprovalQuestion(f"{name}?", ("Allow", "Deny"), 5, "deny", hook=name, digest="d")
        for name in ("one", "two")
    ]
    verdict = write_question(asked, ())
    assert verdict.is_liftable
    assert (verdict.reason, verdict.message) == ("amplifier:one", "one?; two?")
    assert [one["hook"] for one in (verdict.approval or {})["questions"]] == ["one", "two"]


def test_warnings_are_told_and_what_is_for_information_is_not() -> None:
    """With the hook that warns."""
    answers = [
        answer(user_message="careful", user_message_level="warning"),
        answer(user_message="by the way"),
        answer(),
    ]
    verdict = write_permission(1, 1, answers)
    assert [(one.reason, one.message) for one in verdict.warnings] == [
        ("amplifier:mine", "careful")
    ]
    assert write_permission({"a": 1}, {"a": 2}, answers).warnings == verdict.warnings


def test_a_change_of_type_alone_is_a_change() -> None:
    """For Python 1 equals True; for a tool it may not."""
    assert write_permission({"force": False}, {"force": False}, ()).transform is None
    change = write_permission({"force": False}, {"force": 0}, ()).transform
    assert change is not None
    assert (change.path, type(change.value)) == ("$target.force", int)


USER = {"role": "user", "content": "go", "timestamp": "1", "metadata": {"a": 1}}
CALLING = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "name": "Write", "arguments": {"x": 1}}],
}
TOOL = {"role": "tool", "content": "done", "tool_call_id": "c1", "timestamp": "3"}


def test_a_message_is_shown_without_what_only_a_session_needs() -> None:
    """Its content is never null."""
    assert show_message(USER) == {"role": "user", "content": "go"}
    assert show_message(CALLING) == {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "name": "Write", "args": {"x": 1}}],
    }
    assert show_message(TOOL) == {"role": "tool", "content": "done", "tool_call_id": "c1"}


def test_what_nobody_touched_is_our_own_again_wherever_it_is() -> None:
    """Also if another message was taken out or put in before it."""
    ours: list[dict[str, Any]] = [USER, CALLING, TOOL]
    shown = [show_message(one) for one in ours]
    new = {"role": "system", "content": "be brief"}
    assert restore_messages(ours, shown, [new, *shown]) == [new, *ours]
    assert restore_messages(ours, shown, shown[1:]) == ours[1:]


def test_a_changed_message_keeps_its_place_and_its_calls() -> None:
    """The calls as the interceptor left them."""
    ours: list[dict[str, Any]] = [USER, CALLING]
    shown = [show_message(one) for one in ours]
    call = {"id": "c1", "name": "Write", "args": {"x": 2}}
    left = [{**shown[0], "content": "stop"}, {**shown[1], "tool_calls": [call]}]
    user, calling = restore_messages(ours, shown, left)
    assert user == {**USER, "content": "stop"}
    assert calling["tool_calls"] == [{"id": "c1", "name": "Write", "arguments": {"x": 2}}]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, None),
        ("a", "a"),
        ([{"type": "thinking", "thinking": "b"}], None),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
    ],
)
def test_the_text_of_a_reply_is_shown(content: Any, text: str | None) -> None:
    """In whichever form it was kept."""
    assert show_reply({"content": content})["content"] == text


def test_of_a_changed_reply_no_thought_repeats_what_was_taken_out() -> None:
    """Calls that were taken out are gone from its blocks as well."""
    blocks = [
        {"type": "thinking", "thinking": "the PIN"},
        {"type": "text", "text": "the PIN"},
        {"type": "tool_call", "id": "c1"},
    ]
    call = {"id": "c1", "name": "Write", "arguments": {}}
    response = {"content": blocks, "tool_calls": [call], "finish_reason": "tool_calls"}
    before = show_reply(response)
    left = {**before, "content": "hidden"}
    assert change_reply(response, before, left)["content"] == [{"type": "text", "text": "hidden"}]
    without = change_reply(response, before, {**before, "tool_calls": []})
    assert (without["tool_calls"], without["content"]) == ([], blocks[:2])
    assert change_reply(response, before, {**before, "content": None})["content"] == [
        {"type": "text", "text": ""}
    ]
