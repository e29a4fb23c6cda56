"""amplifier report."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from amplifier_hooks.machine.locations import find_data_home
from tests.hooks.cli.program import Outcome, invoke
from tests.hooks.insight.reports.stories import write_trail

pytestmark = pytest.mark.usefixtures("home")

FIRST, SECOND = "11111111-a", "22222222-b"


def report(*arguments: object) -> Outcome:
    return invoke("report", *arguments)


@pytest.fixture
def trail(home: Path) -> Path:
    """The trail of a session that worked here."""
    return write_trail(find_data_home() / "amplifier" / "audit", FIRST, folder=str(home))


def test_the_newest_session_of_this_folder_is_reported(trail: Path, home: Path) -> None:
    """Into a file that only its owner can read; its name is printed."""
    outcome = report()
    assert (outcome.code, outcome.stdout) == (0, "report-11111111.html\n")
    assert "11111111" in outcome.stderr
    path = home / "report-11111111.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    page = path.read_text()
    assert page.startswith("<!doctype html>")
    assert "not here" in page


def test_a_file_is_not_replaced_unless_it_is_asked_for(trail: Path, home: Path) -> None:
    """Also not one behind a link."""
    (home / "kept.txt").write_text("kept")
    (home / "report.html").symlink_to(home / "kept.txt")
    outcome = report(trail, "-o", "report.html")
    assert outcome.code == 2
    assert "--force replaces it" in outcome.stderr
    assert report(trail, "-o", "report.html", "--force").code == 0
    assert (home / "kept.txt").read_text() == "kept"


def test_markdown_and_json_are_printed(trail: Path, home: Path) -> None:
    """A pipe gets them; a file if one is named, in the format that it ends with."""
    assert report(FIRST[:4], "--format", "md").stdout.startswith("# Session 11111111")
    assert json.loads(report(trail, "--format", "json").stdout)["version"] == 1
    assert report(trail, "-o", "-").stdout.startswith("<!doctype html>")
    assert report(trail, "-o", "report.md").stdout == "report.md\n"
    assert (home / "report.md").read_text().startswith("# Session")


def test_all_sessions_of_a_folder_are_reported_together(trail: Path, home: Path) -> None:
    """With --all, or with a time; a folder of trails can be named, and a folder to write to."""
    write_trail(trail.parent, SECOND, folder=str(home), denials=3)
    write_trail(trail.parent, "elsewhere", folder="/somewhere/else")
    for arguments in (("--all",), ("--since", "2020-01-01")):
        told = json.loads(report(*arguments, "--format", "json").stdout)
        assert {one["id"] for one in told["sessions"]} == {FIRST, SECOND}
        assert told["totals"]["interventions"]["denial"] == 4
    few = json.loads(report(trail.parent, "--chapters", 1, "--format", "json").stdout)
    assert (few["totals"]["sessions"], len(few["chapters"])) == (3, 1)
    (home / "out").mkdir()
    assert report("--all", "-o", "out").stdout == "out/report.html\n"


def test_a_trail_that_was_tampered_with_is_warned_of(trail: Path) -> None:
    """On standard error, too: the page may be read by somebody else."""
    segment = trail / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b"rm 0", b"rm 1"))
    outcome = report(trail, "--format", "md")
    assert outcome.code == 0
    assert "The trail was tampered with" in outcome.stderr
    assert "do not rely on this report" in outcome.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "No session has worked in"),
        (("nothing",), "No trail 'nothing'"),
        (("--since", "soon"), "'soon' is not a time"),
        (("--format", "md", "--open"), "--open needs a file"),
        (("--key", "nowhere"), "nowhere"),
    ],
)
def test_mistakes_are_told_in_a_sentence(arguments: tuple[str, ...], words: str) -> None:
    """With exit code 2."""
    outcome = report(*arguments)
    assert outcome.code == 2
    assert words in outcome.stderr


def test_nothing_in_the_chosen_time_is_said(trail: Path) -> None:
    """No empty report is written."""
    outcome = report("--since", "2099-01-01")
    assert outcome.code == 2
    assert "No session did anything in that time" in outcome.stderr


def test_trails_that_cannot_be_read_are_named(trail: Path, home: Path) -> None:
    """The others are reported; with nothing else there is no report."""
    (home / "bad.jsonl").write_text("no records\n")
    both = report(trail, "bad.jsonl", "--format", "md")
    assert both.code == 0
    assert "Left out, because it cannot be read: bad.jsonl" in both.stderr
    alone = report("bad.jsonl")
    assert alone.code == 2
    assert "bad.jsonl cannot be read" in alone.stderr


def test_an_odd_id_makes_no_odd_file(home: Path) -> None:
    """A session may be called anything."""
    path = write_trail(home, session="../a b!")
    assert report(path).stdout == "report----a-b-.html\n"
