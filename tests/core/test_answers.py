"""What a hook answered, what its author probably did not mean, and what became of it."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type"

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.answers import (
    NO_PROMPT,
    NO_TEXT,
    Outcome,
    describe_denial,
    describe_failure,
    describe_shadowed,
    find_omission,
    read_answer,
    withdraw,
)
from amplifier_core.errors import InvalidHookResult
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import CONTINUE, HookResult
from tests.support.harness import Harness
from tests.support.hooks import PRE, asks, injects, modifies, returns, says


def test_none_and_dicts_are_answers():
    assert read_answer(None) is CONTINUE
    assert read_answer({"action": "deny", "reason": "no"}).reason == "no"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"action": "shout"}, "a dict that is not a HookResult"),
        ({1: 2}, "a dict that is not a HookResult"),
        (
            {"actoin": "deny"},
            "is not a HookResult: actoin: HookResult has no field 'actoin'; did you mean 'action'",
        ),
        ("deny", "returned str, not a HookResult"),
        (HookResult(action="modify"), "'modify' without a dict in data"),
        (HookResult().model_copy(update={"action": "shout"}), "the unknown action 'shout'"),
        (
            HookResult.model_construct(action="inject_context", context_injection=5),
            "something that is not text",
        ),
    ],
)
def test_what_is_no_answer_is_refused(answer, text):
    """Also when it was built past its validation."""
    with pytest.raises(InvalidHookResult, match=text):
        read_answer(answer)


DATA = {"tool_name": "Bash", "tool_input": {}, "session_id": "s", "parent_id": None}


@pytest.mark.parametrize(
    ("fields", "advice"),
    [
        ({"action": "modify", "data": {"tool_input": {"a": 1}}}, "without 'tool_name', so"),
        ({"action": "modify", "data": {}}, "without 'tool_input', 'tool_name', so"),
        ({"action": "ask_user"}, NO_PROMPT),
        ({"action": "ask_user", "approval_prompt": ""}, NO_PROMPT),
        ({"action": "inject_context"}, NO_TEXT),
        ({"action": "inject_context", "context_injections": [{"content": ""}]}, NO_TEXT),
    ],
)
def test_what_an_action_lives_by_is_missed(fields: dict[str, Any], advice: str) -> None:
    """Fields that the registry adds are missed by nobody."""
    found = find_omission(HookResult(**fields), DATA)
    assert found is not None
    assert advice in found


@pytest.mark.parametrize(
    "fields",
    [
        {"action": "modify", "data": {"tool_name": "Bash", "tool_input": {"a": 1}}},
        {"action": "ask_user", "approval_prompt": "Go on?"},
        {"action": "inject_context", "context_injection": "text"},
        {"action": "inject_context", "context_injections": [{"content": "text"}]},
        {"action": "deny"},
        {},
    ],
)
def test_a_complete_answer_needs_no_advice(fields: dict[str, Any]) -> None:
    """A deny without a reason is one all the same."""
    assert find_omission(HookResult(**fields), DATA) is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"action": "modify", "data": {}}, "Return data={**data, ...} to keep"),
        ({"action": "ask_user"}, "asked 'Allow this operation?'"),
        ({"action": "inject_context"}, "so nothing is injected"),
    ],
)
async def test_the_author_is_told_once(
    fields: dict[str, Any], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    """In the log, and on the screen if there is one; not again at each event."""
    harness = Harness()
    harness.hooks.register(PRE, says(**fields), name="mine")
    for tool in ("Bash", "Read"):
        await harness.run(PRE, tool_name=tool, more=tool)
    [(text, _, source)] = [one for one in harness.shown if one[1] == "warning"]
    assert said in text
    assert source == "hook:mine"
    assert len([one for one in caplog.records if said in one.message]) == 1


async def test_without_a_session_the_log_has_it(caplog: pytest.LogCaptureFixture) -> None:
    """Who only emits has no screen."""
    registry = HookRegistry()
    registry.register(PRE, says("modify", data={}), name="mine")
    for _ in range(2):
        await registry.emit(PRE, {"x": 1})
    assert [one.message.partition(",")[0] for one in caplog.records] == [
        "Hook 'mine' on 'tool:pre' answered 'modify' without 'x'"
    ]


async def test_complete_answers_are_not_commented(caplog: pytest.LogCaptureFixture) -> None:
    """Every action as it is meant."""
    harness = Harness()
    for one in (modifies(x=2), asks(), injects("text"), returns({"action": "continue"})):
        harness.hooks.register(PRE, one)
    await harness.run(PRE, x=1)
    assert not [one for one in harness.shown if one[1] == "warning"]
    assert "without" not in caplog.text


def test_a_denial_names_who_denied_and_why() -> None:
    """The sentence that the agent reads; a hook may give no reason."""
    assert Outcome(False, hook="guard", reason="no").denial == "Operation denied by guard: no"
    assert describe_denial("guard", "") == "Operation denied by guard: no reason given"
    assert Outcome(False).denial == "Operation denied by a hook: no reason given"


def test_an_outcome_is_told_as_a_result() -> None:
    """`continue` with the data, or `deny` with the reason; comments stand in the reason."""
    allowed = Outcome(True, {"x": 1}, comments=("fine", "go")).to_result()
    assert (allowed.action, allowed.data, allowed.reason) == ("continue", {"x": 1}, "fine; go")
    assert Outcome(True, {"x": 1}).to_result().reason is None
    denied = Outcome(False, None, "guard", "no").to_result()
    assert (denied.action, denied.reason) == ("deny", "no")


def test_a_withdrawn_result_has_no_effect_left() -> None:
    """A message that came with no action stays, and so does the wish to hide what was printed."""
    denied = withdraw(HookResult(action="deny", user_message="no", suppress_output=True))
    assert (denied.action, denied.user_message, denied.suppress_output) == ("continue", None, True)
    told = HookResult(user_message="hello")
    assert withdraw(told) is told
    assert withdraw(HookResult(data={"recommended_tool": "x"}, reason="r")) == HookResult(
        reason="r"
    )


@pytest.mark.parametrize(
    ("event", "denies", "end"),
    [
        ("tool:pre", False, "; the call was not stopped"),
        ("tool:pre", True, "; the call was denied"),
        ("tool:post", True, "; the result was denied"),
        ("prompt:submit", False, "; the prompt was not stopped"),
        ("context:pre-compact", False, "; the compaction was not stopped"),
        ("deploy:start", True, "; the operation was denied"),
        ("session:end", True, ""),
    ],
)
def test_a_failure_says_what_became_of_the_operation(event: str, denies: bool, end: str) -> None:
    """Of what has already happened nothing could be stopped."""
    told = describe_failure(event, "KeyError: 'path'", "guard.py:12", denies)
    assert told == f"failed on {event}: KeyError: 'path' (guard.py:12){end}"


def test_a_place_that_nobody_knows_is_left_out() -> None:
    """Builtins have no file."""
    assert describe_failure("session:end", "ValueError", "", False) == (
        "failed on session:end: ValueError"
    )


@pytest.mark.parametrize(
    ("event", "fields", "would"),
    [
        ("tool:pre", {"action": "deny", "reason": "no"}, "would have denied the call: no"),
        ("prompt:answer", {"action": "deny"}, "would have denied the answer: no reason given"),
        ("tool:post", {"action": "modify"}, "would have changed the result"),
        ("deploy:start", {"action": "ask_user"}, "would have asked about the operation: "),
        ("tool:error", {"action": "deny"}, ""),
        ("tool:error", {"action": "inject_context"}, ""),
        (
            "tool:error",
            {"action": "inject_context", "context_injections": [{"content": "a"}]},
            "would have told the agent: a",
        ),
    ],
)
def test_what_shadow_mode_kept_from_happening_is_said(
    event: str, fields: dict[str, Any], would: str
) -> None:
    """Nothing is said of what would have had no effect."""
    assert describe_shadowed(event, HookResult.model_validate(fields)) == would
