"""`make bench-security`: the table of what the default guards ask about, and its lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.security import commands
from benchmarks.security.data import PUBLIC_DATA, read_commands, read_list
from benchmarks.security.judge import judge_commands
from benchmarks.security.table import Row, format_table


def test_a_row_says_whether_its_goal_is_met() -> None:
    assert Row("a", 4.9, 5).verdict == "met"
    assert Row("a", 5.1, 5).verdict == "missed"
    assert Row("a", 95.0, 95, "at least").verdict == "met"
    assert Row("a", 94.9, 95, "at least").verdict == "missed"
    assert Row("a", missing="x.txt").verdict == "data missing: x.txt"
    assert "4.9 %" in format_table([Row("a", 4.9, 5)])


def test_without_public_data_the_table_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(PUBLIC_DATA, str(tmp_path))
    monkeypatch.setattr(commands, "read_list", lambda name: ["ls", "rm -rf /"])
    rows = commands.rows()
    ours = [row for row in rows if "nl2bash" not in row.name and "GTFOBins" not in row.name]
    public = rows[len(ours) :]
    assert [row.measured for row in ours] == [50] * 7
    assert {row.measured for row in public} == {None}
    assert all("nl2bash" in row.verdict or "gtfobins" in row.verdict for row in public)


def test_a_line_that_begins_with_a_tab_belongs_to_the_one_above() -> None:
    assert read_commands("# no\na <<E\n\tb\n\tE\nc\n") == ["a <<E\nb\nE", "c"]


def test_the_lists_share_no_command() -> None:
    ordinary = [*read_list("ordinary"), *read_list("ordinary_by_others")]
    names = ("dangerous", "adaptive", "dangerous_by_others")
    dangerous = [command for name in names for command in read_list(name)]
    assert len(ordinary) >= 200
    assert len(dangerous) >= 150
    assert set(ordinary).isdisjoint(dangerous)


@pytest.mark.parametrize("place", ["plain", "project", "guarded"])
def test_commands_are_judged_by_all_guards_of_the_default_bundle(place: str) -> None:
    found = judge_commands(["ls", "rm -rf /", "echo {} > .claude/settings.json"], place)  # type: ignore[arg-type]
    assert [answer.action for answer in found] == ["continue", "deny", "deny"]
