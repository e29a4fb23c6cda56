"""The trails of this person: where they lie, and which sessions they are of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amplifier_hooks import SessionInfo, SessionStore
from amplifier_hooks.agent.session.inspection.trails import (
    Trail,
    TrailNotFound,
    find_home,
    find_root,
    find_trail_origin,
    holds_log,
    list_roots,
    list_trails,
    select_trails,
)
from amplifier_hooks.agent.session.origin import Origin
from tests.audit.support import write_log
from tests.support.project import Project, script
from tests.support.trust import trust_project


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


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_trails_come_newest_first_and_files_beside_them_are_none(tmp_path: Path) -> None:
    """By the time of their last record; where there is no folder there are none."""
    for name, age in (("old", 200), ("new", 100)):
        (tmp_path / "logs" / name).mkdir(parents=True)
        os.utime(tmp_path / "logs" / name, (1_800_000_000 - age,) * 2)
    (tmp_path / "logs" / "note.txt").touch()
    found = list_trails(tmp_path / "logs")
    assert [one.path.name for one in found] == ["new", "old"]
    assert list_trails(tmp_path / "nowhere") == []


def test_a_bundle_may_keep_its_trails_elsewhere(project: Project, tmp_path: Path) -> None:
    """The usual place counts as well, as seen from its folder."""
    elsewhere = tmp_path / "kept"
    assert find_root(bundle=project.bundle()).path == tmp_path / "data/amplifier/audit"
    bundle = project.bundle(audit={"path": str(elsewhere)})
    assert find_root(folder=project.folder, bundle=bundle).path == find_home()
    trust_project(project.folder)
    assert find_root(folder=project.folder, bundle=bundle).path == elsewhere
    assert list_roots(folder=project.folder) == [elsewhere, find_home()]


def test_a_bundle_that_is_not_trusted_does_not_say_where_trails_lie(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person's own bundle still does; only checks that become stricter look there."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    project.bundle(audit={"path": str(tmp_path / "planted")})
    found = find_root(folder=project.folder)
    assert found.path == find_home()
    assert "its audit.path was not used" in found.note
    assert list_roots(folder=project.folder) == [find_home()]
    strict = list_roots(folder=project.folder, untrusted=True)
    assert strict == [find_home(), tmp_path / "planted"]
    own = tmp_path / "config/amplifier/amplifier.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(f"audit: {{path: {tmp_path / 'own'}}}\n")
    assert find_root(folder=project.folder).path == tmp_path / "own"


def test_a_bundle_that_cannot_be_read_leaves_the_usual_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks for a trail is not stopped by the bundle."""
    (tmp_path / "amplifier.yaml").write_text("hooks: [")
    monkeypatch.chdir(tmp_path)
    assert list_roots() == [find_home()]


async def test_an_older_trail_is_of_the_folder_that_its_saved_session_names(
    tmp_path: Path,
) -> None:
    """Without one, nobody knows; nor where the name is that of no session."""
    await write_log(tmp_path / "s1", 2)
    trail = Trail(tmp_path / "s1", 0.0)
    assert find_trail_origin(trail) is None
    SessionStore().save(SessionInfo("s1", working_dir="/work"), {})
    assert find_trail_origin(trail) == Origin("/work")
    assert find_trail_origin(Trail(tmp_path / "..", 0.0)) is None
