"""hooks-git-status: branch, changes and recent commits at session start."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.git_status import describe_repository, mount
from tests.support.harness import Harness


def git(directory: Path, *arguments: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *arguments], cwd=directory, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    git(tmp_path, "init", "-b", "trunk")
    (tmp_path / "kept.txt").write_text("one")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "Begin the work")
    (tmp_path / "kept.txt").write_text("two")
    (tmp_path / "new.txt").write_text("new")
    return tmp_path


async def status(harness: Harness, config: dict[str, object] | None = None) -> str | None:
    async with harness.mounted("git_status", config):
        return (await harness.emit("session:start", source="startup")).context_injection


async def test_the_agent_learns_branch_changes_and_commits(repository: Path) -> None:
    """Git status, branch and recent commits injected at session start."""
    text = str(await status(Harness(repository)))
    assert "Branch: trunk" in text
    assert "Working tree: 2 changes" in text
    assert "   M kept.txt" in text
    assert "  ?? new.txt" in text
    assert "Begin the work" in text


async def test_outside_a_repository_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Quiet outside a repository."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert await status(Harness(tmp_path)) is None
    assert caplog.text == ""


async def test_without_git_nothing_is_said(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine without git is none of the agent's business."""
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert await status(Harness(repository)) is None


async def test_an_empty_repository_and_a_clean_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No commits yet is a state like any other."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    git(tmp_path, "init", "-b", "trunk")
    text = str(await status(Harness(tmp_path)))
    assert "No commits yet on trunk" in text
    assert "Working tree: clean" in text
    assert "Recent commits" not in text


async def test_a_git_that_hangs_costs_its_time_limit_and_no_more(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Async command, time limit."""
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 50\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:/usr/bin:/bin")
    started = time.monotonic()
    assert await status(Harness(repository), {"timeout": 0.2}) is None
    assert time.monotonic() - started < 40


async def test_a_thousand_changes_fit(repository: Path) -> None:
    """Size limit."""
    for number in range(1000):
        (repository / f"file-{number}.txt").touch()
    text = str(await status(Harness(repository)))
    assert "1002 changes" in text
    assert "… 972 more" in text
    assert len(text.encode()) <= 4000
    small = str(await status(Harness(repository), {"max_bytes": 300, "max_changes": 500}))
    assert len(small.encode()) <= 300


async def test_a_repositorys_monitor_program_does_not_run(repository: Path) -> None:
    """Looking at a repository must not run what it configures."""
    trap = repository / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {repository}/sprung\n")
    trap.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(trap))
    assert await status(Harness(repository)) is not None
    assert not (repository / "sprung").exists()


async def test_controls_in_a_commit_message_are_taken_out(repository: Path) -> None:
    """What strangers wrote into commits is text."""
    git(repository, "commit", "--allow-empty", "-m", "evil \x1b[2J\u202e end")
    text = str(await status(Harness(repository)))
    assert "\x1b" not in text
    assert "evil [2J end" in text


async def test_another_repositorys_environment_does_not_leak_in(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Started from a git hook, the session still looks at its own directory."""
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert "Branch: trunk" in str(await status(Harness(repository)))


def test_the_words_come_from_what_git_printed() -> None:
    """Branch with upstream, changes, commits."""
    text = describe_repository(
        "## main...origin/main [ahead 1]\n M a\n?? b\n?? c\n", "1a2b3c Fix\n", 2
    )
    assert text.splitlines() == [
        "Branch: main...origin/main [ahead 1]",
        "Working tree: 3 changes",
        "   M a",
        "  ?? b",
        "  … 1 more",
        "Recent commits:",
        "1a2b3c Fix",
    ]


async def test_a_time_limit_must_be_positive(tmp_path: Path) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError, match="hooks-git-status: option 'timeout' cannot be 0"):
        await mount(Harness(tmp_path).coordinator, {"timeout": 0})
