"""Git commands that discard work as a whole, by whatever words."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.guards.bash import Place
from amplifier_hooks.guards.bash.danger.discarding import check_discarding
from amplifier_hooks.guards.command_guard import Config, Judge
from tests.hooks.guards.bash.danger.judging import ask
from tests.hooks.guards.bash.unnamed.scene import git
from tests.support.isolation import isolate, require_isolation

ASKED = [
    "git checkout .",
    "git checkout -- .",
    "git checkout HEAD -- .",
    "git checkout HEAD~3 -- :/",
    "git checkout -- '*'",
    "git checkout -- *",
    "git -C . checkout -- .",
    "git restore .",
    "git restore -SW .",
    "git restore --staged --worktree .",
    "git restore --source=HEAD~1 ./",
    "git restore ':!keep'",
    "git restore --pathspec-from-file=x",
    "git checkout-index -f -a",
    "git checkout-index --force --all",
    "git rm -rfq .",
    "git rm -r ':/'",
    "git rm -f '*'",
    "cd $x && git switch -C main HEAD~3",
    "git -C sub checkout -B main",
    "git prune",
    "git-checkout -- .",
]
LET_PASS = [
    "git checkout main",
    "git checkout -b new",
    "git checkout -- one.py",
    "git checkout HEAD -- one.py src/two.py",
    "git checkout -p .",
    "git -C sub checkout main",
    "git -C sub switch main",
    "git restore one/file",
    "git restore --staged .",
    "git rm -r --cached .",
    "git rm -r old",
    "git checkout-index -f one.py",
    "git remote prune origin",
    "git worktree prune",
    "git prune -n",
    "git $x",
    "git",
    "hub checkout .",
]


@pytest.mark.parametrize("source", ASKED)
def test_the_whole_working_tree_is_asked_about(source: str) -> None:
    """It does what `git reset --hard`, `rm -r .` or `git branch -D` does."""
    assert ask(check_discarding, source) == "ask"


@pytest.mark.parametrize("source", LET_PASS)
def test_a_file_or_the_index_is_not(source: str) -> None:
    """Ordinary work, of which not much can be lost."""
    assert ask(check_discarding, source) is None


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        ("git branch -M other", True),
        ("git branch -C main other", True),
        ("git branch -m -f main other", True),
        ("git checkout -B other", True),
        ("git switch -C other HEAD~1", True),
        ("git branch -M main", False),
        ("git branch -M new", False),
        ("git checkout -B new", False),
        ("git switch -C main", False),
        ("git branch -m other better", False),
    ],
)
def test_a_branch_that_would_be_put_somewhere_else(
    tmp_path: Path, command: str, asked: bool
) -> None:
    """Only one that is there, and not where the new one would be: `-M main` is in every guide."""
    (tmp_path / "file").write_text("x")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "checkout", "-q", "-b", "other")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "two")
    git(tmp_path, "checkout", "-q", "main")
    assert is_asked(tmp_path, command) == asked


# Without those of the test above, which depend on the branches that there are.
SUBCOMMANDS = {
    "branch": ["-d", "-D", "-f", "-m", "--delete", "--force", "-q"],
    "checkout": ["-f", "-q", "-m", "--ours", "--detach", "--orphan=x", "--no-overlay"],
    "checkout-index": ["-f", "-a", "-u", "-q", "--all", "--force"],
    "clean": ["-f", "-d", "-x", "-n", "-q"],
    "gc": ["--prune=now", "--prune=all", "--auto", "-q"],
    "merge": ["-q", "--no-edit", "--abort", "-X theirs"],
    "prune": ["-n", "--expire=now"],
    "read-tree": ["-u", "-m", "--reset"],
    "reflog": ["expire", "delete", "--expire=now", "--expire-unreachable=now", "show"],
    "repack": ["-a", "-d", "-A", "-q"],
    "reset": ["--hard", "--soft", "--merge", "--keep", "--mixed", "-q"],
    "restore": ["-S", "-W", "--staged", "--worktree", "--source=HEAD", "-q"],
    "rm": ["-r", "-f", "-q", "--cached", "-n"],
    "stash": ["push", "drop", "clear", "list", "-q"],
    "switch": ["-f", "-q", "--detach", "--discard-changes", "-m"],
    "symbolic-ref": ["-d", "--delete"],
    "tag": ["-d", "-f", "--delete", "--force", "-l"],
    "update-ref": ["-d", "--no-deref"],
    "worktree": ["prune", "list"],
}
TARGETS = ["", ".", "./", ":/", "'*'", "HEAD", "HEAD .", "HEAD -- .", "-- .", "HEAD -- :/"]
TARGETS += ["one", "-- one", "other", "kept", "--all", "refs/heads/other", "refs/tags/kept"]
TARGETS += ["other HEAD", "kept HEAD", "refs/heads/other HEAD", "--expire=now --all"]


def generate(seed: int, count: int) -> list[str]:
    """Commands of git, with up to two options and any target."""
    every = [
        " ".join(["git", name, *flags, target]).strip()
        for name, options in SUBCOMMANDS.items()
        for size in (0, 1, 2)
        for flags in itertools.combinations(options, size)
        for target in TARGETS
    ]
    return random.Random(seed).sample(every, count)


RUNNER = """
import json, os, shutil, subprocess, sys
from pathlib import Path
base = Path(sys.argv[1])
who = {f"GIT_{a}_{b}": "x" for a in ("AUTHOR", "COMMITTER") for b in ("NAME", "EMAIL")}
env = {"PATH": os.environ["PATH"], "HOME": str(base), "GIT_EDITOR": "true", **who}
def git(folder, *words):
    ran = subprocess.run(["git", *words], cwd=folder, env=env, capture_output=True, text=True)
    return ran.stdout.strip()
