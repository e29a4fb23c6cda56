"""Whose sessions are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.mcp.server.scope import Scope, TooWide, choose_scope


def test_a_folder_covers_itself_and_what_lies_below(tmp_path: Path) -> None:
    """Not its neighbours, not one whose name only begins alike, and nothing without a place."""
    scope = Scope(tmp_path / "shop")
    assert scope.covers(str(tmp_path / "shop"))
    assert scope.covers(str(tmp_path / "shop" / "api" / "v2"))
    for place in ("shopping", "bank", "shop/../bank", "."):
        assert not scope.covers(str(tmp_path / place))
    assert not scope.covers("")
    assert not scope.covers("a\0b")


def test_a_link_is_followed_before_it_is_judged(tmp_path: Path) -> None:
    """Both ways: into the folder, and out of it."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "bank").mkdir()
    (tmp_path / "shop" / "out").symlink_to(tmp_path / "bank")
    (tmp_path / "in").symlink_to(tmp_path / "shop")
    scope = choose_scope(tmp_path / "in", everything=False)
    assert scope.folder == tmp_path / "shop"
    assert scope.covers(str(tmp_path / "in" / "api"))
    assert not scope.covers(str(tmp_path / "shop" / "out"))


def test_without_a_folder_everything_is_covered() -> None:
    """A person has said so."""
    assert choose_scope(Path("/"), everything=True).covers("")


@pytest.mark.parametrize("folder", ["/", ".", ".."])
def test_a_folder_that_holds_the_home_is_refused(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that starts its servers nowhere in particular would show everything."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TooWide, match="--folder, or say --all"):
        choose_scope(Path(folder), everything=False)
