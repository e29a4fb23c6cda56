"""The table of hooks: as wide as there is room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.cli.commands.audit.statistics import format_ms
from amplifier_hooks.cli.commands.hooks.stats_text import print_survey
from amplifier_hooks.cli.text.fragments import count_cells
from amplifier_hooks.insight.counting import Survey
from tests.hooks.insight.written_trail import write_trail


@pytest.fixture
def told(tmp_path: Path) -> dict[str, Any]:
    survey = Survey()
    survey.read(write_trail(tmp_path / "one"))
    (tmp_path / "none").mkdir()
    survey.read(tmp_path / "none")
    found = survey.to_dict()
    name = "a-hook-with-a-very-long-name-from-somewhere\x1b[31m"
    found["hooks"][name] = {**found["hooks"]["guard"], "calls": 1_234_567, "calls_known": False}
    return found


@pytest.mark.parametrize("width", [40, 57, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(
    told: dict[str, Any],
    width: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """More room shows more columns; calls and the word are always there."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for shadow, hook in ((False, None), (True, None), (False, "guard")):
        print_survey(told, shadow=shadow, hook=hook)
    printed = capsys.readouterr().out
    assert max(count_cells(line) for line in printed.splitlines()) < width
    assert "\x1b" not in printed
    assert "≥1,234,567" in printed
    assert ("p50 ms" in printed) is (width >= 120)


def test_a_table_without_hooks_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """And so does one without shadows."""
    print_survey(Survey().to_dict(), shadow=False, hook=None)
    print_survey(Survey().to_dict(), shadow=True, hook=None)
    printed = capsys.readouterr().out
    assert "No hook was registered." in printed
    assert "No hook in shadow mode would have done anything." in printed


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0123, "0.012"), (9.96, "10"), (12.3, "12"), (4567.0, "4,567")],
)
def test_times_have_two_digits_or_all_before_the_point(value: float | None, text: str) -> None:
    """Enough to compare hooks."""
    assert format_ms(value) == text
