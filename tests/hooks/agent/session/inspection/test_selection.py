"""Which trails are meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.agent.session.inspection.trails import (
    TrailNotFound,
    holds_log,
    select_trails,
)
from tests.support.project import Project, script


@pytest.fixture
async def trails(project: Project, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two sessions of one folder and one of another, where trails usually lie."""
    monkeypatch.setenv("HOME", str(project.home))
    monkeypatch.setenv("XDG_DATA_HOME", str(project.home / "data"))
    monkeypatch.chdir(project.folder)
    found = []
    elsewhere = project.folder.parent / "elsewhere"
    elsewhere.mkdir()
    for folder in (project.folder, project.folder, elsewhere):
        bundle = project.bundle(providers=script("hello"), audit={"enabled": True})
        async with project.session(bundle, working_dir=folder) as session:
            await session.execute("x")
            found.append(project.home / "data/amplifier/audit" / session.session_id)
    return found


async def test_without_a_name_all_trails_of_this_folder_are_meant(trails: list[Path]) -> None:
    """The oldest first; with `everywhere`, those of other folders, too."""
    assert select_trails() == trails[:2]
    assert select_trails(everywhere=True) == trails
    assert select_trails(folder=trails[0].parent) == []


async def test_a_trail_is_named_by_its_folder_or_by_its_id(trails: list[Path]) -> None:
    """A folder of trails means all of them; one that is named twice is meant once."""
    first, second, third = trails
    assert select_trails([str(first)]) == [first]
    assert select_trails([second.name[:13], str(second)]) == [second]
    assert set(select_trails([str(first.parent)])) == {first, second, third}
    assert holds_log(first)
    assert not holds_log(first.parent)


async def test_what_names_no_trail_is_refused(trails: list[Path], tmp_path: Path) -> None:
    """With what would do."""
    with pytest.raises(TrailNotFound, match="No trail 'zzz': name the directory"):
        select_trails(["zzz"])
    for trail in trails[:2]:
        trail.rename(trail.with_name(f"same-{trail.name}"))
    with pytest.raises(TrailNotFound, match="Several trails begin with 'same-'"):
        select_trails(["same-"])
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(TrailNotFound, match="no trail in"):
        select_trails([str(empty)])
