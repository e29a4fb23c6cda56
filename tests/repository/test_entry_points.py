"""What pyproject.toml announces is there, as far as it is written yet."""

from __future__ import annotations

from importlib.metadata import EntryPoint, distribution
from importlib.util import find_spec

import pytest

MODULES = distribution("amplifier-hooks").entry_points.select(group="amplifier.modules")
WRITTEN = [point for point in MODULES if find_spec(point.module)]


def test_a_module_is_found_under_the_name_of_its_file():
    """`hooks-session-naming` is `amplifier_hooks.guards.session_naming:mount`."""
    assert len(MODULES) == 32
    for point in MODULES:
        assert point.attr == "mount"
        assert point.name.partition("-")[2].replace("-", "_") == point.module.rpartition(".")[2]


@pytest.mark.parametrize("point", WRITTEN, ids=lambda point: point.name)
def test_a_module_that_is_written_can_be_mounted(point: EntryPoint):
    """An id in a bundle leads to a `mount()`."""
    assert callable(point.load())
