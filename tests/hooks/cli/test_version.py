"""The version: read from the folder of the installation, or from its facts."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from amplifier_hooks.cli.version import find_version


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders on the path, and facts that say something else."""
    found = (tmp_path / "first", tmp_path / "second")
    for place in found:
        place.mkdir()
    monkeypatch.setattr(sys, "path", ["/nowhere", *map(str, found)])
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"facts of {name}")
    return found


FACTS = "facts of amplifier-hooks"


@pytest.mark.parametrize(
    ("first", "second", "version"),
    [
        # Packages of a similar name do not matter.
        (["amplifier_hooks_extra-9.0.dist-info"], ["amplifier_hooks-2.0.dist-info"], "2.0"),
        # The first on the path counts, as it does for imports.
        (["amplifier_hooks-3.1rc1.dist-info"], ["amplifier_hooks-2.0.dist-info"], "3.1rc1"),
        # Two installations in one place, one of another kind, or none: the facts decide.
        ([], ["amplifier_hooks-1.0.dist-info", "amplifier_hooks-2.0.dist-info"], FACTS),
        ([], ["amplifier_hooks-1.0.egg-info"], FACTS),
        ([], [], FACTS),
    ],
)
def test_the_folder_of_the_installation_says_it(
    places: tuple[Path, Path], first: list[str], second: list[str], version: str
) -> None:
    """Where it leaves no doubt."""
    for place, names in zip(places, (first, second), strict=True):
        for name in names:
            (place / name).mkdir()
    assert find_version() == version


def test_it_is_that_of_what_is_installed() -> None:
    """The same that others read."""
    assert find_version() == importlib.metadata.version("amplifier-hooks")


def test_the_current_folder_may_be_on_the_path(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an empty text."""
    (places[1] / "amplifier_hooks-2.0.dist-info").mkdir()
    monkeypatch.chdir(places[1])
    monkeypatch.setattr(sys, "path", [""])
    assert find_version() == "2.0"
