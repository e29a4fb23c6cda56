"""Modules that act on the machine."""

from __future__ import annotations

from importlib.metadata import entry_points

from amplifier_foundation.history.acting import ACTING


def test_each_is_a_module_of_ours() -> None:
    """A name that no module has would keep nothing from running."""
    ours = {one.name for one in entry_points(group="amplifier.modules")}
    assert set(ACTING) <= ours
    assert all(why.startswith("it ") for why in ACTING.values())
