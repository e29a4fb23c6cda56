"""Which modules are installed: read once, and again when that may have changed."""

from __future__ import annotations

import importlib.metadata
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core import loader as installed
from amplifier_core.loader import GROUP, choose_modules
from tests.support.modules import make_old, write_distribution

reads: list[str] = []


def read_counted(group: str) -> Any:
    """The entry points, as they are on disk now."""
    reads.append(group)
    return importlib.metadata.EntryPoints(
        point
        for dist in importlib.metadata.distributions()
        for point in dist.entry_points.select(group=group)
    )


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", read_counted)
    monkeypatch.setattr(installed, "_last", [])
    reads.clear()


@pytest.fixture
def old_site(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of the path, with one distribution that has been there for a while."""
    monkeypatch.setattr(sys, "path", [str(site)])
    write_distribution(site, "theirs", {"tool-x": "first:mount"})
    settle(site)
    return site


def settle(site: Path) -> None:
    """Let time pass."""
    for place in (*site.rglob("*"), site):
        make_old(place)


def choose() -> dict[str, str]:
    return {name: point.value for name, point in choose_modules(None)[0].items()}


def test_what_is_installed_is_read_once(old_site: Path) -> None:
    """Each caller has a dict of its own all the same."""
    first, second = choose_modules(None)[0], choose_modules(None)[0]
    assert first == second
    assert first is not second
    assert reads == [GROUP]


def test_a_distribution_that_is_installed_later_is_found(old_site: Path) -> None:
    """By the next loader, in the same process."""
    assert "tool-y" not in choose()
    write_distribution(old_site, "later", {"tool-y": "other:mount"})
    assert choose()["tool-y"] == "other:mount"


def test_a_distribution_that_is_taken_away_is_gone(old_site: Path) -> None:
    """Its modules with it."""
    assert choose() == {"tool-x": "first:mount"}
    shutil.rmtree(old_site / "theirs-1.2.3.dist-info")
    assert choose() == {}


def test_a_distribution_that_is_changed_in_its_place_is_read_again(old_site: Path) -> None:
    """Its folder does not say so, its file does."""
    assert choose() == {"tool-x": "first:mount"}
    (old_site / "theirs-1.2.3.dist-info" / "entry_points.txt").write_text(
        f"[{GROUP}]\ntool-x = second:mount\n"
    )
    assert choose() == {"tool-x": "second:mount"}


def test_a_checkout_that_names_its_first_module_is_read_again(old_site: Path) -> None:
    """A development install writes its names anew in their place, and had none of ours before."""
    facts = old_site / "theirs_too.egg-info"
    facts.mkdir()
    (facts / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: theirs-too\nVersion: 1\n")
    settle(old_site)
    assert choose() == {"tool-x": "first:mount"}
    (facts / "entry_points.txt").write_text(f"[{GROUP}]\ntool-y = other:mount\n")
    assert choose() == {"tool-x": "first:mount", "tool-y": "other:mount"}


def test_what_has_just_changed_is_not_remembered(old_site: Path) -> None:
    """The next change could have the same time."""
    make_old(old_site, 0)
    choose()
    choose()
    assert reads == [GROUP, GROUP]
    settle(old_site)
    choose()
    choose()
    assert reads == [GROUP] * 3


def test_another_reader_is_asked(old_site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that are packed into one file have their own."""
    assert choose()
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [])
    assert choose() == {}


def test_ours_give_way_and_the_first_of_others_on_the_path_wins(old_site: Path) -> None:
    """Those that only we have are told apart."""
    ours = {"tool-x": "ours:mount", "tool-own": "ours:mount"}
    write_distribution(old_site, "amplifier-hooks", ours)
    found, own = choose_modules(None)
    assert found["tool-x"].value == "first:mount"
    assert found["tool-own"].value == "ours:mount"
    assert own == {"tool-own"}


@pytest.mark.parametrize("governed", [True, False])
def test_what_sources_govern_is_not_installed(old_site: Path, governed: bool) -> None:
    """Whoever asks without these sources still has it."""

    class Judged:
        def governs(self, path: Path) -> bool:
            return governed and path == old_site

    sources: Any = Judged()
    assert choose_modules(sources)[0].keys() == (set() if governed else {"tool-x"})
    assert choose() == {"tool-x": "first:mount"}
    assert reads == [GROUP]


def test_an_entry_point_without_a_distribution_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As hosts and tests make them up."""
    point: Any = SimpleNamespace(name="tool-x", value="x:mount", group=GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point])
    assert choose_modules(None) == ({"tool-x": point}, frozenset())
