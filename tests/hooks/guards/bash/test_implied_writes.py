"""Files that a command would write without naming them."""

from __future__ import annotations

import gzip
import os
import tarfile
import time
from pathlib import Path

import pytest

from tests.hooks.guards.bash.repository import SETTINGS, build, git, look_up, write


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("project"))


BRINGS = [
    "git switch evil",
    "git switch gone",
    "git checkout evil",
    "git checkout -b new evil",
    "git checkout evil -- .claude",
    "git checkout evil .",
    "git -C . checkout evil",
    "git merge evil",
    "git rebase evil",
    "git cherry-pick evil",
    "git reset --hard evil",
    "git read-tree -u --reset evil",
    "git restore --source=evil .",
    "git restore -s evil -- .claude/settings.json",
    "git merge -",
    "git pull . evil",
    "git sparse-checkout set src",
    "git fetch . evil:refs/heads/new && git checkout new",
    "git branch new evil; git switch new",
    "git symbolic-ref HEAD refs/heads/evil; git stash",
    "git reset -q evil && git checkout -- .",
    "git archive evil | tar x",
    "cat evil.tar | tar x",
    "zcat evil.tgz | tar x",
    "tar x < evil.tar",
    "cpio -idu < evil.cpio",
    "cat evil.cpio | cpio -i",
    "pax -r -f evil.tar",
    "bsdcpio -i < evil.tar",
    "cmake -E tar xf evil.tar",
    "unar evil.zip",
    "ouch d evil.zip",
    "ditto -xk evil.zip .",
    "gnuplot -e \"set output '.claude/settings.json'\"",
    "git stash pop",
    "git stash apply stash@{0}",
    "git worktree add inside evil",
    f"git update-index --add --cacheinfo 100644,abc,{SETTINGS}",
    f"git update-index --cacheinfo 100644 abc {SETTINGS}",
    "bash -c 'git switch evil'",
    "tar xf evil.tar",
    "tar xzf evil.tgz",
    "tar -xJf evil.txz",
    "tar --extract --file=evil.tar",
    "tar x < evil.tar",
    "tar xf deep.tar --strip-components=1",
    "tar xf deep.tar",
    "tar xf link.tar",
    "bsdtar -xf evil.zip",
    "unzip -o evil.zip",
    "unzip evil.zip -d out",
    "jar xf evil.zip",
    "7z x evil.zip",
    "python3 -m tarfile -e evil.tar",
    "python -m zipfile -e evil.zip .",
    "tar cf a.tar --transform 's,README,.claude/settings.json,' README",
    "bsdtar -cf a.tar -s ,README,.claude/settings, README",
    "patch -p1 < evil.patch",
    "git apply evil.patch",
    "git am < evil.patch",
    "patch <<'EOF'\n--- a/.claude/settings.json\n+++ b/.claude/settings.json\nEOF",
    "cp dot/settings.json .claude",
    "cp -r dot .claude",
    "cp -t .claude dot/settings.json",
    "mv dot .claude",
    "ln -s dot .claude",
    "rsync -a dot/ .claude/",
    "install dot/* .claude",
    "git mv dot .claude",
    "curl --output-dir .claude -O https://example.com/settings.json",
    "wget -P .claude https://example.com/settings.json",
    "sqlite3 :memory: '.output .claude/settings.json' 'select 1'",
    "sqlite3 x \"select writefile('.claude/settings.json', 1)\"",
    "ed -s x <<< 'w .claude/settings.json'",
    "vim -c 'w! .claude/settings.json' README",
    "awk 'BEGIN { print > \".claude/settings.json\" }'",
    "rename README .claude/settings README",
    r"rename 's/README/.claude\/settings.json/' README",
    "mmv README .claude/settings.json",
]
BRINGS_NOTHING = [
    "git switch same",
    "git fetch origin main && git merge origin/main",
    "git branch new feature && git switch new",
    "git pull . feature",
    "git sparse-checkout list",
    "git archive evil -o x.tar",
    "git archive feature | tar x -C out",
    "cat fine.tar | tar x",
    "cat evil.tar | sha256sum",
    "cpio -idu < fine.cpio",
    "cpio -t < evil.cpio",
    "cmake --build build",
    "ouch compress src x.tar",
    "git switch feature",
    "git switch -c new",
    "git checkout feature",
    "git checkout -b new",
    "git checkout",
    "git checkout evil -- src",
    "git checkout evil src/a.py",
    "git merge feature",
    "git rebase feature",
    "git cherry-pick feature",
    "git pull",
    "git pull origin main",
    "git reset evil",
    "git reset --hard feature",
    "git checkout -- README",
    "git checkout -- .",
    "git restore .",
    "git restore --staged --source=evil .",
    "git stash",
    "git stash list",
    "git worktree add ../elsewhere evil",
    "git log evil",
    "git diff evil",
    "git switch unknown",
    "git --git-dir=/x checkout evil",
    "tar xf fine.tar",
    "tar xzf missing.tgz",
    "tar tf evil.tar",
    "tar cf new.tar .claude",
    "unzip -l evil.zip",
    "unzip fine.zip -d out",
    "cp -r .claude /tmp/elsewhere",
    "cp -r src lib",
    "mv README NOTES",
    "patch -p1 < fine.patch",
    "curl -O https://example.com/data.json",
    "sqlite3 x.db 'select * from settings'",
    "python3 -c 'print(1)'",
]


