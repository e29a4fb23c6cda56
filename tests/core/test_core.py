"""The names that the package itself hands out."""

from __future__ import annotations

import pytest

import amplifier_core
from amplifier_core.models import HookResult


def test_the_package_re_exports_lazily():
    assert amplifier_core.HookResult is HookResult
    with pytest.raises(AttributeError, match="no attribute 'Nope'"):
        amplifier_core.Nope  # noqa: B018
