"""The face of the values: all of them under one roof."""

from __future__ import annotations

from amplifier_core import models


def test_all_that_is_promised_is_there() -> None:
    """Every name of `__all__` can be imported."""
    assert all(hasattr(models, name) for name in models.__all__)
