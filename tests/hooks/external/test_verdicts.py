"""What became of something that a framework wanted to do."""

from __future__ import annotations

from amplifier_hooks.external.verdicts import ReplyVerdict


def test_a_reply_is_changed_if_a_part_of_it_is() -> None:
    """Text, calls, or both."""
    assert not ReplyVerdict(True).changed
    assert ReplyVerdict(True, text="").changed
    assert ReplyVerdict(True, calls=[]).changed