@pytest.mark.parametrize("command", BRINGS)
def test_what_would_come_is_found(scene: Path, command: str) -> None:
    """Out of a commit, the stash, an archive, a patch, a folder, an address, a script."""
    assert look_up(scene, command).writes


@pytest.mark.parametrize("command", BRINGS_NOTHING)
def test_what_changes_none_of_these_files_is_let_be(scene: Path, command: str) -> None:
    """Ordinary work is not held up: what is the same as on disk is not written."""
    found = look_up(scene, command)
    assert not found.writes
    assert not found.doubts


@pytest.mark.parametrize(
    "command", ["git checkout -- .", "git restore .", "git checkout-index -af"]
)
def test_what_waits_in_the_index_is_found(tmp_path: Path, command: str) -> None:
    """Plumbing puts it there without a file."""
    scene = build(tmp_path)
    blob = git(scene, "hash-object", "-w", "evil.patch")
    assert not look_up(scene, command).writes
    git(scene, "update-index", "--add", "--cacheinfo", f"100644,{blob},{SETTINGS}")
    assert look_up(scene, command).writes
    assert not look_up(scene, "git checkout -- src").writes


@pytest.mark.parametrize(
    "command",
    [
        "git branch x $(git commit-tree y -m z) && git merge x",
        "git update-ref refs/heads/x abc; git switch x",
        "git pull ../other main",
        "git pull https://example.com/x.git main",
    ],
)
def test_what_only_running_it_would_tell_is_said(scene: Path, command: str) -> None:
    """A revision that the same command makes, and a repository that is not known here."""
    assert look_up(scene, command).doubts


def test_a_copy_elsewhere_counts_only_where_it_replaces_something(tmp_path: Path) -> None:
    """A backup of a project is nobody's settings, but the settings of another project are."""
    scene, other = build(tmp_path / "project"), tmp_path / "other"
    assert not look_up(scene, f"cp -r . {other}").writes
    write(other / SETTINGS, "{}")
    assert look_up(scene, f"cp -r . {other}").writes


def test_an_archive_is_read_only_so_far(tmp_path: Path) -> None:
    """What unpacks to more than anybody would wait for is a doubt, not a wait."""
    bomb = tmp_path / "bomb.tgz"
    big = tarfile.TarInfo("zeros")
    big.size = 1 << 33
    with gzip.open(bomb, "wb", compresslevel=1) as file:
        file.write(big.tobuf())
        for _ in range(600):
            file.write(bytes(1 << 20))
    since = time.monotonic()
    found = look_up(tmp_path, "tar xzf bomb.tgz")
    assert found.doubts
    assert time.monotonic() - since < 20


def test_pipes_and_broken_archives_keep_nobody_waiting(tmp_path: Path) -> None:
    """They are no archives that could be read."""
    os.mkfifo(tmp_path / "pipe.tar")
    (tmp_path / "broken.zip").write_bytes(b"PK\3\4broken")
    (tmp_path / "broken.tgz").write_bytes(b"\x1f\x8bbroken")
    for command in (
        "tar xf pipe.tar",
        "unzip broken.zip",
        "tar xzf broken.tgz",
        "patch -i pipe.tar",
    ):
        assert look_up(tmp_path, command).writes == frozenset()
