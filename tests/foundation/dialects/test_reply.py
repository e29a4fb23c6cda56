"""What came back from a hook."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from amplifier_foundation.dialects.reply import Reply


def test_a_reply_without_words_is_a_success() -> None:
    """Silence and exit code 0 are what most hooks answer."""
    reply = Reply()
    assert (reply.code, reply.stdout, reply.stderr, reply.failure) == (0, "", "", None)
    assert not reply.timed_out


def test_nobody_changes_a_reply_after_the_fact() -> None:
    """It is evidence."""
    reply = Reply(2, "", "no")
    with pytest.raises(FrozenInstanceError):
        reply.code = 0  # type: ignore[misc]
