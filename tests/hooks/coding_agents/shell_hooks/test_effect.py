"""What a verdict means at each of our events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.shell_hooks.module import build_answers
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
STARTS = [events.SESSION_START, events.AGENT_SPAWN]
TELLING_THE_AGENT = [
    events.TOOL_POST,
    events.TOOL_ERROR,
    events.ORCHESTRATOR_COMPLETE,
    events.AGENT_COMPLETE,
]


def build_one(event: str, verdict: Verdict, data: Any = CALL) -> HookResult:
    [answer] = build_answers(event, data, verdict)
    return answer


def test_a_verdict_that_says_nothing_is_no_answer() -> None:
    """At any event."""
    assert not any(build_answers(event, CALL, NOTHING) for event in events.ALL_EVENTS)


@pytest.mark.parametrize("event", [*REFUSING, events.SESSION_START])
def test_a_stop_refuses_the_operation_and_is_shown(event: str) -> None:
    """It comes before any other decision."""
    answer = build_one(event, Verdict(stop="enough", decision="ask"))
    assert (answer.action, answer.reason, answer.user_message) == ("deny", "enough", "enough")


@pytest.mark.parametrize("decision", ["ask", "defer"])
def test_a_question_shows_the_input_that_would_run(decision: Any) -> None:
    """Of a long one, the beginning."""
    verdict = Verdict(decision=decision, reason="deploys", tool_input={"command": "x" * 3000})
    _, question = build_answers(events.TOOL_PRE, CALL, verdict)
    assert (question.action, question.reason) == ("ask_user", "deploys")
    assert question.approval_prompt.startswith('deploys\nBash: {"command": "xxx')
    assert len(question.approval_prompt) < 2100


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


NEW = {"command": "pwd"}
MESSAGES = [{"role": "user", "content": "hi"}]
REWRITTEN = Verdict(tool_input=NEW, output=None)
RESULT = {"success": False, "output": "secret", "error": "e"}

MEANINGS: list[tuple[Sequence[str], dict[str, Any], Verdict, dict[str, Any] | None]] = [
    # What has not happened yet is refused; there is always a reason, if only a general one.
    (REFUSING, CALL, DENIAL, {"action": "deny", "reason": "no"}),
    (REFUSING, CALL, Verdict("deny"), {"action": "deny", "reason": "Blocked by a hook."}),
    # What has happened is told to the agent, a start to the person, and the rest to nobody.
    (TELLING_THE_AGENT, CALL, DENIAL, {"action": "inject_context", "context_injection": "no"}),
    (STARTS, CALL, DENIAL, {"action": "continue", "user_message": "no"}),
    ([events.SESSION_END, events.USER_NOTIFICATION], {}, DENIAL, None),
    ([events.TOOL_POST], CALL, Verdict("deny", "keys", withhold=True), {"action": "deny"}),
    ([events.TOOL_POST], CALL, Verdict(stop="x"), {"action": "continue", "user_message": "x"}),
    # Everything else of an event stays as it was when a part of it is rewritten.
    ([events.TOOL_PRE], CALL, REWRITTEN, {"action": "modify", "data": {**CALL, "tool_input": NEW}}),
    (
        [events.TOOL_POST],
        {**CALL, "tool_result": RESULT},
        REWRITTEN,
        {"data": {**CALL, "tool_result": {**RESULT, "output": None}}},
    ),
    (
        [events.TOOL_POST],
        {"tool_result": "old"},
        Verdict(output="new"),
        {"data": {"tool_result": {"success": True, "error": None, "output": "new"}}},
    ),
    (
        [events.PROVIDER_REQUEST],
        {"messages": []},
        Verdict(messages=MESSAGES),
        {"action": "modify", "data": {"messages": MESSAGES}},
    ),
    ([events.TOOL_PRE], CALL, Verdict(messages=MESSAGES), None),
    # Texts of several hooks are parted by an empty line.
    (
        [events.SESSION_START],
        {},
        Verdict(context=("one", "two")),
        {"action": "inject_context", "context_injection": "one\n\ntwo"},
    ),
    # A person must know that a hook is behind a question; about what has happened nobody is asked.
    (
        [events.PROMPT_SUBMIT],
        {"prompt": "hi"},
        Verdict("ask"),
        {"action": "ask_user", "approval_prompt": "A shell hook wants a person to decide."},
    ),
    ([events.TOOL_POST], CALL, Verdict("ask"), None),
    # What other hooks decide stays decided.
    ([events.TOOL_PRE], CALL, Verdict("allow", "fine"), None),
]


@pytest.mark.parametrize(
    ("event", "data", "verdict", "expected"),
    [(event, *rest) for several, *rest in MEANINGS for event in several],
)
def test_a_verdict_has_one_meaning_at_an_event(
    event: str, data: dict[str, Any], verdict: Verdict, expected: dict[str, Any] | None
) -> None:
    """Or none, where nobody waits for the hook."""
    answers = build_answers(event, data, verdict)
    assert [{name: getattr(one, name) for name in expected or ()} for one in answers] == (
        [] if expected is None else [expected]
    )
