"""What a program chooses."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from amplifier_hooks.frameworks.claude_agent_sdk.session import LONGEST, Questions, choose


def test_our_answer_is_there_before_the_program_gives_up() -> None:
    """Also if there is little time."""
    assert choose(LONGEST, (), "inline").seconds == LONGEST - 5
    assert choose(2, (), "inline").seconds == 1.8


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((0, (), "inline"), "more than 0 seconds"),
        ((60, "tools", "inline"), "a list of names"),
        ((60, (), "interrupt"), "a Questions object"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: Any, said: str) -> None:
    """With the value, and what would do."""
    with pytest.raises((ValueError, TypeError), match=said):
        choose(*given)


def test_people_are_asked_elsewhere_with_questions() -> None:
    """Otherwise while the call waits."""
    questions = Questions()
    assert choose(60, (), questions).asks is questions
    assert choose(60, (), "inline").asks is None
