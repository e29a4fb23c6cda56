"""Putting back leads to what was there, whatever was made of it, and nowhere else."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_hooks.sandbox.seal.copy import Copy, SealError, build_tree, find_changes
from amplifier_hooks.sandbox.seal.reading import take_copy
from amplifier_hooks.sandbox.seal.repair import make_writable, put_back

PLACES = [(".git", "config"), (".git", "hooks"), (".git", "commondir"), (".claude", "s.json")]
TREE = build_tree([*PLACES, (".mcp.json",)])


def repair(root: Path, before: Copy) -> list[tuple[str, ...]]:
    """As the keeper does it: what comes to light behind a closed folder needs a second look."""
    folder = os.open(root, os.O_RDONLY)
    try:
        first = changes = find_changes(before, take_copy(folder, TREE), TREE)
        for _ in range(3):
            for parts in changes:
                put_back(folder, before, parts)
            changes = find_changes(before, take_copy(folder, TREE), TREE)
        assert changes == []
    finally:
        os.close(folder)
    return first


def take(root: Path) -> Copy:
    folder = os.open(root, os.O_RDONLY)
    try:
        return take_copy(folder, TREE)
    finally:
        os.close(folder)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / ".git/hooks/deep").mkdir(parents=True)
    (folder / ".git/config").write_text("old")
    (folder / ".git/hooks/pre-commit").write_text("hook")
    (folder / ".git/hooks/pre-commit").chmod(0o755)
    (folder / ".git/hooks/deep/link").symlink_to("../pre-commit")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/config").write_text("outside")
    return folder


ATTACKS = {
    "content": "echo evil > .git/config",
    "removed": "rm -rf .git/hooks .git/config",
    "all removed": "rm -rf .git",
    "added": "echo evil > .git/hooks/post-commit; echo evil > .mcp.json",
    "folder for a file": "rm .git/config; mkdir -p .git/config/x; echo evil > .git/config/x/y",
    "file for a folder": "rm -rf .git/hooks; echo evil > .git/hooks",
    "link out for a file": "ln -sf ../../outside/config .git/config",
    "link out for a folder": "rm -rf .git/hooks; ln -s ../../outside .git/hooks",
    "link out on the way": "mv .git gone; ln -s ../outside .git",
    "link for what was absent": "ln -s ../outside .claude",
    "file on the way": "mv .git gone; echo 'gitdir: ../outside' > .git",
    "redirected": "echo ../../outside > .git/commondir",
    "closed": "chmod 000 .git/hooks .git/config; chmod 000 .git",
    "read-only": "echo evil > .git/config; chmod 555 .git/hooks .git",
    "second name": "ln .git/config second",
    "pipe": "rm .git/config; mkfifo .git/config",
    "mode": "chmod 600 .git/hooks/pre-commit",
    "deep": "rm .git/hooks/deep/link; echo evil > .git/hooks/deep/link",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_whatever_was_made_of_it_is_undone(root: Path, attack: str) -> None:
    """Content, modes, links and second names; what lies outside stays as it is."""
    before = take(root)
    assert os.system(f"cd '{root}' && {attack}") == 0
    repair(root, before)
    assert (root / ".git/config").read_text() == "old"
    assert (root / ".git/hooks/pre-commit").stat().st_mode & 0o777 == 0o755
    assert (root / ".git/hooks/deep/link").readlink() == Path("../pre-commit")
    assert not (root / ".git").is_symlink()
    assert not (root / ".claude").is_symlink()
    assert not (root / ".git/commondir").exists()
    assert (root.parent / "outside/config").read_text() == "outside"
    assert [one.name for one in (root.parent / "outside").iterdir()] == ["config"]
    assert not list(root.rglob(".amplifier-*"))


def test_a_second_name_no_longer_leads_to_the_file(root: Path) -> None:
    """What is written through it later changes nothing."""
    before = take(root)
    (root / "second").hardlink_to(root / ".git/config")
    assert repair(root, before) == [(".git", "config")]
    (root / "second").write_text("evil")
    assert (root / ".git/config").read_text() == "old"


def test_what_is_beside_a_place_is_left_alone(root: Path) -> None:
    """The rest of `.git` belongs to git."""
    before = take(root)
    (root / ".git/HEAD").write_text("ref")
    (root / ".git/config").write_text("evil")
    repair(root, before)
    assert (root / ".git/HEAD").read_text() == "ref"


def test_what_was_too_large_to_copy_cannot_be_put_back(root: Path) -> None:
    """And that is said."""
    folder = os.open(root, os.O_RDONLY)
    before = Copy("way", entries={".mcp.json": Copy("large", data=b"digest")})
    try:
        with pytest.raises(SealError, match=r"'\.mcp\.json' is too large"):
            put_back(folder, before, (".mcp.json",))
    finally:
        os.close(folder)


def test_a_folder_closed_to_its_owner_is_opened(tmp_path: Path) -> None:
    """Others gain nothing by it."""
    folder = os.open(tmp_path, os.O_RDONLY)
    tmp_path.chmod(0o055)
    try:
        make_writable(folder)
    finally:
        os.close(folder)
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def disturb(root: Path, chance: random.Random) -> None:
    """One random change of the tree, the sealed places and what leads to them included."""
    names = [".git", ".claude", ".mcp.json", "x"]
    names += [f".git/{one}" for one in ("config", "hooks", "commondir", "hooks/pre-commit", "HEAD")]
    names += [".claude/s.json", ".git/hooks/deep", ".git/hooks/deep/link"]
    path, other = (root / name for name in chance.sample(names, 2))
    target = chance.choice([other, root.parent / "outside"])
    changes: list[Callable[[], object]] = [
        lambda: path.is_fifo() or path.write_text(f"evil {chance.random()}"),
        lambda: shutil.rmtree(path) if path.is_dir() else path.unlink(),
        lambda: path.symlink_to(target),
        lambda: path.hardlink_to(other),
        lambda: other.rename(path),
        path.mkdir,
        lambda: path.chmod(chance.choice([0o000, 0o555, 0o777])),
        lambda: os.mkfifo(path),
    ]
    with contextlib.suppress(OSError):
        chance.choice(changes)()


@pytest.mark.parametrize("seed", range(60))
def test_no_sequence_of_changes_survives(root: Path, seed: int) -> None:
    """Random changes through links, second names and modes; afterwards all is as before."""
    chance = random.Random(seed)
    outside = root.parent / "outside"
    before = take(root)
    for _ in range(chance.randint(1, 12)):
        disturb(root, chance)
    outside.chmod(0o755)
    kept = {one.name: one.lstat().st_ino for one in outside.iterdir()}
    repair(root, before)
    assert take(root) == before
    # Through a link the changes may reach what lies outside; putting back must not.
    assert {one.name: one.lstat().st_ino for one in outside.iterdir()} == kept
