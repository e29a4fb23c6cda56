"""Writing where it does harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.guards.bash.situations import list_situations
from amplifier_hooks.guards.bash.unwrap import unwrap_command
from amplifier_hooks.guards.bash.workspace import Workspace
from amplifier_hooks.guards.bash.write_rules import (
    check_device_write,
    check_protected_write,
    check_unknown_write,
)
from amplifier_hooks.guards.command_guard import Config, Judge
from tests.hooks.guards.bash.judging import ask
from tests.hooks.guards.bash.repository import build


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("cat x > /dev/sda", "deny"),
        ("dd if=x of=/dev/sda", "deny"),
        ("cp x /dev/sda", "deny"),
        ("tee a b /dev/sda", "deny"),
        ("shred /dev/sda", "deny"),
        ("cd a; cd b; cd c; cd /dev; echo x > sda", "deny"),
        ("echo > /dev/tcp/host/80", "ask"),
        ("cat < /dev/udp/host/80", "ask"),
        ("ls > /dev/null", None),
        ("ls > /dev/stderr", None),
        ("ls 2>&1", None),
        ("ls >&-", None),
        ("cp /dev/sda x", None),
        ("dd if=/dev/sda of=$x", None),
        ("dd if=/dev/zero", None),
    ],
)
def test_devices(source: str, action: str | None) -> None:
    """A disk is never written to; a few devices are there to be written to."""
    assert ask(check_device_write, source) == action


@pytest.mark.parametrize(
    "source",
    [
        "echo x >> ~/.bashrc",
        "echo x >> /home/me/.bashrc",
        "cp x .git/hooks/pre-commit",
        "mv x ~/.ssh/config",
        "sed -i s/a/b/ ~/.profile",
        "sed --in-place s/a/b/ /etc/hosts",
        "tee /etc/x",
        "> amplifier.yaml",
        "ln -s x /usr/bin/y",
        "rm ~/.ssh/id",
        "tee " + "a " * 201,
        "vim ~/.bashrc",
        "vim $x ~/.bashrc",
        "tool -o/home/me/.bashrc",
        "cd ~/.ssh; tool -ox",
        "tool --output=/home/me/.bashrc",
        "tool --output=~/.bashrc",
        "tool config=.git/config",
        "tool sub/.git/hooks/pre-commit",
        "tool /etc/hosts",
        "git mv x amplifier.yaml",
        "echo x > .codex/hooks.json",
        "tee sub/crush.json",
        "cp x team.code-workspace",
        "echo 'exec x' >> .git/rebase-merge/git-rebase-todo",
        "sqlite3 x '.output .git/hooks/pre-commit' 'select 1'",
        "curl -O https://example.com/.mcp.json",
    ],
)
def test_what_decides_what_runs_later_is_asked_about(source: str) -> None:
    """Start-up files, hooks of git, our own settings, the system; or too many to look at."""
    assert ask(check_protected_write, source) == "ask"


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        ("echo x > .c*/settings.json", True),
        ("truncate -s0 .c*/s*", True),
        ("rm -rf .c*", True),
        ("mv .[c]laude x", True),
        ("cd src; tee ../.c*/settings.json", True),
        ("tee ~/.bash*", True),
        ("rm src/*", False),
        ("truncate -s0 *.txt", False),
        ("tee .d*", False),
    ],
)
def test_a_glob_is_what_it_stands_for(tmp_path: Path, command: str, asked: bool) -> None:
    """Among the files that are there."""
    for name in (".claude/settings.json", "src/a.py", "notes.txt", "home/.bashrc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    judge = Judge(Config(), Workspace(tmp_path, tmp_path / "home"))
    found = [one.rule for one in judge.find_all(command)]
    assert ("protected-write" in found) == asked


@pytest.mark.parametrize(
    "source",
    [
        "echo x > out",
        "sed s/a/b/ ~/.profile",
        "cp ~/.bashrc x",
        "cat ~/.ssh/config",
        "ls > $x",
        "tool out",
        "tool -o",
        "tool -oout",
        "cd ~/.ssh; tool -o",
        "tool '~/.bashrc'",
        "git add amplifier.yaml",
        "tee " + "a " * 200,
    ],
)
def test_reading_and_writing_elsewhere_is_not(source: str) -> None:
    """Only the target counts."""
    assert ask(check_protected_write, source) is None


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("ls > $x", "ask"),
        ("ls >> $(f)", "ask"),
        ("cat < $x", None),
        ("ls > x", None),
        ("cd $x; ls > out", "ask"),
        ("cd $x; tee out", "ask"),
        ("cd $x; ls > /tmp/out", None),
        ("cd $x; ls 2>&1", None),
        ("cd $x; ls > 1", "ask"),
        ("cd $x; tee $y", None),
        ("ls >&-", None),
        ("ls >&$x", "ask"),
        ("cd $x; ls", None),
        ("cd sub; ls > out", None),
    ],
)
def test_a_target_nobody_knows(source: str, action: str | None) -> None:
    """Reading from one is no danger."""
    assert ask(check_unknown_write, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("git switch evil", "ask"),
        ("git switch feature", None),
        ("git pull", None),
        ("git pull https://example.com/x.git main", "ask"),
        ("tar xf evil.tar", "ask"),
        ("tar xf link.tar", "ask"),
        ("tar xf deep.tar", None),
        ("tar xf fine.tar", None),
        ("unzip fine.zip -d out", None),
        ("cp -r dot .claude", "ask"),
        ("cp -r src lib", None),
    ],
)
def test_what_comes_without_being_named(tmp_path: Path, source: str, action: str | None) -> None:
    """Only at the top of the project: further down, a clone has settings of its own, too."""
    workspace = Workspace(build(tmp_path), Path("/home/me"))
    found = map(check_protected_write, list_situations(unwrap_command(source), workspace))
    assert next((one[0] for one in found if one is not None), None) == action
