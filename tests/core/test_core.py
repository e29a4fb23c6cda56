"""The names that the package itself hands out."""

from __future__ import annotations

import pytest

import amplifier_core
from amplifier_core.models import HookResult


def test_the_package_re_exports_lazily():
    assert amplifier_core.HookResult is HookResult
    with pytest.raises(AttributeError, match="no attribute 'Nope'"):
        amplifier_core.Nope  # noqa: B018


def test_every_name_that_the_package_announces_can_be_imported():
    """Lazily, from where it lives."""
    for name in amplifier_core.__all__:
        assert getattr(amplifier_core, name) is not None
