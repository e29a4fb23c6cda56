"""The adapter of CrewAI, as a program imports it."""

from __future__ import annotations

import pytest

pytest.importorskip("crewai")

from amplifier_apps.adapters import crewai as adapter
from amplifier_apps.coverage.crewai import COVERAGE


def test_the_table_is_at_hand() -> None:
    """For programs that want to know what hooks see."""
    assert adapter.coverage() is COVERAGE
    assert COVERAGE.module == adapter.__name__


def test_everything_that_it_promises_is_there() -> None:
    """Under the names that the page uses."""
    for name in adapter.__all__:
        assert getattr(adapter, name) is not None
