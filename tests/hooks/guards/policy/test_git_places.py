"""What makes git run programs is found in, around and below a folder."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from amplifier_hooks.guards.policy.git_places import follow_settings, list_git_places

ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "protocol.file.allow=always", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit."""
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def list_in(root: Path) -> set[str]:
    found = list_git_places(root, root.parent / "home")
    return {os.path.relpath(path, root) for path in found}


def test_a_folder_is_watched_before_it_is_a_repository(tmp_path: Path) -> None:
    """So that `git init` cannot bring hooks along."""
    expected = {".git/config", ".git/config.worktree", ".git/hooks", ".git/commondir"}
    assert list_in(tmp_path) == expected


def test_the_repository_around_a_folder_counts(repository: Path) -> None:
    """Its hooks run in the folder too."""
    (repository / "sub").mkdir()
    assert {"../.git/hooks", "../.git/config"} <= list_in(repository / "sub")


def test_worktrees_and_submodules_count(repository: Path, tmp_path: Path) -> None:
    """A worktree's pointer, the common directory, and each directory inside it."""
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    git(repository, "submodule", "add", "-q", str(repository), "lib/part")
    main = list_in(repository)
    assert {".git/worktrees/tree/commondir", ".git/worktrees/tree/config.worktree"} <= main
    assert {".git/modules/lib/part/config", ".git/modules/lib/part/hooks", "lib/part/.git"} <= main
    tree = list_in(tmp_path.resolve() / "tree")
    assert {".git", "../project/.git/hooks", "../project/.git/config"} <= tree


def test_repositories_further_down_count(repository: Path) -> None:
    """A folder of several projects is a usual place to start from."""
    below = repository / "vendor" / "tool"
    below.mkdir(parents=True)
    git(below, "init", "-q")
    assert {"vendor/tool/.git/hooks", "vendor/tool/.git/config"} <= list_in(repository)


def test_settings_name_more_files(repository: Path) -> None:
    """What is included, by whatever way, and the folder of hooks."""
    (repository / "team.ini").write_text('[core]\n\thooksPath = ".hooks"\n')
    git(repository, "config", "include.path", "../team.ini")
    git(repository, "config", "includeIf.onbranch:x.path", "~/other")
    found = list_in(repository)
    assert {"team.ini", ".hooks", "../home/other"} & {os.path.normpath(one) for one in found} == {
        "team.ini",
        ".hooks",
        "../home/other",
    }


def test_settings_that_include_one_another_come_to_an_end(tmp_path: Path) -> None:
    """A circle is walked once."""
    (tmp_path / "a").write_text("[include]\npath = b\n")
    (tmp_path / "b").write_text("[include]\npath = a\n")
    assert follow_settings([tmp_path / "a"], tmp_path, tmp_path) == [tmp_path / "b", tmp_path / "a"]


@pytest.mark.parametrize("kind", ["pipe", "folder", "bytes", "loop"])
def test_odd_things_in_its_place_are_harmless(tmp_path: Path, kind: str) -> None:
    """Nothing waits and nothing raises."""
    pointer = tmp_path / ".git"
    if kind == "pipe":
        os.mkfifo(pointer)
    elif kind == "folder":
        (pointer / "config").mkdir(parents=True)
    elif kind == "bytes":
        pointer.write_bytes(b"gitdir: \xff\0\n\n")
    else:
        pointer.symlink_to(".git")
    assert ".git/hooks" in list_in(tmp_path)


def test_a_redirected_common_directory_would_run_programs(repository: Path) -> None:
    """Why `commondir` is in the table: git takes its settings from wherever that file says."""
    elsewhere = repository / "elsewhere"
    elsewhere.mkdir()
    for part in ("objects", "refs"):
        (repository / ".git" / part).rename(elsewhere / part)
    ran = repository / "ran"
    (elsewhere / "config").write_text(f'[core]\n\tfsmonitor = "touch {ran}; false #"\n')
    (repository / ".git" / "commondir").write_text("../elsewhere\n")
    git(repository, "status", "-s")
    assert ran.exists()
