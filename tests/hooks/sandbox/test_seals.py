"""Sealed places are after a command what they were before it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from amplifier_hooks.sandbox import seal_copies
from amplifier_hooks.sandbox.process import Seals, explain_restored
from amplifier_hooks.sandbox.seal_copies import SealError

RUNS = ("config", "config.worktree", "hooks", "commondir")
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}


@dataclass(frozen=True)
class Table:
    """Sealed places as the policy lists them."""

    sealed: tuple[Path, ...]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, with our data beside it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name, value in GIT.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def make_table(root: Path) -> Table:
    return Table((*(root / ".git" / name for name in RUNS), root / ".claude/settings.json"))


def run_sealed(root: Path, command: str, *grants: Path) -> list[str]:
    """What was put back after a command."""
    seals = Seals.record(make_table(root), [root], grants)
    subprocess.run(["bash", "-c", command], cwd=root, check=True, capture_output=True)
    return [str(path.relative_to(root)) for path in seals.restore()]


def test_ordinary_work_with_git_changes_nothing_sealed(root: Path) -> None:
    """Commits, branches, worktrees, stashes and rebases of a repository that is there."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    work = (
        "echo a > f && git add f && git commit -qm a && git switch -qc b && echo b > f && "
        "git stash -q && git stash pop -q && git commit -qam b && git rebase -q --root && "
        "git tag t && git gc -q && git status -s"
    )
    assert run_sealed(root, work) == []


def test_a_new_repository_works_without_its_settings(root: Path) -> None:
    """`git init` leaves a repository; its settings and hooks are taken away, and that is said."""
    assert run_sealed(root, "git init -q && git config core.fsmonitor evil") == [
        ".git/config",
        ".git/hooks",
    ]
    assert run_sealed(root, "echo a > f && git add f && git commit -qm a && git log") == []


def test_a_new_repository_stays_whole_where_that_was_granted(root: Path) -> None:
    """Its folder is what the person was asked about."""
    assert run_sealed(root, "git init -q", root / ".git") == []
    assert (root / ".git/config").exists()


@pytest.mark.parametrize(
    "command",
    [
        "git remote add origin https://example.invalid/x",
        "git config core.fsmonitor 'touch /tmp/x'",
        "git config extensions.worktreeConfig true",
        "git branch -q --set-upstream-to=a b",
    ],
)
def test_settings_of_git_are_put_back_unless_granted(root: Path, command: str) -> None:
    """Whatever they say: which of them run programs is git's to know."""
    prepare = "git init -q && git commit -q --allow-empty -m a && git branch a && git branch b"
    subprocess.run(["bash", "-c", prepare], cwd=root, check=True)
    before = (root / ".git/config").read_bytes()
    assert run_sealed(root, command) == [".git/config"]
    assert (root / ".git/config").read_bytes() == before
    assert run_sealed(root, command, root / ".git/config") == []
    assert (root / ".git/config").read_bytes() != before


def test_a_folder_granted_for_something_else_unseals_nothing(root: Path) -> None:
    """Only a sealed place itself, what lies in it, or the `.git` it stands in."""
    for grant in (root, root.parent, root / "src"):
        assert run_sealed(root, "mkdir -p .git && echo x > .git/config", grant) == [".git/config"]
    write = "mkdir -p .claude && echo x > .claude/settings.json"
    assert run_sealed(root, write, root / ".claude") == [".claude/settings.json"]


def test_a_wider_folder_that_one_command_was_granted_shares_the_copy_of_the_others(
    root: Path,
) -> None:
    """It does not take for granted what another has just changed, and seals what it holds more."""
    home = root.parent
    table = Table((*make_table(root).sealed, home / ".bashrc"))
    (root / ".git").mkdir()
    (root / ".git/config").write_text("old")
    one = Seals.record(table, [root])
    (root / ".git/config").write_text("evil")
    same = Seals.record(table, [root, root], [root])
    other = Seals.record(table, [root, home], [home])
    (home / ".bashrc").write_text("evil")
    assert one.restore() == [root / ".git/config"]
    assert same.restore() == []
    assert other.restore() == [home / ".bashrc"]
    assert (root / ".git/config").read_text() == "old"
    assert not (home / ".bashrc").exists()


