"""amplifier hooks stats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import AuditLog
from amplifier_hooks.cli.commands.audit.records import format_ms
from amplifier_hooks.cli.commands.hooks.stats import follow_session, print_survey
from amplifier_hooks.cli.text.fragments import count_cells
from amplifier_hooks.insight.counting import Survey
from tests.hooks.cli.program import invoke
from tests.hooks.insight.written_trail import write_trail


@pytest.fixture
def trails(home: Path) -> Path:
    """A folder with the trails of two sessions."""
    for name in ("one", "two"):
        write_trail(home / "trails" / name)
    return home / "trails"


def test_the_figures_of_all_named_trails_are_added_up(trails: Path) -> None:
    """As JSON, with a word for each hook."""
    told = json.loads(invoke("hooks", "stats", trails, "--json").stdout)
    assert (told["version"], told["trails"]) == (1, 2)
    assert told["hooks"]["guard"]["answers"] == {"continue": 2, "deny": 4, "ask_user": 2}
    assert told["hooks"]["dead"]["standing"] == "dead"


def test_the_table_has_a_row_for_each_hook_the_worst_first(trails: Path) -> None:
    """And a note where something would have happened."""
    lines = invoke("hooks", "stats", trails).stdout.splitlines()
    assert [line.split()[0] for line in lines if line][2:] == ["guard", "dead", "shadow"]
    shown = invoke("hooks", "stats", trails, "--shadow").stdout
    assert "would have denied 2 of 2 calls" in shown
    assert "b.txt" in shown
    assert "calls" in invoke("hooks", "stats", trails / "one", "--hook", "guard").stdout


def test_a_hook_that_nobody_knows_is_a_slip(trails: Path) -> None:
    """The nearest names are told."""
    ran = invoke("hooks", "stats", trails, "--hook", "gard")
    assert ran.code == 2
    assert "No hook 'gard' in these sessions; have guard" in ran.stderr


def test_a_folder_without_sessions_says_what_to_do(home: Path) -> None:
    """Also where a named trail is not there."""
    assert "There is no recorded session of this folder" in invoke("hooks", "stats").stderr
    assert "No trail 'nothing'" in invoke("hooks", "stats", "nothing").stderr


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


ANSWER = {"hook": "guard", "id": 1, "action": "continue", "ms": 1}


def test_what_a_session_adds_is_counted_once_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a change nothing is drawn; Ctrl-C ends it."""
    path = write_trail(tmp_path / "one")
    log = AuditLog(path, name="one")
    shown: list[int] = []
    pauses = 0

    def show(survey: Survey) -> None:
        shown.append(survey.found.hooks["guard"].calls)

    def wait(_seconds: float) -> None:
        nonlocal pauses
        pauses += 1
        if pauses == 4:
            raise KeyboardInterrupt
        if pauses == 2:
            body = {"action": "continue", "hooks": [ANSWER] * 3, "data": {}}
            log.append("dispatch", body, session="one", turn=2, event="tool:pre")
            log.close_now()

    follow_session(path, "", show, wait=wait)
    assert shown == [4, 7]
    assert "Ctrl-C ends" in capsys.readouterr().out
