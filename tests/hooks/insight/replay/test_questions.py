"""The questions of a recording."""

from __future__ import annotations

from amplifier_hooks.insight.replay.questions import collect_questions
from tests.hooks.insight.replay.items import event, question


def test_each_question_has_its_own_end() -> None:
    """The first one that is open and about the same has it; an answer for always ends none."""
    found = collect_questions(
        [
            question("requested", 1),
            question("requested", 2),
            question("requested", 3, digest="other"),
            question("remembered", 4),
            question("cancelled", 5),
            question("decided", 6, digest="other"),
        ]
    )
    ends = [(one.request.sequence, one.end and one.end.sequence) for one in found]
    assert ends == [(1, 5), (2, None), (3, 6)]


def test_what_a_person_made_of_an_input_is_judged_next() -> None:
    """It is the input that was judged again, of the same call."""
    (asked,) = collect_questions(
        [
            question("requested", 1),
            question("decided", 2, edited=True),
            event("tool:pre", 3, tool_call_id="x", tool_input={"n": 1}, again=True),
            event("tool:pre", 4, tool_call_id="c", tool_input={"n": 2}, again=True),
        ]
    )
    assert asked.edited_input == {"n": 2}
