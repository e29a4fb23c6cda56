"""What the package offers."""

from __future__ import annotations

import pytest

pytest.importorskip("strands")

from amplifier_hooks.coverage import STRANDS
from amplifier_hooks.frameworks import strands


def test_the_package_says_what_it_sees() -> None:
    """The table that docs and doctor show."""
    assert strands.coverage() is STRANDS
    assert STRANDS.module == strands.__name__


def test_the_line_in_the_table_names_what_the_package_has() -> None:
    """A reader can import it."""
    assert all(hasattr(strands, name) for name in strands.__all__)
    assert "AmplifierHooks(" in STRANDS.attach
    assert "AmplifierHooks" in strands.__all__
