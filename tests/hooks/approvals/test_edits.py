"""Edits inside the project, and nothing else."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.approvals import EditsApproval
from tests.hooks.approvals.questions import ask


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "out").symlink_to(tmp_path)
    (folder / "hooks").symlink_to(folder / ".git" / "hooks")
    return folder


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"file_path": "src/new.py", "content": "x"}),
        ("Edit", {"file_path": "./src/../src/a.py"}),
        ("NotebookEdit", {"notebook_path": "a.ipynb"}),
        ("MultiEdit", {"file_path": "a.py", "edits": [{"file_path": "src/b.py"}]}),
    ],
)
def test_an_edit_below_the_folder_is_allowed(project: Path, tool: str, given: dict) -> None:  # type: ignore[type-arg]
    """By name or by its absolute path, whether the file exists or not."""
    judge = EditsApproval(project).judge
    assert judge(ask(tool, **given)).verdict == "allow"
    absolute = {key: str(project / str(value)) for key, value in given.items() if "path" in key}
    assert judge(ask(tool, **{**given, **absolute})).verdict == "allow"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Bash", {"command": "touch src/a.py"}),
        ("Bash", {"command": "ls", "file_path": "src/a.py"}),
        ("Write", {"file_path": "../beside.py"}),
        ("Write", {"file_path": "out/beside.py"}),
        ("Write", {"file_path": "/etc/passwd"}),
        ("Write", {"file_path": ".git/hooks/pre-commit"}),
        ("Write", {"file_path": "hooks/pre-commit"}),
        ("Write", {"file_path": "."}),
        ("Write", {"file_path": ""}),
        ("Write", {"file_path": "a\0b"}),
        ("Write", {}),
        ("MultiEdit", {"file_path": "src/a.py", "edits": [{"file_path": "../b.py"}]}),
    ],
)
def test_everything_else_goes_on_to_a_person(project: Path, tool: str, given: dict) -> None:  # type: ignore[type-arg]
    """Commands, paths that lead out, protected places by any name, and what has no path at all."""
    assert EditsApproval(project).judge(ask(tool, **given)).verdict == "ask"


@pytest.mark.parametrize("hook", ["hooks-production-guard", "hooks-redaction"])
def test_a_guarded_path_or_a_secret_is_no_ordinary_edit(project: Path, hook: str) -> None:
    """These hooks ask because of what is written, or where."""
    ruling = EditsApproval(project).judge(ask("Write", hook, file_path="src/a.py"))
    assert ruling.verdict == "ask"
    assert hook in ruling.reason


def test_only_the_call_itself_is_allowed(project: Path) -> None:
    """A question behind the call is about its result."""
    question = replace(ask("Write", file_path="src/a.py"), event="tool:post")
    assert EditsApproval(project).judge(question).verdict == "ask"


def test_a_file_that_is_a_protected_one_by_another_name_is_not_edited(project: Path) -> None:
    """A hard link has no other path to be found by."""
    guarded = project / ".git" / "hooks" / "pre-commit"
    guarded.write_text("")
    os.link(guarded, project / "src" / "plain.py")
    assert EditsApproval(project).judge(ask("Write", file_path="src/plain.py")).verdict == "ask"


@pytest.mark.parametrize("name", ["amplifier.yaml", "./src/../amplifier.yaml", "policy/guard.py"])
def test_the_files_that_govern_the_agent_are_for_a_person(project: Path, name: str) -> None:
    """The bundle, and the files and folders of its hooks: a changed guard is no ordinary edit."""
    governing = [project / "amplifier.yaml", project / "policy"]
    judge = EditsApproval(project, governing=governing).judge
    assert judge(ask("Write", file_path=name)).verdict == "ask"
    assert judge(ask("Write", file_path="policy.py")).verdict == "allow"
