"""Why a session ended."""

import asyncio

import pytest

from amplifier_core.session import read_end_reason


@pytest.mark.parametrize(
    ("kind", "status", "reason"),
    [
        (None, "idle", "complete"),
        (None, "interrupted", "user_exit"),
        (TimeoutError, "idle", "timeout"),
        (KeyboardInterrupt, "idle", "user_exit"),
        (asyncio.CancelledError, "idle", "user_exit"),
        (SystemExit, "idle", "user_exit"),
        (RuntimeError, "interrupted", "error"),
    ],
)
def test_the_reason_follows_from_how_the_block_was_left(kind, status, reason):
    """Each way to leave has one."""
    assert read_end_reason(kind, status) == reason
