"""How long ago something was."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from amplifier_core.approval import How
from amplifier_hooks.cli.text.output import explain_how, format_age, shorten_folder


@pytest.mark.parametrize(
    ("passed", "age"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=59), "59 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=400), "400 d ago"),
    ],
)
def test_an_age_has_one_unit(passed: timedelta, age: str) -> None:
    """The largest that fits."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert format_age((now - passed).isoformat(), now) == age


def test_a_time_that_is_none_has_no_age() -> None:
    """Files of others may hold anything."""
    assert format_age("yesterday") == "?"


@pytest.mark.parametrize("how", get_args(How))
def test_every_end_that_nobody_chose_is_explained(how: str) -> None:
    """A person's or a rule's decision speaks for itself."""
    assert bool(explain_how(how)) == (how not in {"person", "rule"})


@pytest.mark.parametrize("how", [None, 3, "", "later"])
def test_what_a_trail_says_otherwise_is_left_out(how: object) -> None:
    """Records of other versions may know other ends."""
    assert explain_how(how) == ""


@pytest.mark.parametrize(
    ("folder", "shown"),
    [("/home/ann", "~"), ("/home/ann/a/b", "~/a/b"), ("/home/anna", "/home/anna"), ("/", "/")],
)
def test_a_home_is_a_tilde(folder: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other folders stay whole."""
    monkeypatch.setenv("HOME", "/home/ann")
    assert shorten_folder(folder) == shown
