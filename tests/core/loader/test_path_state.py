"""The state of the path: what makes another one of it, and when that is sure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from amplifier_core.loader.importing import SETTLED, read_path_state
from tests.support.modules import make_old


def test_the_same_path_has_the_same_state(site: Path) -> None:
    """As long as nothing happens to it."""
    assert read_path_state() == read_path_state()


def test_what_comes_into_a_folder_of_the_path_makes_another_state(site: Path) -> None:
    """Such as an installed package; what happens inside of it is no matter of the path."""
    make_old(site)
    before = read_path_state()
    package = site / "some_package"
    package.mkdir()
    after = read_path_state()
    assert after != before
    (package / "__init__.py").touch()
    assert read_path_state() == after


def test_another_folder_makes_another_state(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that is not there yet, when it comes."""
    before = read_path_state()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "later")])
    added = read_path_state()
    assert added != before
    (tmp_path / "later").mkdir()
    assert read_path_state() != added


def test_the_current_folder_counts_where_the_path_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty text in the path is the folder that the process is in."""
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    before = read_path_state()
    monkeypatch.chdir(tmp_path)
    assert read_path_state() != before


def test_another_finder_makes_another_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may find what no folder has."""
    before = read_path_state()
    monkeypatch.setattr(sys, "meta_path", [object(), *sys.meta_path])
    assert read_path_state() != before


def test_a_file_that_is_changed_in_its_place_makes_another_state(tmp_path: Path) -> None:
    """Its folder does not change."""
    file = tmp_path / "entry_points.txt"
    file.write_text("before")
    make_old(file)
    before = read_path_state([str(file)])
    file.write_text("later.")
    assert read_path_state([str(file)]) != before


def test_a_state_is_settled_when_the_last_change_was_long_ago(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before that, another change could have the same time."""
    monkeypatch.setattr(sys, "path", [str(site)])
    assert not read_path_state().is_settled()
    make_old(site, 2 * SETTLED / 1e9)
    assert read_path_state().is_settled()


def test_nothing_on_the_path_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes will be a change."""
    monkeypatch.setattr(sys, "path", ["/nowhere/at/all"])
    assert read_path_state().is_settled()
