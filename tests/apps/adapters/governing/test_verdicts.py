"""What became of something that a framework wanted to do."""

from __future__ import annotations

from amplifier_apps.adapters.governing.verdicts import Called, ReplyVerdict
from amplifier_core.models import ToolResult


def test_only_what_ran_and_was_left_alone_is_untouched() -> None:
    """Everything else the adapter has to build."""
    result = ToolResult(output="a")
    assert Called(result, "a", ran=True).untouched
    assert not Called(result, "a", ran=True, changed=True).untouched
    assert not Called(result).untouched


def test_the_text_is_what_the_model_reads() -> None:
    """Of a result, and of a refusal."""
    assert Called(ToolResult(output={"a": 1})).text == '{"a": 1}'
    assert Called(ToolResult.refused("no")).text == "no"


def test_a_reply_is_changed_if_a_part_of_it_is() -> None:
    """Text, calls, or both."""
    assert not ReplyVerdict(True).changed
    assert ReplyVerdict(True, text="").changed
    assert ReplyVerdict(True, calls=[]).changed