def fill(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
first = base / "first"
first.mkdir()
git(first, "init", "-q", "-b", "main")
names = ("one", "sub/two", "staged")
for name in names:
    fill(first / name, "old\\n")
git(first, "add", "-A")
git(first, "commit", "-qm", "first")
for name in ("other", "kept", "lost"):
    git(first, "checkout", "-q", "-b", name, "main")
    fill(first / name, name)
    git(first, "add", "-A")
    git(first, "commit", "-qm", name)
    git(first, "checkout", "-q", "main")
commits = {name: git(first, "rev-parse", name) for name in ("other", "kept", "lost")}
git(first, "tag", "kept-tag", "kept")
git(first, "branch", "-qD", "kept")
git(first, "tag", "kept", "kept-tag")
git(first, "tag", "-d", "kept-tag")
git(first, "checkout", "-q", commits["lost"])
git(first, "checkout", "-q", "main")
git(first, "branch", "-qD", "lost")
fill(first / "one", "STASHED\\n")
git(first, "stash", "-q")
for name in names:
    fill(first / name, f"NEW {name}\\n")
git(first, "add", "staged")
def is_kept(folder, text):
    files = [one for one in folder.rglob("*") if ".git" not in one.parts and one.is_file()]
    if any(text in one.read_text(errors="replace") for one in files):
        return True
    # The stash is what `git stash` makes of it, and a commit what `git commit` does.
    return bool(git(folder, "log", "--all", "--reflog", "-m", "-S", text, "--format=%h"))
for number, command in enumerate(json.load(sys.stdin)):
    copy = base / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(first, copy)
    subprocess.run(command, shell=True, cwd=copy, env=env, capture_output=True, timeout=60,
                   stdin=subprocess.DEVNULL)
    lost = []
    if not any(is_kept(copy, f"NEW {name}") for name in ("one", "sub/two")):
        lost.append("all uncommitted work")
    if not is_kept(copy, "STASHED"):
        lost.append("the stash")
    named = git(copy, "rev-list", "--all").split()
    lost += [name for name in ("other", "kept") if commits[name] not in named]
    if not git(copy, "cat-file", "-t", commits["lost"]):
        lost.append("what the reflog finds")
    if lost:
        print(json.dumps([command, lost]))
print("done")
"""


def run_all(folder: Path, commands: list[str]) -> list[str]:
    """What each of the commands loses, by running them."""
    require_isolation()
    program = isolate([sys.executable, "-I", "-c", RUNNER, str(folder)], writable=[folder])
    ran = subprocess.run(
        program, input=json.dumps(commands), capture_output=True, text=True, timeout=600
    )
    *lines, last = ran.stdout.splitlines() or [""]
    assert last == "done", ran.stderr[-2000:]
    return lines


def is_asked(folder: Path, command: str) -> bool:
    return bool(Judge(Config(), Place(folder, folder / "home")).find_all(command))


def test_what_passes_discards_nothing_as_a_whole(tmp_path: Path) -> None:
    """Generated commands that the guard lets through, run in a repository with work in it."""
    commands = generate(1, 400)
    passed = [command for command in commands if not is_asked(tmp_path, command)]
    assert len(passed) > 100
    assert run_all(tmp_path, passed) == []


def test_the_runner_sees_what_is_lost(tmp_path: Path) -> None:
    """Commands that are asked about, so that the test above is known to see it."""
    commands = ["git reset --hard", "git restore .", "git branch -D other", "git tag -d kept"]
    commands += [
        "git stash clear",
        "git read-tree -u --reset HEAD",
        "git update-ref -d refs/tags/kept",
    ]
    commands += ["git reflog expire --expire=now --all; git gc -q --prune=now"]
    assert all(is_asked(tmp_path, command) for command in commands)
    assert len(run_all(tmp_path, commands)) == len(commands)
