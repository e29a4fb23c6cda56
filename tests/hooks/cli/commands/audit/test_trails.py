"""The trails of this person: which one is meant."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import yaml

from amplifier_hooks import SessionInfo, SessionStore
from amplifier_hooks.agent.session.inspection.trails import find_home, list_trails
from tests.audit.support import write_log
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import Outcome, invoke
from tests.support.trust import trust_project


def audit(*arguments: object) -> Outcome:
    return invoke("audit", *arguments)


def write_trail(name: str) -> None:
    """A trail of another version, which does not say where it comes from."""
    asyncio.run(write_log(find_home() / name, 3))


def run_in(folder: Path, monkeypatch: pytest.MonkeyPatch, **more: object) -> str:
    """Run a session in a folder with a bundle of its own; returns the session's id."""
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    provider = {"module": "provider-scripted", "config": {"script": [{"text": "Hello."}]}}
    bundle = {"name": folder.name, "providers": [provider], **more}
    (folder / "amplifier.yaml").write_text(yaml.safe_dump(bundle))
    trust_project(folder)
    known = {one.id for one in SessionStore().list()}
    done = invoke("run", f"work in {folder.name}")
    assert done.code == 0, done.stderr
    (new,) = {one.id for one in SessionStore().list()} - known
    return new


def test_without_a_name_the_newest_trail_of_this_folders_bundle_is_meant(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a newer one of another folder; and where there is none, nothing is guessed."""
    run_in(home / "a", monkeypatch)
    mine = run_in(home / "a", monkeypatch)
    run_in(home / "b", monkeypatch)
    monkeypatch.chdir(home / "a")
    for command in ("show", "stats", "verify", "checkpoint"):
        done = audit(command)
        assert f"amplifier.yaml in this folder: {mine[:8]}, " in done.stderr
    assert "› work in a" in audit("show").stdout
    monkeypatch.chdir(home)
    nothing = audit("show")
    assert (nothing.code, nothing.stdout) == (2, "")
    assert f"There is no trail of the packaged bundle in {home} yet" in nothing.stderr
    assert "amplifier audit list" in nothing.stderr


def test_a_bundle_that_names_its_own_place_is_looked_for_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`audit.path`; its trails are found by the start of their names, too."""
    mine = run_in(home / "a", monkeypatch, audit={"path": "./trails"})
    assert (home / "a" / "trails" / mine).is_dir()
    assert "› work in a" in audit("show").stdout
    assert audit("verify", mine[:8]).code == 3
    assert audit("verify").code == 3
    assert mine[:8] in audit("list").stdout


def test_a_trail_of_another_bundle_in_this_folder_is_not_meant(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But it can be asked for."""
    run_in(home / "a", monkeypatch)
    Path("amplifier.yaml").rename("other.yaml")
    nothing = audit("show")
    assert nothing.code == 2
    assert f"of other bundles: --bundle {home / 'a' / 'amplifier.yaml'}" in nothing.stderr
    Path("other.yaml").rename("amplifier.yaml")
    assert "› work in a" in audit("show", "--bundle", "amplifier.yaml").stdout


def test_an_older_trail_is_known_by_its_saved_session(project: Project, home: Path) -> None:
    """It does not say itself where it comes from."""
    project({"text": "Hello."})
    write_trail("abc-123")
    assert audit("show", "--all").code == 2
    SessionStore().save(SessionInfo("abc-123", name="Old", working_dir=str(home)), {})
    assert audit("show", "--all").code == 0
    assert audit("show", "old", "--all").code == 0


@pytest.mark.parametrize(
    ("audit_section", "why"),
    [
        ({"enabled": False}, "audit.enabled: false"),
        ({"socket": "/run/writer"}, "The writer at /run/writer keeps the trails"),
    ],
)
def test_a_bundle_without_a_trail_of_its_own_says_why(
    project: Project, audit_section: dict[str, object], why: str
) -> None:
    """Nobody searches for what was never written."""
    project(audit=audit_section)
    done = audit("show")
    assert done.code == 2
    assert why in done.stderr


def test_a_bundle_that_cannot_be_read_is_named(home: Path) -> None:
    """A trail can still be named."""
    (home / "amplifier.yaml").write_text("hooks: [")
    done = audit("show")
    assert done.code == 2
    assert "because the bundle cannot be read" in done.stderr
    write_trail("abc-123")
    assert audit("show", "abc", "--all").code == 0


def test_a_beginning_of_several_names_is_refused(home: Path) -> None:
    """With the names."""
    for name in ("abc-1", "abc-2"):
        write_trail(name)
    done = audit("verify", "abc")
    assert done.code == 2
    assert "abc-1" in done.stderr
    assert "abc-2" in done.stderr
    assert audit("verify", "abc-1").code == 3


def test_a_folder_of_trails_means_its_newest(home: Path) -> None:
    """Also one with a folder `audit`, as the demonstration leaves it; which one is said."""
    for name in ("abc-1", "abc-2"):
        write_trail(name)
    for folder in (find_home(), find_home().parent):
        done = audit("show", folder, "--all")
        assert done.code == 0
        assert f"The newest trail in {folder}: abc-2, just now" in done.stderr
    empty = audit("show", home)
    assert empty.code == 2
    assert "holds no audit log" in empty.stderr


def test_a_projects_bundle_is_known_wherever_it_was_used(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its file; a bundle that is used everywhere only by the folder."""
    run_in(home / "a", monkeypatch)
    (home / "a" / "below").mkdir()
    monkeypatch.chdir(home / "a" / "below")
    assert audit("show").code == 2
    assert "› work in a" in audit("show", "--bundle", "../amplifier.yaml").stdout


def test_a_place_without_trails_has_none(tmp_path: Path) -> None:
    """It need not exist."""
    assert list_trails(tmp_path / "nowhere") == []
