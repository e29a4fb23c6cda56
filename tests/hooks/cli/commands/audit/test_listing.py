"""amplifier audit list."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from amplifier_hooks.agent.session.inspection.trails import find_home
from tests.audit.support import write_log
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import Outcome, invoke, run_at_terminal


def list_trails(*arguments: object) -> Outcome:
    return invoke("audit", "list", *arguments)


def write_trail(name: str) -> None:
    """A trail of another version, which does not say where it comes from."""
    asyncio.run(write_log(find_home() / name, 3))


def test_a_trail_is_listed_with_what_tells_it_from_others(project: Project, home: Path) -> None:
    """When, where, of which bundle, how much, and what there is to verify it with."""
    project({"text": "Hello."}, name="mine")
    assert invoke("run", "hello").code == 0
    (row,) = json.loads(list_trails("--json").stdout)
    assert (row["folder"], row["bundle"], row["sessions"]) == (str(home), "mine", 1)
    assert row["records"] > 10
    head, line, hint = list_trails().stdout.splitlines()
    assert head.split() == ["trail", "when", "records", "sessions", "bundle", "proof", "folder"]
    cells = [row["id"][:8], "just", "now", f"{row['records']:,}", "1", "mine", "not", "signed", "~"]
    assert line.split() == cells
    assert hint.startswith("amplifier audit verify ID")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_list_fits_the_terminal(project: Project, columns: int) -> None:
    """A narrow one, too."""
    project()
    for number in range(3):
        write_trail(f"abc-{number}")
    with run_at_terminal("audit", "list", columns=columns) as program:
        assert program.wait_end() == 0
        lines = program.lines()
    assert sum("abc-" in line for line in lines) == 3
    assert max(map(len, lines)) < columns


def test_the_list_can_be_cut_and_kept_to_this_folder(project: Project, home: Path) -> None:
    """The latest first, and how many more there are."""
    project({"text": "Hello."})
    assert invoke("run", "hello").code == 0
    for number in range(3):
        write_trail(f"abc-{number}")
    assert "3 more; --limit 0 shows all" in list_trails("--limit", "1").stdout
    assert len(json.loads(list_trails("--limit", "0", "--json").stdout)) == 4
    assert len(json.loads(list_trails("--here", "--json").stdout)) == 1


def test_without_any_trail_the_list_says_where_it_looked(home: Path) -> None:
    """Or that none is of this folder."""
    assert list_trails().stdout == f"No trails in {find_home()} yet.\n"
    assert list_trails("--here").stdout == "No trails of this folder yet.\n"


def test_what_cannot_be_read_is_listed_as_such(home: Path, log: Path) -> None:
    """It hides nothing else; a writer that gave up is named, a signature too."""
    find_home().mkdir(parents=True)
    (find_home() / "empty").mkdir()
    (find_home() / "not a name").mkdir()
    log.rename(find_home() / "signed")
    write_trail("failed")
    (find_home() / "failed" / "failed").write_text("disk full")
    rows = {row["id"]: row for row in json.loads(list_trails("--json").stdout)}
    assert rows["empty"]["proof"].startswith("cannot be read: ")
    assert rows["signed"]["proof"] == "signed"
    assert rows["signed"]["sessions"] == 2
    assert rows["failed"]["proof"] == "the writer gave up"
