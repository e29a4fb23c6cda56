"""The version: read from the folder of the installation, or from its facts."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from amplifier_hooks.cli.version import find_version


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders on the path, the second with an installation; its facts say something else."""
    found = (tmp_path / "first", tmp_path / "second")
    for place in found:
        place.mkdir()
    (found[1] / "amplifier_hooks-2.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", ["/nowhere", *map(str, found)])
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"facts of {name}")
    return found


def test_it_is_that_of_what_is_installed() -> None:
    """The same that others read."""
    assert find_version() == importlib.metadata.version("amplifier-hooks")


def test_the_folder_says_it(places: tuple[Path, Path]) -> None:
    """Packages of a similar name do not matter."""
    (places[0] / "amplifier_hooks_extra-9.0.dist-info").mkdir()
    assert find_version() == "2.0"


def test_the_first_on_the_path_counts(places: tuple[Path, Path]) -> None:
    """As it does for imports."""
    (places[0] / "amplifier_hooks-3.1rc1.dist-info").mkdir()
    assert find_version() == "3.1rc1"


def test_the_current_folder_may_be_on_the_path(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an empty text."""
    monkeypatch.chdir(places[1])
    monkeypatch.setattr(sys, "path", [""])
    assert find_version() == "2.0"


@pytest.mark.parametrize("name", ["amplifier_hooks-1.0.dist-info", "amplifier_hooks-1.0.egg-info"])
def test_where_the_folder_leaves_doubt_the_facts_decide(
    places: tuple[Path, Path], name: str
) -> None:
    """Two installations in one place, or one of another kind."""
    (places[1] / name).mkdir()
    if name.endswith("egg-info"):
        (places[1] / "amplifier_hooks-2.0.dist-info").rmdir()
    assert find_version() == "facts of amplifier-hooks"


def test_without_an_installation_the_facts_decide(places: tuple[Path, Path]) -> None:
    """They may come from another kind of finder, or say that there are none."""
    (places[1] / "amplifier_hooks-2.0.dist-info").rmdir()
    assert find_version() == "facts of amplifier-hooks"
