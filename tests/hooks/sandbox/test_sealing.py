"""Seals around a command behind a wall."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.sandbox.sealing import keep_sealed
from amplifier_hooks.sandbox.wall import Wall


def make_wall(root: Path, *granted: Path) -> Wall:
    hooks = root / ".git" / "hooks"
    hooks.mkdir(parents=True)
    return Wall((root,), (), (hooks,), root, granted=granted)


def test_what_changed_at_a_sealed_place_is_put_back_and_told(tmp_path: Path) -> None:
    """One sentence for the agent, with the way to ask for it."""
    wall = make_wall(tmp_path.resolve())
    with keep_sealed(wall) as notes:
        (wall.sealed[0] / "pre-commit").write_text("x")
        (tmp_path / "other").write_text("x")
    assert list(wall.sealed[0].iterdir()) == []
    assert (tmp_path / "other").exists()
    assert len(notes) == 1
    assert "needs.write" in notes[0]


def test_what_a_person_granted_may_change(tmp_path: Path) -> None:
    """For this one command."""
    root = tmp_path.resolve()
    wall = make_wall(root, root / ".git" / "hooks")
    with keep_sealed(wall) as notes:
        (wall.sealed[0] / "pre-commit").write_text("x")
    assert (wall.sealed[0] / "pre-commit").exists()
    assert notes == []
