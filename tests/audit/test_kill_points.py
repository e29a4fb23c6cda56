"""A writer that is killed loses nothing that it acknowledged, and nobody is alarmed."""

from __future__ import annotations

import pytest

from tests.audit.support import run_program


def test_killing_the_writer_loses_nothing_and_raises_no_alarm() -> None:
    """At every write and sync of some work, and at random moments."""
    result = run_program("crash_points", "--points", "60", "--seed", "3", timeout=55)
    assert (result["points"], result["problems"]) == (60, [])


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_killing_the_writer_ten_thousand_times() -> None:
    """Ten thousand points, nothing lost, no alarm."""
    result = run_program("crash_points", "--points", "10000", timeout=7000)
    assert (result["points"], result["problems"]) == (10_000, [])
