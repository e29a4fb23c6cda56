"""All checks together: what is denied, however it is wrapped."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.bash import (
    LISTED,
    RULES,
    CommandPattern,
    Finding,
    ListedCommand,
    Workspace,
    find_dangers,
    unwrap_command,
)
from amplifier_hooks.guards.bash.dangers import (
    check_deletion,
    check_discarding,
    check_environment,
    check_privileges,
    check_rights,
    check_shell_setup,
    check_unknown_program,
)
from amplifier_hooks.guards.command_guard import Config, Judge
from tests.hooks.guards.bash.commands import DENIED, LET_PASS
from tests.hooks.guards.bash.judging import ask
from tests.hooks.guards.bash.repository import git
from tests.support.isolation import isolate, require_isolation

WORK = Path("/project")


def judge(command: str, work: Path = WORK, off: frozenset[str] = frozenset()) -> list[Finding]:
    script = unwrap_command(command)
    workspace = Workspace(work, Path("/home/me"))
    return [finding for _, finding in find_dangers(script, workspace, LISTED, off)]


def denies(command: str) -> bool:
    return any(finding.action == "deny" for finding in judge(command))


@pytest.mark.parametrize("command", DENIED)
def test_what_is_known_to_ruin_things_is_denied(command: str) -> None:
    """Deleting the system, formatting, downloaded code, forced pushes, however wrapped."""
    assert denies(command), judge(command)


@pytest.mark.parametrize("command", LET_PASS)
def test_nothing_speaks_against_everyday_commands(command: str, tmp_path: Path) -> None:
    """Neither a finding nor a doubt: otherwise people would be asked all day."""
    assert judge(command, tmp_path) == []
    assert unwrap_command(command).unclear == ()


WRAPPERS = [
    "sudo {}", "env {}", "env A=1 {}", "nohup {}", "timeout 5 {}", "time {}", "command {}",
    "nice -n 3 {}", "setsid {}", "exec {}", "(  {} )", "{{ {}; }}", "if true; then {}; fi",
    "for i in 1; do {}; done", "while true; do {}; done", "f() {{ {}; }}", "echo $({})",
    "echo `{}`", "ls; {}", "ls && {}", "ls || {}", "ls | {}", "! {}", "{} &", "{} # comment",
    "x=$({})", "cat <({})", "case a in a) {};; esac", "bash <<EOF\n{}\nEOF\n", "find . -exec {} +",
    "echo 1 | xargs {}", "coproc {}", "stdbuf -oL {}", "\n\n{}\n", "ls\n{}", "eval '{}'",
    "bash -c '{}'", "sh -c \"{}\"", "trap '{}' EXIT", "busybox {}",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(WRAPPERS), max_size=4), st.sampled_from(["rm -rf /", "mkfs /dev/sda"])
)
def test_no_stack_of_wrappings_lets_a_denied_command_pass(wrappers: list[str], core: str) -> None:
    """Wrapped in whatever runs or contains commands, a denied one is denied or in doubt."""
    command = core
    for wrapper in wrappers:
        quoted = "'" in wrapper or '"' in wrapper
        if quoted and any(sign in command for sign in "'\"`$\\"):
            continue
        if "`" in wrapper and "`" in command:
            continue  # unescaped, the inner one would end the outer one
        if "$({})" in wrapper and command.startswith("("):
            continue  # together they would begin an arithmetic expression, which runs nothing
        command = wrapper.format(command)
    doubted = bool(wrappers) and bool(unwrap_command(command).unclear or judge(command))
    assert denies(command) or doubted, command


@given(st.text(max_size=200))
def test_any_text_can_be_judged(command: str) -> None:
    """No text makes a check raise, and every finding names a rule that can be switched off."""
    assert {finding.rule for finding in judge(command)} <= RULES


@pytest.mark.parametrize(
    "command",
    ["rm -rf " + "a " * 4_000, "cd a; " * 200 + "rm -rf " + "a " * 200, "tee " + "a " * 1_000],
    ids=["words", "directories", "targets"],
)
def test_too_many_words_are_asked_about_at_once(command: str) -> None:
    """A command of thousands of words costs neither seconds nor an answer."""
    start = time.perf_counter()
    assert {finding.action for finding in judge(command)} == {"ask"}
    assert time.perf_counter() - start < 5


def test_a_rule_that_is_off_finds_nothing() -> None:
    """Both kinds of rules, checks and lists, are switched off by name."""
    rules = ["recursive-delete", "protected-write"]
    assert [finding.rule for finding in judge("rm -rf /")] == rules
    assert judge("rm -rf /", off=frozenset(rules)) == []
    assert judge("mkfs x", off=frozenset({"format"})) == []


def test_findings_come_in_the_order_of_the_commands() -> None:
    """Each finding has the text of the command it is about."""
    found = judge("sudo ls; git reset --hard")
    assert [(one.rule, one.command) for one in found] == [
        ("privileges", "sudo ls"),
        ("git-reset", "git reset --hard"),
    ]


def test_lists_of_ones_own_are_looked_at_too() -> None:
    """The caller hands in the list, so that it can be longer than the built-in one."""
    own = ListedCommand("deny", "own", CommandPattern.read("deploy prod"), "not on a Friday")
    workspace = Workspace(WORK, Path("/home/me"))
    script = unwrap_command("sudo deploy prod")
    found = [finding for _, finding in find_dangers(script, workspace, (own,), frozenset())]
    assert ("deny", "not on a Friday") in [(one.action, one.reason) for one in found]


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("rm -rf /", "deny"),
        ("rm -r ~", "deny"),
        ("rm -rf /home/me", "deny"),
        ("rm --recur /etc", "deny"),
        ("rm -rf --no-preserve-root x", "deny"),
        ("rm -rf .", "ask"),
        ("rm -rf $x", "ask"),
        ("rm -rf /home/me/other", "ask"),
        ("rm -rf -- -x", None),
        ("rm -rf build", None),
        ("rm -rf /tmp/x", None),
        ("rm -f /etc/passwd", "ask"),  # not recursive; the check of protected writes sees it
        ("rm", None),
        ("rm -r", None),
        ("find / -delete", "deny"),
        ("find -L / -delete", "deny"),
        ("find . -delete", "ask"),
        ("find -delete", "ask"),
        ("find . -name x -delete", None),
        ("find / -name x -delete", "deny"),
        ("find / -type f -delete", "deny"),
        ("find . -name x", None),
        ("ls -r /", None),
        ("grep -delete /", None),
        ("rm -- /etc/x", "ask"),
        ("rm --r /etc", "deny"),
        ("rm - /etc", "ask"),
    ],
)
def test_how_bad_a_deletion_is_depends_on_the_place(source: str, action: str | None) -> None:
    """The system is denied, one's own work asked about, what is below it let pass."""
    assert ask(check_deletion, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("chmod -R 777 /", "deny"),
        ("chown --recursive me /usr", "deny"),
        ("chgrp -R x .", "ask"),
        ("chmod -R 700 $x", "ask"),
        ("chmod -R 700 sub", None),
        ("chmod 777 /", None),
        ("chmod -R 777", None),
        ("ls -R /", None),
    ],
)
def test_rights_of_whole_trees(source: str, action: str | None) -> None:
    """The first argument is the mode or the owner, the others are places."""
    assert ask(check_rights, source) == action


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
KEEPS_WORK = [
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


@pytest.mark.parametrize("source", KEEPS_WORK)
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
        ("git switch -C main HEAD~1", True),
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
    git(tmp_path, "commit", "-qm", "none")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    git(tmp_path, "checkout", "-q", "-b", "other")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "two")
    git(tmp_path, "checkout", "-q", "main")
    assert is_asked(tmp_path, command) == asked


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("rm -r .git/refs", "ask"),
        ("rm .git/packed-refs", "ask"),
        (": > .git/HEAD", "ask"),
        ("rm -rf sub/.git/objects", "ask"),
        ("rm -f .git/index.lock", None),
        ("echo x >> .git/info/exclude", None),
        ("cat < .git/HEAD", None),
    ],
)
def test_what_git_keeps_history_in(source: str, action: str | None) -> None:
    """The same as `git branch -D`, without git."""
    assert ask(check_discarding, source) == action


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        ("redis-cli <<< flushall", True),
        ("echo flushall | redis-cli", True),
        ("psql <<'E'\ndrop table x;\nE", True),
        ("printf 'drop table x' | mysql", True),
        ("echo 'drop table x'; psql -c 'select 1'", False),
        ("cat x.sql | redis-cli", False),
    ],
)
def test_a_database_does_what_its_input_says(tmp_path: Path, command: str, asked: bool) -> None:
    """As far as the input stands in the command."""
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
    return bool(Judge(Config(), Workspace(folder, folder / "home")).find_all(command))


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


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("PATH=/x ls", "ask"),
        ("PATH=/x", "ask"),
        ("export LD_PRELOAD=x", "ask"),
        ("env GIT_SSH_COMMAND=x git fetch", "ask"),
        ("sudo BASH_ENV=x ls", "ask"),
        ("declare PS4=x", "ask"),
        ('export "$x"', "ask"),
        ("X=1 make", None),
        ("echo PATH=x", None),
        ("export FOO=bar", None),
        ("env FOO=1 make", None),
    ],
)
def test_variables_that_make_programs_run_others(source: str, action: str | None) -> None:
    """Set before a command, by itself, or by a command that sets variables."""
    assert ask(check_environment, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [("sudo ls", "ask"), ("su -c ls", "ask"), ("/usr/bin/doas ls", "ask"), ("ls sudo", None)],
)
def test_rights_of_somebody_else(source: str, action: str | None) -> None:
    """Whatever is run with them."""
    assert ask(check_privileges, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("$x", "ask"),
        ("~", "ask"),
        ("~/bin/x", None),
        ("./r*", "ask"),
        ("$(f) a", "ask"),
        ("./x", None),
    ],
)
def test_a_program_nobody_can_name(source: str, action: str | None) -> None:
    """Variables, globs and substitutions in the first place."""
    assert ask(check_unknown_program, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("alias ls=x", "ask"),
        ("hash -p /tmp/x ls", "ask"),
        ("hash -r", None),
        ("hash", None),
        ("shopt -s expand_aliases", "ask"),
        ("shopt", None),
        ("declare -n x=y", "ask"),
        ("local -i x=y", "ask"),
        ("declare -r x=y", None),
        ("unset -n x", None),
        ("export -n x", None),
        ("sort -n x", None),
        ("set -k", "ask"),
        ("set -H", "ask"),
        ("set -o posix", "ask"),
        ("set -o vi", "ask"),
        ("set -e", None),
        ("set -o pipefail", None),
        ("grep -H posix", None),
        ("$x", None),
    ],
)
def test_what_changes_how_the_shell_reads_its_commands(source: str, action: str | None) -> None:
    """Names for other programs, names with a meaning of their own, odd options; nothing else."""
    assert ask(check_shell_setup, source) == action
