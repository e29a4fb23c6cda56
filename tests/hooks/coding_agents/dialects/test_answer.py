"""Reading exit codes and JSON, as all agents do, and the verdict of several hooks together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects.answer import (
    STRONGEST_FIRST,
    CommonAnswer,
    combine,
    judge_exit,
    judge_text,
    parse_object,
    read_answer,
    report_failure,
    validate_answer,
)
from amplifier_hooks.coding_agents.dialects.dialect import Handler, Reply
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Verdict

OPEN = Handler("claude", "PreToolUse", "x", command="hook")
CLOSED = Handler("claude", "PreToolUse", "x", command="hook", fail_closed=True)


@pytest.mark.parametrize(
    ("reply", "blocks", "decision", "said"),
    [
        (Reply(2, "", " no \n"), True, "deny", "no"),
        (Reply(2), True, "deny", "Blocked by a hook."),
        (Reply(2, "", "no"), False, None, "Hook 'hook' exited with 2: no"),
        (Reply(1, "", "oops\nmore"), True, None, "Hook 'hook' exited with 1: oops"),
        (Reply(1), True, None, "Hook 'hook' exited with 1: no message"),
        (Reply(1, "", "  \n"), True, None, "Hook 'hook' exited with 1: no message"),
        (Reply(1, "", "x" * 999), True, None, f"Hook 'hook' exited with 1: {'x' * 300}"),
        (Reply(0, '{"continue": true}', failure="It is gone"), True, None, "It is gone"),
    ],
)
def test_an_exit_code_is_a_denial_or_a_failure(
    reply: Reply, blocks: bool, decision: Any, said: str
) -> None:
    """A failure shows the first line of the error output; whether it blocks is up to the hook."""
    found = judge_exit(OPEN, reply, blocks=blocks)
    if decision is None:
        assert found == Verdict(warnings=(said,))
        assert judge_exit(CLOSED, reply, blocks=blocks).decision == "deny"
    else:
        assert found == Verdict(decision, said)
    assert judge_exit(OPEN, Reply(0, "out", "err")) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ('  \n{"a": 1}\n', {"a": 1}),
        ("", None),
        ("ok", None),
        ("[1]", None),
        ('"{}"', None),
        ('{"a": 1', None),
        ('{"a": 1} done', None),
        ('{"a":' * 100_000, None),
    ],
)
def test_an_answer_is_one_object_and_nothing_else(text: str, expected: object) -> None:
    """White space around it does not matter."""
    assert parse_object(text) == expected


def test_text_is_no_answer_and_a_broken_object_is_a_failed_one() -> None:
    """Whoever begins with a brace meant to answer."""
    assert judge_text(CLOSED, "all good") == judge_text(CLOSED, "") == NOTHING
    assert judge_text(CLOSED, ' {"decision": ').decision == "deny"
    assert "JSON that cannot be read" in judge_text(OPEN, "{oops").warnings[0]


def test_the_common_fields_say_whether_to_stop_and_what_to_show() -> None:
    """A stop without a reason gets one."""
    quiet = CommonAnswer()
    assert (quiet.stop, quiet.notes) == (None, ())
    loud = CommonAnswer.model_validate({"continue": False, "systemMessage": "look"})
    assert (loud.stop, loud.notes) == ("A hook ended the run.", ("look",))
    named = CommonAnswer.model_validate({"continue": False, "stopReason": "enough"})
    assert named.stop == "enough"
    assert CommonAnswer.model_validate({"stopReason": "enough"}).stop is None


def test_an_answer_is_read_after_the_exit_code() -> None:
    """The code decides whether the output counts at all."""
    printed = '{"reason": "r"}'
    answer = read_answer(CommonAnswer, OPEN, Reply(0, printed))
    assert isinstance(answer, CommonAnswer)
    assert answer.reason == "r"
    assert read_answer(CommonAnswer, OPEN, Reply(2, printed, "no")) == Verdict("deny", "no")
    assert read_answer(CommonAnswer, OPEN, Reply(0, "text")) == NOTHING
    assert read_answer(CommonAnswer, OPEN, Reply(2), blocks=False) == Verdict(
        warnings=("Hook 'hook' exited with 2: no message",)
    )


def test_a_wrong_value_is_named_with_its_key() -> None:
    """Types are taken literally; keys that nobody knows are no mistake."""
    verdict = validate_answer(CommonAnswer, OPEN, {"continue": "false"})
    assert isinstance(verdict, Verdict)
    assert "answered with a wrong 'continue': " in verdict.warnings[0]
    answer = validate_answer(CommonAnswer, OPEN, {"reason": "r", "colour": "red"})
    assert isinstance(answer, CommonAnswer)
    assert answer.reason == "r"


decisions = st.sampled_from([None, *STRONGEST_FIRST])


@given(st.lists(decisions))
def test_the_strongest_decision_wins_in_any_order(said: list[Any]) -> None:
    """A denial beats a deferral, that beats a question, that beats a permission."""
    expected = next((one for one in ("deny", "defer", "ask", "allow") if one in said), None)
    assert combine(Verdict(decision=one) for one in said).decision == expected


def test_only_those_who_decided_give_reasons_and_each_reason_once() -> None:
    """Why somebody else would have allowed it is beside the point."""
    verdict = combine(
        [
            Verdict(decision="allow", reason="harmless"),
            Verdict(decision="deny", reason="no network"),
            Verdict(decision="deny", reason="no network"),
            Verdict(decision="deny"),
            Verdict(reason="just saying"),
            Verdict(decision="deny", reason="not today"),
        ]
    )
    assert verdict.reason == "no network\nnot today"
    assert combine([Verdict(reason="undecided")]).reason is None


def test_a_failure_is_a_denial_or_a_warning() -> None:
    """Its sentence reaches somebody in both cases."""
    closed = report_failure("It broke", fail_closed=True)
    assert (closed.decision, closed.reason) == ("deny", "It broke; it blocks when it fails")
    assert report_failure("It broke", fail_closed=False) == Verdict(warnings=("It broke",))


@pytest.mark.parametrize(
    ("several", "together"),
    [
        pytest.param([], NOTHING, id="no hooks"),
        pytest.param(
            [
                Verdict(tool_input={"a": 1}, output="one", messages=[1], title="one"),
                Verdict(tool_input={"a": 2}, output=None),
                NOTHING,
            ],
            Verdict(tool_input={"a": 2}, output=None, messages=[1], title="one"),
            id="the last rewrite wins, and None is an output like any other",
        ),
        pytest.param(
            [
                Verdict(context=("a",), notes=("n",), warnings=("w", "x")),
                Verdict(context=("b", "c"), notes=("m",)),
            ],
            Verdict(context=("a", "b", "c"), notes=("n", "m"), warnings=("w", "x")),
            id="all that was said is kept in order",
        ),
        pytest.param(
            [NOTHING, Verdict(stop="first"), Verdict(stop="second")],
            Verdict(stop="first"),
            id="the run ends only once",
        ),
        pytest.param(
            [Verdict("deny", withhold=True), NOTHING],
            Verdict("deny", withhold=True),
            id="withheld by one that denies it",
        ),
        pytest.param(
            [Verdict("allow", withhold=True)], Verdict("allow"), id="withheld by nobody else"
        ),
        pytest.param(
            [Verdict(quiet=True), Verdict(quiet=True)], Verdict(quiet=True), id="all want quiet"
        ),
        pytest.param(
            [Verdict(quiet=True), NOTHING], NOTHING, id="nobody hides what another printed"
        ),
    ],
)
def test_verdicts_become_one(several: list[Verdict], together: Verdict) -> None:
    """Each field by its own rule."""
    assert combine(several) == together
    assert repr(combine([NOTHING]).output) == "UNCHANGED"  # recognisable in a log
    assert combine([NOTHING]).output is UNCHANGED
