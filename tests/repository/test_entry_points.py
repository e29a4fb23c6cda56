"""What pyproject.toml announces is there."""

from __future__ import annotations

from importlib.metadata import EntryPoint, distribution

import pytest

MODULES = distribution("amplifier-hooks").entry_points.select(group="amplifier.modules")


def test_no_module_is_missing():
    """A line that is lost takes a module away from every bundle."""
    assert len(MODULES) == 35


@pytest.mark.parametrize("point", MODULES, ids=lambda point: point.name)
def test_a_module_can_be_mounted(point: EntryPoint):
    """An id in a bundle leads to a `mount()`."""
    assert point.attr == "mount"
    assert callable(point.load())
