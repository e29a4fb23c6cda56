"""Commands that run at the same time share what was there before the first of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amplifier_hooks.sandbox.seal import keeper as keeping
from amplifier_hooks.sandbox.seal import reading
from amplifier_hooks.sandbox.seal.copy import Parts
from amplifier_hooks.sandbox.seal.journal import SealJournal
from amplifier_hooks.sandbox.seal.keeper import Repair, SealKeeper, get_keeper
from amplifier_hooks.sandbox.seal.repair import put_back

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
    monkeypatch.setattr(reading, "MOST_BYTES", 2)
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
        put_back(folder, before, parts)
        (root / ".git/config").write_text("evil")

    monkeypatch.setattr(keeping, "put_back", undo_at_once)
    keeper = make_keeper(root)
    keeper.begin(PLACES, [])
    (root / ".git/config").write_text("evil")
    assert keeper.end([]) == Repair((), (CONFIG,))


def test_a_folder_has_one_keeper_in_a_process(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions and sub-agents share it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(root.parent / "data"))
    assert get_keeper(root) is get_keeper(root)
    assert get_keeper(root) is not get_keeper(root.parent)
