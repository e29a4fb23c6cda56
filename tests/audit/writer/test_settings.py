"""How a log is written."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.errors import AuditError
from amplifier_audit.settings import AuditSettings

PAGE = Path(__file__).parents[3] / "docs" / "audit.md"


@pytest.mark.parametrize(
    "options",
    [
        {"checkpoint_every": 0},
        {"checkpoint_every": 1001},
        {"retain_segments": 0},
        {"retain_segments": -1},
        {"level": "loud"},
        {"on_failure": None},
        {"values": "secret"},
        {"sync_timeout": 0},
        {"sync_timeout": float("nan")},
        {"segment_bytes": -1},
        {"backlog_bytes": 0},
    ],
)
def test_settings_out_of_range_are_refused(options: dict[str, Any]) -> None:
    """With the name of the setting, what it may be, and what was given."""
    (name,) = options
    with pytest.raises(AuditError, match=rf"^{name} is .*, got "):
        AuditSettings(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"level": "decisions"},
        {"level": "full"},
        {"on_failure": "warn"},
        {"values": "committed"},
        {"checkpoint_every": 1},
        {"checkpoint_every": 1000},
        {"retain_segments": 1},
        {"sync_timeout": 0.001},
        {"daily": False},
    ],
)
def test_everything_within_range_is_taken(options: dict[str, Any]) -> None:
    """Up to the limits themselves."""
    ((name, value),) = options.items()
    assert getattr(AuditSettings(**options), name) == value


def test_a_failing_trail_denies_unless_somebody_chose_otherwise() -> None:
    """The defaults are the careful ones."""
    settings = AuditSettings()
    assert (settings.on_failure, settings.level, settings.values) == ("deny", "normal", "inline")
    assert settings.retain_segments is None


def test_settings_cannot_be_changed_or_mixed_up() -> None:
    """They are given by name, once."""
    with pytest.raises(TypeError):
        AuditSettings("full")  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        AuditSettings().level = "full"  # type: ignore[misc]


def test_the_page_explains_every_setting_but_the_gathering() -> None:
    """docs/audit.md has a row for each that somebody may want to change."""
    page = PAGE.read_text("utf-8")
    section = page[page.index("## Settings") :]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == {one.name for one in fields(AuditSettings)} - {"gather_seconds"}
