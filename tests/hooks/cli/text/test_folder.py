"""A folder as people write it."""

from __future__ import annotations

import pytest

from amplifier_hooks.cli.text.words import shorten_folder


@pytest.mark.parametrize(
    ("folder", "shown"),
    [("/home/ann", "~"), ("/home/ann/a/b", "~/a/b"), ("/home/anna", "/home/anna"), ("/", "/")],
)
def test_a_home_is_a_tilde(folder: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other folders stay whole."""
    monkeypatch.setenv("HOME", "/home/ann")
    assert shorten_folder(folder) == shown
