"""Reading exit codes and JSON, as all agents do."""

from __future__ import annotations

import pytest

from amplifier_hooks.coding_agents.dialects.answer import (
    CommonAnswer,
    judge_exit,
    judge_text,
    parse_object,
    read_answer,
    validate_answer,
)
from amplifier_hooks.coding_agents.dialects.dialect import Handler, Reply
from amplifier_hooks.external.verdicts import NOTHING, Verdict

OPEN = Handler("claude", "PreToolUse", "x", command="hook")
CLOSED = Handler("claude", "PreToolUse", "x", command="hook", fail_closed=True)


def test_code_0_leaves_the_word_to_the_output() -> None:
    """There is nothing to judge yet."""
    assert judge_exit(OPEN, Reply(0, "out", "err")) is None


def test_code_2_blocks_with_the_error_output_as_reason() -> None:
    """A block without words still has a reason."""
    assert judge_exit(OPEN, Reply(2, "", " no \n")) == Verdict(decision="deny", reason="no")
    assert judge_exit(OPEN, Reply(2)).reason == "Blocked by a hook."


def test_code_2_is_a_failure_where_an_agent_cannot_block() -> None:
    """Then it depends on the hook whether a failure blocks."""
    reply = Reply(2, "", "no")
    assert judge_exit(OPEN, reply, blocks=False).warnings == ("Hook 'hook' exited with 2: no",)
    assert judge_exit(CLOSED, reply, blocks=False).decision == "deny"


@pytest.mark.parametrize(
    ("stderr", "shown"),
    [("oops\nmore", "oops"), ("", "no message"), ("  \n", "no message"), ("x" * 999, "x" * 300)],
)
def test_a_failure_shows_the_first_line_of_the_error_output(stderr: str, shown: str) -> None:
    """Enough to recognise it by."""
    [warning] = judge_exit(OPEN, Reply(1, "", stderr)).warnings
    assert warning == f"Hook 'hook' exited with 1: {shown}"


def test_a_hook_that_could_not_be_asked_has_failed_whatever_the_code() -> None:
    """No exit code speaks for a hook that did not run."""
    reply = Reply(0, '{"continue": true}', failure="It is gone")
    assert judge_exit(OPEN, reply) == Verdict(warnings=("It is gone",))
    assert judge_exit(CLOSED, reply).decision == "deny"


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


def test_a_wrong_value_is_named_with_its_key() -> None:
    """Types are taken literally: a text is no truth value."""
    verdict = validate_answer(CommonAnswer, OPEN, {"continue": "false"})
    assert isinstance(verdict, Verdict)
    assert "answered with a wrong 'continue': " in verdict.warnings[0]


def test_keys_that_nobody_knows_are_no_mistake() -> None:
    """Agents grow new ones."""
    answer = validate_answer(CommonAnswer, OPEN, {"reason": "r", "colour": "red"})
    assert isinstance(answer, CommonAnswer)
    assert answer.reason == "r"


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
