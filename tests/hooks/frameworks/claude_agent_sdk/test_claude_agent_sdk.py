"""The adapter of the Claude Agent SDK, as a program imports it."""

from __future__ import annotations

import pytest

pytest.importorskip("claude_agent_sdk")

from amplifier_hooks.coverage import CLAUDE_AGENT_SDK
from amplifier_hooks.frameworks import claude_agent_sdk as adapter


def test_the_table_is_at_hand() -> None:
    """For programs that want to know what hooks see."""
    assert adapter.coverage() is CLAUDE_AGENT_SDK
    assert CLAUDE_AGENT_SDK.module == adapter.__name__


def test_everything_that_it_promises_is_there() -> None:
    """Under the names that the page uses."""
    for name in adapter.__all__:
        assert getattr(adapter, name) is not None
