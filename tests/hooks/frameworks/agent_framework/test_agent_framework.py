"""What a program imports to put hooks in front of Microsoft Agent Framework."""

from __future__ import annotations

import pytest

pytest.importorskip("agent_framework")

from amplifier_hooks.coverage import AGENT_FRAMEWORK
from amplifier_hooks.frameworks import agent_framework as adapter


def test_it_says_what_it_cannot_see() -> None:
    """The table is the one that `amplifier doctor` prints."""
    assert adapter.coverage() is AGENT_FRAMEWORK
    assert adapter.coverage().unseen


def test_the_line_of_the_table_names_what_there_is() -> None:
    """A user copies it."""
    assert any(f"{name}(" in AGENT_FRAMEWORK.attach for name in adapter.__all__)
