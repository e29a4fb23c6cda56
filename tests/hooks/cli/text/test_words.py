"""How long ago something was."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

import pytest

from amplifier_core.approval import How
from amplifier_hooks.cli.text.output import explain_how, format_age, shorten_folder


@pytest.mark.parametrize(
    ("written", "age"),
    [
        ("2025-12-31T23:59:01+00:00", "just now"),
        ("2025-12-31T23:01:00+00:00", "59 min ago"),
        ("2025-12-31T01:00:00+00:00", "23 h ago"),
        ("2024-11-27T00:00:00+00:00", "400 d ago"),
        ("yesterday", "?"),
    ],
)
def test_an_age_has_one_unit(written: str, age: str) -> None:
    """The largest that fits; files of others may hold anything."""
    assert format_age(written, datetime(2026, 1, 1, tzinfo=UTC)) == age


@pytest.mark.parametrize("how", [*get_args(How), None, 3, "", "later"])
def test_every_end_that_nobody_chose_is_explained(how: object) -> None:
    """A decision speaks for itself; records may hold ends of other versions."""
    known = {*get_args(How)} - {"person", "rule"}
    assert bool(explain_how(how)) == (how in known)


@pytest.mark.parametrize(
    ("folder", "shown"),
    [("/home/ann", "~"), ("/home/ann/a/b", "~/a/b"), ("/home/anna", "/home/anna"), ("/", "/")],
)
def test_a_home_is_a_tilde(folder: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other folders stay whole."""
    monkeypatch.setenv("HOME", "/home/ann")
    assert shorten_folder(folder) == shown
