"""Git commands, read without trusting the repository that they run in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.guards.bash import Workspace
from amplifier_hooks.guards.command_guard import Config, Judge
from tests.hooks.guards.bash.repository import build, git, look_up
from tests.support.isolation import isolate, require_isolation

SETTINGS = """
[core]
	fsmonitor = "touch {mark}/fsmonitor; false"
	hooksPath = {mark}/hooks
	pager = "touch {mark}/pager; cat"
	editor = "touch {mark}/editor"
	sshCommand = "touch {mark}/ssh"
	gitProxy = "touch {mark}/proxy"
	askPass = "touch {mark}/askpass"
	alternateRefsCommand = "touch {mark}/alternate"
	untrackedCache = true
[alias]
	ls-tree = "!touch {mark}/alias"
	rev-parse = "!touch {mark}/alias"
[pager]
	ls-tree = "touch {mark}/pager; cat"
[filter "x"]
	clean = "touch {mark}/clean; cat"
	smudge = "touch {mark}/smudge; cat"
	process = "touch {mark}/process"
[diff "x"]
	textconv = "touch {mark}/textconv; cat"
	command = "touch {mark}/diff"
[diff]
	external = "touch {mark}/external"
[merge "x"]
	driver = "touch {mark}/merge"
[credential]
	helper = "!touch {mark}/credential"
[gpg]
	program = {mark}/gpg
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[extensions]
	partialClone = origin
[remote "origin"]
	url = "ext::sh -c touch% {mark}/fetched"
	promisor = true
	partialclonefilter = blob:none
[include]
	path = {mark}/more
"""
READER = """
import json, sys, time
from pathlib import Path
from amplifier_hooks.guards.bash.git import open_repository
folder = Path(sys.argv[1])
reader = open_repository(folder, time.monotonic() + 30)
found = {name: reader.find_revision(name) for name in ("evil", "HEAD", "missing")}
trees = [reader.read_tree(source, lambda path: True) for source in ("evil", ":", sys.argv[2])]
print(json.dumps([found, [sorted(tree) for tree in trees], reader.find_fork("evil")]))
"""


def test_reading_runs_nothing_that_the_repository_names(tmp_path: Path) -> None:
    """No monitor, hook, pager, alias, filter or text conversion, and nothing is fetched."""
    require_isolation()
    scene, mark = build(tmp_path / "project"), tmp_path / "marks"
    (mark / "hooks").mkdir(parents=True)
    for name in ("post-index-change", "reference-transaction", "post-checkout"):
        hook = mark / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {mark}/hook\n")
        hook.chmod(0o755)
    os.mkfifo(mark / "pipe")
    (scene / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    lost = git(scene, "rev-parse", "feature^{tree}")
    (scene / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    with (scene / ".git" / "config").open("a") as config:
        config.write(SETTINGS.format(mark=mark))
    command = [sys.executable, "-P", "-c", READER, str(scene), lost]
    ran = subprocess.run(
        isolate(command, writable=[tmp_path]), capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    found, trees, fork = json.loads(ran.stdout)
    assert found["evil"]
    assert found["missing"] == ""
    assert ".claude/settings.json" in trees[0]
    assert ".claude/settings.json" in trees[1]
    assert trees[2] == []
    assert fork
    assert sorted(one.name for one in mark.iterdir()) == ["hooks", "pipe"]


def test_the_same_repository_makes_an_unguarded_git_run_things(tmp_path: Path) -> None:
    """So that the test above is known to see it."""
    require_isolation()
    scene, mark = build(tmp_path / "project"), tmp_path / "marks"
    mark.mkdir()
    lost = git(scene, "rev-parse", "feature^{tree}")
    (scene / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    with (scene / ".git" / "config").open("a") as config:
        config.write(SETTINGS.format(mark=mark))
    script = f"git status; git ls-tree -r {lost}; true"
    command = isolate(["sh", "-c", script], writable=[tmp_path])
    subprocess.run(command, cwd=scene, capture_output=True, timeout=120)
    assert {one.name for one in mark.iterdir()} >= {"fsmonitor", "fetched"}


def test_a_repository_that_is_not_read_in_time_is_a_doubt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine, nobody takes "not known" for "nothing"."""
    scene = build(tmp_path)
    monkeypatch.setattr("amplifier_hooks.guards.bash.implied_writes._SECONDS", 0.0)
    monkeypatch.setattr("amplifier_hooks.guards.bash.dangers._SECONDS", 0.0)
    assert look_up(scene, "git switch feature").doubts
    workspace = Workspace(scene, tmp_path / "home")
    assert Judge(Config(), workspace).find_all("git branch -M new")
