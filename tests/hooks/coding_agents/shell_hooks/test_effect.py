"""What a verdict means at each of our events."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.shell_hooks.dispatch import build_answers
from amplifier_hooks.external.verdicts import NOTHING, Verdict

CALL = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
DENIAL = Verdict(decision="deny", reason="no")
REFUSING = [
    events.TOOL_PRE,
    events.PROMPT_SUBMIT,
    events.PROVIDER_REQUEST,
    events.PROVIDER_RESPONSE,
    events.CONTEXT_PRE_COMPACT,
]
TELLING_THE_AGENT = [
    events.TOOL_POST,
    events.TOOL_ERROR,
    events.ORCHESTRATOR_COMPLETE,
    events.AGENT_COMPLETE,
]


def build_one(event: str, verdict: Verdict, data: Any = CALL) -> HookResult:
    [answer] = build_answers(event, data, verdict)
    return answer


@pytest.mark.parametrize("event", events.ALL_EVENTS)
def test_a_verdict_that_says_nothing_is_no_answer(event: str) -> None:
    """At any event."""
    assert build_answers(event, CALL, NOTHING) == []


@pytest.mark.parametrize("event", REFUSING)
def test_a_denial_refuses_what_has_not_happened_yet(event: str) -> None:
    """There is always a reason, if only a general one."""
    answer = build_one(event, DENIAL)
    assert (answer.action, answer.reason) == ("deny", "no")
    assert build_one(event, Verdict(decision="deny")).reason == "Blocked by a hook."


@pytest.mark.parametrize("event", TELLING_THE_AGENT)
def test_a_denial_of_what_has_happened_is_told_to_the_agent(event: str) -> None:
    """Its reason is all that is left to say."""
    answer = build_one(event, DENIAL)
    assert (answer.action, answer.context_injection) == ("inject_context", "no")


@pytest.mark.parametrize("event", [events.SESSION_START, events.AGENT_SPAWN])
def test_a_denial_of_a_start_is_told_to_the_person(event: str) -> None:
    """The agent has nothing to do with it yet."""
    answer = build_one(event, DENIAL)
    assert (answer.action, answer.user_message) == ("continue", "no")


@pytest.mark.parametrize("event", [events.SESSION_END, events.USER_NOTIFICATION])
def test_a_denial_of_anything_else_has_no_effect(event: str) -> None:
    """Nobody waits for the hook there."""
    assert build_answers(event, {}, DENIAL) == []


def test_a_withheld_result_is_refused() -> None:
    """Some agents hide the result that a hook denied."""
    verdict = Verdict(decision="deny", reason="contains keys", withhold=True)
    assert build_one(events.TOOL_POST, verdict).action == "deny"


@pytest.mark.parametrize("event", [*REFUSING, events.SESSION_START])
def test_a_stop_refuses_the_operation_and_is_shown(event: str) -> None:
    """It comes before any other decision."""
    answer = build_one(event, Verdict(stop="enough", decision="ask"))
    assert (answer.action, answer.reason, answer.user_message) == ("deny", "enough", "enough")


def test_a_stop_after_the_fact_is_only_shown() -> None:
    """The run is cancelled in another way."""
    answer = build_one(events.TOOL_POST, Verdict(stop="enough"))
    assert (answer.action, answer.user_message) == ("continue", "enough")


def test_an_input_is_rewritten_before_the_tool_and_an_output_after_it() -> None:
    """Everything else of the event stays as it was."""
    verdict = Verdict(tool_input={"command": "pwd"}, output=None)
    before = build_one(events.TOOL_PRE, verdict)
    assert (before.action, before.data) == ("modify", {**CALL, "tool_input": {"command": "pwd"}})
    result = {"success": False, "output": "secret", "error": "e"}
    after = build_one(events.TOOL_POST, verdict, {**CALL, "tool_result": result})
    assert after.data == {**CALL, "tool_result": {**result, "output": None}}


def test_a_bare_output_becomes_a_result() -> None:
    """Whatever stood there before."""
    after = build_one(events.TOOL_POST, Verdict(output="new"), {**CALL, "tool_result": "old"})
    assert after.data["tool_result"] == {"success": True, "error": None, "output": "new"}


def test_messages_are_rewritten_before_a_request() -> None:
    """And at no other event."""
    messages = [{"role": "user", "content": "hi"}]
    answer = build_one(events.PROVIDER_REQUEST, Verdict(messages=messages), {"messages": []})
    assert (answer.action, answer.data) == ("modify", {"messages": messages})
    assert build_answers(events.TOOL_PRE, CALL, Verdict(messages=messages)) == []


def test_context_is_injected_as_one_text() -> None:
    """Texts of several hooks are parted by an empty line."""
    answer = build_one(events.SESSION_START, Verdict(context=("one", "two")))
    assert (answer.action, answer.context_injection) == ("inject_context", "one\n\ntwo")


@pytest.mark.parametrize("decision", ["ask", "defer"])
def test_a_question_shows_the_input_that_would_run(decision: Any) -> None:
    """Of a long one, the beginning."""
    verdict = Verdict(decision=decision, reason="deploys", tool_input={"command": "x" * 3000})
    _, question = build_answers(events.TOOL_PRE, CALL, verdict)
    assert (question.action, question.reason) == ("ask_user", "deploys")
    assert question.approval_prompt.startswith('deploys\nBash: {"command": "xxx')
    assert len(question.approval_prompt) < 2100


def test_a_question_without_a_reason_or_a_tool_still_asks_something() -> None:
    """A person must know that a hook is behind it."""
    answer = build_one(events.PROMPT_SUBMIT, Verdict(decision="ask"), {"prompt": "hi"})
    assert answer.approval_prompt == "A shell hook wants a person to decide."


def test_nobody_is_asked_about_what_has_happened() -> None:
    """An answer could change nothing."""
    assert build_answers(events.TOOL_POST, CALL, Verdict(decision="ask")) == []


def test_a_permission_opens_nothing() -> None:
    """What other hooks decide stays decided."""
    assert build_answers(events.TOOL_PRE, CALL, Verdict(decision="allow", reason="fine")) == []


def test_three_things_to_say_are_three_answers_and_the_person_is_told_once() -> None:
    """In the order in which the session can use them."""
    verdict = Verdict(
        decision="ask", tool_input={"command": "pwd"}, context=("c",), notes=("n",), quiet=True
    )
    answers = build_answers(events.TOOL_PRE, CALL, verdict)
    assert [one.action for one in answers] == ["modify", "inject_context", "ask_user"]
    assert [one.user_message for one in answers] == ["n", None, None]
    assert [one.suppress_output for one in answers] == [True, False, False]


def test_a_warning_is_shown_as_one() -> None:
    """Notes alone are only information."""
    answer = build_one(events.TOOL_PRE, Verdict(notes=("n",), warnings=("w",)))
    assert (answer.user_message, answer.user_message_level) == ("n\nw", "warning")
    assert build_one(events.TOOL_PRE, Verdict(notes=("n",))).user_message_level == "info"
