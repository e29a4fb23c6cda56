"""Putting back leads to what was there, whatever was made of it, and nowhere else."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_hooks.sandbox import seal_copies
from amplifier_hooks.sandbox import seal_keeper as keeping
from amplifier_hooks.sandbox.seal_copies import (
    ABSENT,
    Copy,
    Parts,
    SealError,
    Tree,
    build_tree,
    copy_tree,
    find_changes,
)
from amplifier_hooks.sandbox.seal_keeper import (
    Repair,
    SealJournal,
    SealKeeper,
    forget_journal,
    get_keeper,
    make_writable,
    open_journal,
    restore_place,
)

SEALED_PLACES = [
    (".git", "config"),
    (".git", "hooks"),
    (".git", "commondir"),
    (".claude", "s.json"),
]
SEALED_TREE = build_tree([*SEALED_PLACES, (".mcp.json",)])


def repair(filled_root: Path, before: Copy) -> list[tuple[str, ...]]:
    """As the keeper does it: what comes to light behind a closed folder needs a second look."""
    folder = os.open(filled_root, os.O_RDONLY)
    try:
        first = changes = find_changes(before, copy_tree(folder, SEALED_TREE), SEALED_TREE)
        for _ in range(3):
            for parts in changes:
                restore_place(folder, before, parts)
            changes = find_changes(before, copy_tree(folder, SEALED_TREE), SEALED_TREE)
        assert changes == []
    finally:
        os.close(folder)
    return first


def take(filled_root: Path) -> Copy:
    folder = os.open(filled_root, os.O_RDONLY)
    try:
        return copy_tree(folder, SEALED_TREE)
    finally:
        os.close(folder)


@pytest.fixture
def filled_root(tmp_path: Path) -> Path:
    folder = tmp_path / "filled_root"
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
def test_whatever_was_made_of_it_is_undone(filled_root: Path, attack: str) -> None:
    """Content, modes, links and second names; what lies outside stays as it is."""
    before = take(filled_root)
    assert os.system(f"cd '{filled_root}' && {attack}") == 0
    repair(filled_root, before)
    assert (filled_root / ".git/config").read_text() == "old"
    assert (filled_root / ".git/hooks/pre-commit").stat().st_mode & 0o777 == 0o755
    assert (filled_root / ".git/hooks/deep/link").readlink() == Path("../pre-commit")
    assert not (filled_root / ".git").is_symlink()
    assert not (filled_root / ".claude").is_symlink()
    assert not (filled_root / ".git/commondir").exists()
    assert (filled_root.parent / "outside/config").read_text() == "outside"
    assert [one.name for one in (filled_root.parent / "outside").iterdir()] == ["config"]
    assert not list(filled_root.rglob(".amplifier-*"))


def test_a_second_name_no_longer_leads_to_the_file(filled_root: Path) -> None:
    """What is written through it later changes nothing."""
    before = take(filled_root)
    (filled_root / "second").hardlink_to(filled_root / ".git/config")
    assert repair(filled_root, before) == [(".git", "config")]
    (filled_root / "second").write_text("evil")
    assert (filled_root / ".git/config").read_text() == "old"


def test_what_is_beside_a_place_is_left_alone(filled_root: Path) -> None:
    """The rest of `.git` belongs to git."""
    before = take(filled_root)
    (filled_root / ".git/HEAD").write_text("ref")
    (filled_root / ".git/config").write_text("evil")
    repair(filled_root, before)
    assert (filled_root / ".git/HEAD").read_text() == "ref"


def test_what_was_too_large_to_copy_cannot_be_put_back(filled_root: Path) -> None:
    """And that is said."""
    folder = os.open(filled_root, os.O_RDONLY)
    before = Copy("way", entries={".mcp.json": Copy("large", data=b"digest")})
    try:
        with pytest.raises(SealError, match=r"'\.mcp\.json' is too large"):
            restore_place(folder, before, (".mcp.json",))
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


def disturb(filled_root: Path, chance: random.Random) -> None:
    """One random change of the tree, the sealed places and what leads to them included."""
    names = [".git", ".claude", ".mcp.json", "x"]
    names += [f".git/{one}" for one in ("config", "hooks", "commondir", "hooks/pre-commit", "HEAD")]
    names += [".claude/s.json", ".git/hooks/deep", ".git/hooks/deep/link"]
    path, other = (filled_root / name for name in chance.sample(names, 2))
    target = chance.choice([other, filled_root.parent / "outside"])
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
def test_no_sequence_of_changes_survives(filled_root: Path, seed: int) -> None:
    """Random changes through links, second names and modes; afterwards all is as before."""
    chance = random.Random(seed)
    outside = filled_root.parent / "outside"
    before = take(filled_root)
    for _ in range(chance.randint(1, 12)):
        disturb(filled_root, chance)
    outside.chmod(0o755)
    kept = {one.name: one.lstat().st_ino for one in outside.iterdir()}
    repair(filled_root, before)
    assert take(filled_root) == before
    # Through a link the changes may reach what lies outside; putting back must not.
    assert {one.name: one.lstat().st_ino for one in outside.iterdir()} == kept


TREE: Tree = {".git": {"config": {}, "hooks": {}}}
COPY = Copy(
    "way",
    entries={
        ".git": Copy(
            "way",
            entries={
                "config": Copy("file", 0o644, (1, 2), b"\0\xff", links=2),
                "hooks": Copy("folder", 0o755, entries={"\udcff": Copy("link", data=b"x")}),
            },
        )
    },
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "journals"


def test_what_is_stored_is_what_is_loaded_by_another(tmp_path: Path, home: Path) -> None:
    """Bytes, modes, owners, links and odd names included."""
    SealJournal(tmp_path, home).store(TREE, COPY)
    tree, copy = SealJournal(tmp_path, home).load()
    assert (tree, copy) == (TREE, COPY)
    assert copy.entries[".git"].entries["config"].links == 2


def test_that_of_a_folder_that_is_gone_can_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It alone, and it need not be there."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for name in ("one", "two"):
        SealJournal(tmp_path / name).store(TREE, COPY)
    forget_journal(tmp_path / "one")
    forget_journal(tmp_path / "never")
    assert SealJournal(tmp_path / "one").load() == ({}, ABSENT)
    assert SealJournal(tmp_path / "two").load() == (TREE, COPY)


def test_nothing_empty_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A demonstration leaves the person's data folder as it was."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    SealJournal(tmp_path / "one").store(TREE, COPY)
    forget_journal(tmp_path / "one")
    assert list(tmp_path.iterdir()) == []


def test_each_folder_has_its_own(tmp_path: Path, home: Path) -> None:
    """And a folder without one has stored nothing."""
    SealJournal(tmp_path, home).store(TREE, COPY)
    assert SealJournal(tmp_path / "other", home).load() == ({}, ABSENT)


def test_the_first_is_alone_and_the_second_is_not(tmp_path: Path, home: Path) -> None:
    """The last one to leave closes it."""
    one, other = SealJournal(tmp_path, home), SealJournal(tmp_path, home)
    assert one.begin()
    one.share()
    assert not other.begin()
    one.end()
    assert other.was_left_open()
    other.end()
    assert one.begin()
    assert not one.was_left_open()


def test_a_journal_that_nobody_closed_says_so(tmp_path: Path, home: Path) -> None:
    """The lock goes with the program that held it, the mark stays."""
    killed = SealJournal(tmp_path, home)
    killed.begin()
    killed.share()
    os.close(killed._lock)  # as the kernel does
    later = SealJournal(tmp_path, home)
    assert later.begin()
    assert later.was_left_open()


def test_what_another_stored_is_read_again(tmp_path: Path, home: Path) -> None:
    """And the same is not written twice."""
    one, other = SealJournal(tmp_path, home), SealJournal(tmp_path, home)
    one.store(TREE, COPY)
    before = [path.stat().st_ino for path in home.glob("*.json")]
    other.store(TREE, COPY)
    assert [path.stat().st_ino for path in home.glob("*.json")] == before
    other.store(TREE, ABSENT)
    assert one.load() == (TREE, ABSENT)


def test_a_broken_file_is_as_good_as_none(tmp_path: Path, home: Path) -> None:
    """The copy is then taken anew."""
    journal = SealJournal(tmp_path, home)
    journal.store(TREE, COPY)
    for path in home.glob("*.json"):
        path.write_text('{"tree": 1}')
    assert SealJournal(tmp_path, home).load() == ({}, ABSENT)


def test_without_a_place_for_it_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seals then hold within this program."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    assert open_journal(tmp_path) is None
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert open_journal(tmp_path) is not None
    assert (tmp_path / "data/amplifier/seals").stat().st_mode & 0o777 == 0o700


CONFIG: Parts = (".git", "config")
HOOKS: Parts = (".git", "hooks")
PLACES = frozenset({CONFIG, HOOKS})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / ".git/hooks").mkdir(parents=True)
    (folder / ".git/config").write_text("old")
    return folder


def make_keeper(root: Path) -> SealKeeper:
    """One as another program has it."""
    return SealKeeper(root, SealJournal(root, root.parent / "journals"))


def test_a_second_command_does_not_take_the_firsts_change_for_granted(root: Path) -> None:
    """What counts is what was there before both."""
    keeper = make_keeper(root)
    keeper.begin(PLACES, [])
    (root / ".git/config").write_text("evil")
    keeper.begin(PLACES, [])
    assert keeper.end([]) == Repair((CONFIG,))
    assert keeper.end([]) == Repair()
    assert (root / ".git/config").read_text() == "old"


def test_nor_does_another_program(root: Path) -> None:
    """It shares the copy through the journal, and puts back no change that was undone."""
    one, other = make_keeper(root), make_keeper(root)
    one.begin(PLACES, [])
    (root / ".git/config").write_text("evil")
    other.begin(PLACES, [])
    assert one.end([]) == Repair((CONFIG,))
    assert other.end([]) == Repair()
    assert (root / ".git/config").read_text() == "old"


def test_what_one_was_granted_is_left_to_it_by_the_others(root: Path) -> None:
    """Before it has ended and afterwards."""
    keeper = make_keeper(root)
    keeper.begin(PLACES, [])
    keeper.begin(PLACES, [CONFIG])
    keeper.begin(PLACES, [])
    (root / ".git/config").write_text("granted")
    assert keeper.end([]) == Repair()
    assert keeper.end([CONFIG]) == Repair()
    assert (root / ".git/config").read_text() == "granted"
    (root / ".git/config").write_text("evil")
    assert keeper.end([]) == Repair((CONFIG,))
    assert (root / ".git/config").read_text() == "granted"


def test_another_program_hears_of_what_was_granted(root: Path) -> None:
    """When the command that was granted it has ended."""
    one, other = make_keeper(root), make_keeper(root)
    one.begin(PLACES, [])
    other.begin(PLACES, [CONFIG])
    (root / ".git/config").write_text("granted")
    assert other.end([CONFIG]) == Repair()
    assert one.end([]) == Repair()
    assert (root / ".git/config").read_text() == "granted"


def test_a_grant_covers_one_file_of_a_folder_and_no_other(root: Path) -> None:
    """The hook that was read, not the one beside it."""
    keeper = make_keeper(root)
    keeper.begin(PLACES, [(*HOOKS, "pre-commit")])
    (root / ".git/hooks/pre-commit").write_text("granted")
    (root / ".git/hooks/post-commit").write_text("evil")
    assert keeper.end([(*HOOKS, "pre-commit")]) == Repair((HOOKS,))
    assert [one.name for one in (root / ".git/hooks").iterdir()] == ["pre-commit"]


def test_places_that_are_added_while_a_command_runs_are_taken_then(root: Path) -> None:
    """Those that were known keep what was known of them."""
    keeper = make_keeper(root)
    keeper.begin(frozenset({CONFIG}), [])
    (root / ".git/config").write_text("evil")
    keeper.begin(PLACES, [])
    (root / ".git/hooks/x").touch()
    assert set(keeper.end([]).restored) == {CONFIG, HOOKS}
    keeper.end([])
    assert (root / ".git/config").read_text() == "old"


def test_between_commands_a_person_may_change_everything(root: Path) -> None:
    """The next command starts from what is there."""
    keeper = make_keeper(root)
    keeper.begin(PLACES, [])
    keeper.end([])
    (root / ".git/config").write_text("by hand")
    keeper.begin(PLACES, [])
    assert keeper.end([]) == Repair()
    assert (root / ".git/config").read_text() == "by hand"


def test_a_program_that_was_killed_leaves_word(root: Path) -> None:
    """What changed meanwhile is named by the next one and left as it is."""
    killed = make_keeper(root)
    killed.begin(PLACES, [])
    (root / ".git/config").write_text("evil")
    assert killed.journal is not None
    os.close(killed.journal._lock)  # as the kernel does
    later = make_keeper(root)
    assert later.begin(PLACES, []) == (CONFIG,)
    assert later.end([]) == Repair()
    assert later.begin(PLACES, []) == ()


def test_what_cannot_be_put_back_is_lost_and_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too large to copy: it is only known that it changed."""
    monkeypatch.setattr(seal_copies, "MOST_BYTES", 2)
    keeper = make_keeper(root)
    keeper.begin(PLACES, [])
    (root / ".git/config").write_text("evil")
    (root / ".git/hooks/x").touch()
    assert keeper.end([]) == Repair((HOOKS,), (CONFIG,))


def test_a_command_that_goes_on_changing_is_told_from_one_that_ended(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some attempts it counts as lost."""

    def undo_at_once(folder, before, parts):
        restore_place(folder, before, parts)
        (root / ".git/config").write_text("evil")

    monkeypatch.setattr(keeping, "restore_place", undo_at_once)
    keeper = make_keeper(root)
    keeper.begin(PLACES, [])
    (root / ".git/config").write_text("evil")
    assert keeper.end([]) == Repair((), (CONFIG,))


def test_a_folder_has_one_keeper_in_a_process(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions and sub-agents share it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(root.parent / "data"))
    assert get_keeper(root) is get_keeper(root)
    assert get_keeper(root) is not get_keeper(root.parent)
