"""Names of people."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.stores.checks import identify_person


@pytest.mark.parametrize("name", ["ann", "Ann", " ANN ", "\uff21nn"])
def test_spellings_of_one_name_are_one_person(name: str) -> None:
    """Letter case, width and spaces make nobody else."""
    assert identify_person(name) == "ann"


def test_other_names_are_other_people() -> None:
    """Also when they look alike."""
    assert len({identify_person(name) for name in ("ann", "anna", "\u0430nn", "")}) == 4
