"""What the package offers."""

from __future__ import annotations

import pytest

pytest.importorskip("google.adk")

from amplifier_hooks.coverage import GOOGLE_ADK
from amplifier_hooks.frameworks import google_adk


def test_the_package_says_what_it_sees() -> None:
    """The table that docs and doctor show."""
    assert google_adk.coverage() is GOOGLE_ADK
    assert GOOGLE_ADK.module == google_adk.__name__


def test_the_line_in_the_table_names_what_the_package_has() -> None:
    """A reader can import it."""
    assert all(hasattr(google_adk, name) for name in google_adk.__all__)
    assert "AmplifierPlugin(" in GOOGLE_ADK.attach
    assert "AmplifierPlugin" in google_adk.__all__
