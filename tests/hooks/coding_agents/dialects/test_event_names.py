"""The kernel's table of names that others have for our events, against the tables of agents."""

from __future__ import annotations

import pytest

from amplifier_core.event_names import find_meant
from amplifier_hooks.coding_agents.dialects import DIALECTS

NATIVE = sorted(
    {
        (native, row.occasions[0].event)
        for dialect in DIALECTS.values()
        for form in (dialect, dialect.variant)
        if form is not None
        for native, row in form.events.items()
        if row.occasions
    }
)


@pytest.mark.parametrize(("native", "ours"), NATIVE)
def test_a_person_who_writes_an_agents_event_is_told_ours(native: str, ours: str) -> None:
    """One table for all who register hooks by name."""
    assert find_meant(native) == ours


def test_there_are_many() -> None:
    """The table above is not empty by accident."""
    assert len(NATIVE) > 50
