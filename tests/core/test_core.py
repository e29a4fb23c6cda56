"""The names that the package itself hands out."""

from __future__ import annotations

import importlib.metadata

import pytest

import amplifier_core
from amplifier_core.interfaces import hook
from amplifier_core.models import HookResult


def test_the_package_re_exports_lazily():
    assert amplifier_core.HookResult is HookResult
    with pytest.raises(AttributeError, match="no attribute 'Nope'"):
        amplifier_core.Nope  # type: ignore[attr-defined]  # noqa: B018


def test_every_name_that_the_package_announces_can_be_imported():
    """Lazily, from where it lives."""
    for name in amplifier_core.__all__:
        assert getattr(amplifier_core, name) is not None


def test_what_a_hook_file_needs_comes_from_the_package_itself():
    """Beside `HookResult`, where an author looks first."""
    assert amplifier_core.hook is hook
    assert "hook" in amplifier_core.__all__


def test_a_tree_that_is_not_installed_has_a_version_too(monkeypatch):
    """So that it can be tried from a download."""

    def not_installed(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", not_installed)
    assert amplifier_core.__version__ == "0"