def test_each_place_belongs_to_the_widest_root(root: Path) -> None:
    """Also where roots lie in one another; places outside of all are the wall's own business."""
    table = Table((root / "sub/.mcp.json", root.parent / "elsewhere"))
    seals = Seals.record(table, [root / "sub", root])
    (root / "sub").mkdir()
    (root / "sub/.mcp.json").touch()
    (root.parent / "elsewhere").touch()
    assert seals.restore() == [root / "sub/.mcp.json"]
    assert (root.parent / "elsewhere").exists()


def test_a_second_restore_does_nothing(root: Path) -> None:
    """So that it can stand in every way out."""
    seals = Seals.record(make_table(root), [root])
    seals.restore()
    (root / ".claude").mkdir()
    (root / ".claude/settings.json").touch()
    assert seals.restore() == []
    assert (root / ".claude/settings.json").exists()


def test_what_cannot_be_put_back_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the place."""
    monkeypatch.setattr(seal_copies, "MOST_BYTES", 2)
    (root / ".git").mkdir()
    (root / ".git/config").write_text("long")
    seals = Seals.record(make_table(root), [root])
    (root / ".git/config").write_text("evil")
    with pytest.raises(SealError, match=r"cannot be put back: .*/\.git/config"):
        seals.restore()


def test_what_cannot_be_watched_stops_the_command(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it starts; the folder is not left occupied."""
    monkeypatch.setattr(seal_copies, "MOST_FILES", 1)
    monkeypatch.setattr(seal_copies, "MOST_STAMPS", 1)
    (root / ".git/hooks").mkdir(parents=True)
    for n in range(3):
        (root / f".git/hooks/{n}").touch()
    with pytest.raises(SealError, match="holds over 1 files"):
        Seals.record(make_table(root), [root])
    monkeypatch.undo()
    monkeypatch.setenv("XDG_DATA_HOME", str(root.parent / "data"))
    assert run_sealed(root, "touch .git/hooks/x") == [".git/hooks"]


def test_another_folder_in_the_roots_place_is_left_alone(root: Path) -> None:
    """What is put back goes into the folder that was there, and the swap is an error."""
    (root.parent / "victim/.git").mkdir(parents=True)
    (root.parent / "victim/.git/config").write_text("theirs")
    seals = Seals.record(make_table(root), [root])
    (root / ".git").mkdir()
    (root / ".git/config").write_text("evil")
    root.rename(root.parent / "moved")
    root.symlink_to("victim")
    with pytest.raises(SealError, match="cannot be put back"):
        seals.restore()
    assert (root.parent / "victim/.git/config").read_text() == "theirs"
    assert not (root.parent / "moved/.git/config").exists()


def test_a_missing_root_is_no_error(root: Path) -> None:
    """Nothing can be changed in it."""
    missing = root / "missing"
    seals = Seals.record(Table((missing / ".git/config",)), [missing])
    assert seals.restore() == []


CHILD = """
import os, sys
from pathlib import Path
from tests.hooks.sandbox.test_seals import make_table
from amplifier_hooks.sandbox.process import Seals
root = Path(sys.argv[1])
Seals.record(make_table(root), [root])
(root / ".git").mkdir()
(root / ".git/config").write_text("evil")
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_program_killed_while_its_command_runs_is_noticed_by_the_next(root: Path) -> None:
    """What changed meanwhile is named once and left: a person may have changed it since."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert child.stdin is not None
    assert child.stdout is not None
    with child:
        assert child.stdout.readline() == b"ready\n"
        child.send_signal(signal.SIGKILL)
    seals = Seals.record(make_table(root), [root])
    assert seals.left_changed == (root / ".git/config",)
    assert seals.restore() == []
    assert Seals.record(make_table(root), [root]).left_changed == ()


def test_many_commands_at_once_leave_what_was_there(root: Path) -> None:
    """Each changes something sealed while the others begin and end."""
    (root / ".git/hooks").mkdir(parents=True)
    (root / ".git/config").write_text("old")

    def work(number: int) -> None:
        for step in range(8):
            seals = Seals.record(make_table(root), [root])
            (root / ".git/config").write_text(f"evil {number} {step}")
            (root / f".git/hooks/{number}-{step}").touch()
            seals.restore()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (root / ".git/config").read_text() == "old"
    assert list((root / ".git/hooks").iterdir()) == []


def test_the_line_for_the_agent_says_how_to_ask(root: Path) -> None:
    """With the paths, and the field that asks for them."""
    line = explain_restored([root / ".git/config"])
    assert str(root / ".git/config") in line
    assert "needs.write" in line
