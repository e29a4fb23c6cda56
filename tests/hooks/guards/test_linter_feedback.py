"""hooks-linter-feedback: findings of real linters for the agent, after each edit."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.models import HookResult
from amplifier_hooks.guards.linter_feedback import (
    PRESETS,
    Linter,
    Report,
    build_answer,
    mount,
    read_outcome,
)
from amplifier_hooks.sandbox.process import CommandOutcome
from tests.support.harness import Harness

BAD = "import os\nimport sys\n"


async def edit(
    harness: Harness, path: Path | str, text: str | None = None, **more: Any
) -> HookResult:
    if text is not None:
        Path(path).write_text(text)
    call = {"tool_name": "Write", "tool_input": {"file_path": str(path)}, "success": True, **more}
    return await harness.emit("tool:post", **call)


async def test_ruff_speaks_up_without_configuration(harness: Harness, tmp_path: Path) -> None:
    """Built-in defaults for *.py with ruff when it is installed; real ruff."""
    async with harness.mounted("linter_feedback"):
        result = await edit(harness, tmp_path / "app.py", BAD)
    assert result.action == "inject_context"
    text = str(result.context_injection)
    assert text.startswith("ruff found 2 issues in app.py:\n")
    assert "app.py:1:8: F401" in text
    assert result.user_message == "ruff: 2 issues in app.py"
    assert result.user_message_level == "warning"
    assert result.suppress_output


async def test_clean_code_is_met_with_silence(harness: Harness, tmp_path: Path) -> None:
    """Nothing found, nothing said."""
    async with harness.mounted("linter_feedback"):
        result = await edit(harness, tmp_path / "app.py", "x = 1\n")
    assert (result.action, result.user_message) == ("continue", None)


async def test_the_same_findings_for_the_same_file_are_said_once(
    harness: Harness, tmp_path: Path
) -> None:
    """Remembers so as not to repeat identical findings for an unchanged file."""
    path = tmp_path / "app.py"
    async with harness.mounted("linter_feedback"):
        first = await edit(harness, path, BAD)
        again = await edit(harness, path)
        changed = await edit(harness, path, BAD + "x = 1\n")
        fixed = await edit(harness, path, "x = 1\n")
        back = await edit(harness, path, BAD)
    actions = [result.action for result in (first, again, changed, fixed, back)]
    assert actions == ["inject_context", "continue", "inject_context", "continue", "inject_context"]


@pytest.mark.parametrize(
    "call",
    [
        {"tool_name": "Read", "tool_input": {"file_path": "app.py"}, "success": True},
        {"tool_name": "Write", "tool_input": {"file_path": "app.py"}, "success": False},
        {
            "tool_name": "Write",
            "tool_input": {"file_path": "app.py"},
            "tool_result": {"success": False},
        },
        {"tool_name": "Write", "tool_input": {"file_path": "gone.py"}, "success": True},
        {"tool_name": "Write", "tool_input": {"file_path": "notes.txt"}, "success": True},
        {"tool_name": "Write", "tool_input": {"file_path": "a\0b.py"}, "success": True},
        {"tool_name": "Write", "tool_input": "app.py", "success": True},
        {"tool_name": "Write"},
    ],
)
async def test_only_successful_edits_of_fitting_files_are_checked(
    harness: Harness, tmp_path: Path, call: dict[str, Any]
) -> None:
    """After Write/Edit/MultiEdit succeeded, by file pattern."""
    (tmp_path / "app.py").write_text(BAD)
    (tmp_path / "notes.txt").write_text(BAD)
    async with harness.mounted("linter_feedback"):
        assert (await harness.emit("tool:post", **call)).action == "continue"


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit"])
async def test_each_editing_tool_counts(harness: Harness, tmp_path: Path, tool: str) -> None:
    """After Write/Edit/MultiEdit succeeded; a relative path is one of the working directory."""
    (tmp_path / "app.py").write_text(BAD)
    async with harness.mounted("linter_feedback"):
        result = await edit(harness, "app.py", tool_name=tool)
    assert result.action == "inject_context"


async def test_mypy_is_a_name_away(harness: Harness, tmp_path: Path) -> None:
    """ruff, mypy, eslint by name; real mypy, beside real ruff."""
    async with harness.mounted("linter_feedback", {"linters": ["ruff", "mypy"]}):
        result = await edit(harness, tmp_path / "app.py", 'import os\n\nx: int = "text"\n')
    assert "ruff found 1 issue in app.py" in str(result.context_injection)
    assert "mypy found 1 issue in app.py" in str(result.context_injection)
    assert str(result.user_message).splitlines() == [
        "ruff: 1 issue in app.py",
        "mypy: 1 issue in app.py",
    ]


@pytest.mark.parametrize(
    "command", ["grep -n TODO {file} && exit 1 || exit 0", ["./check", "{file}"]]
)
async def test_any_command_can_be_a_linter(harness: Harness, tmp_path: Path, command: Any) -> None:
    """Any command by file pattern; a file's name is an argument, never shell text."""
    check = tmp_path / "check"
    check.write_text('#!/bin/sh\ngrep -n TODO "$1" && exit 1\nexit 0\n')
    check.chmod(0o755)
    linter = {"name": "todo", "files": ["docs/**/*.md"], "command": command}
    target = tmp_path / "docs" / "a; touch pwned $(touch pwned).md"
    target.parent.mkdir()
    async with harness.mounted("linter_feedback", {"linters": [linter]}):
        result = await edit(harness, target, "TODO: write\n")
    assert "todo found 1 issue" in str(result.context_injection)
    assert "1:TODO: write" in str(result.context_injection)
    assert not list(tmp_path.rglob("pwned"))


async def test_a_missing_linter_is_mentioned_once(harness: Harness, tmp_path: Path) -> None:
    """A linter's own trouble is for the user, not for the agent, and once is enough."""
    linter = {"name": "odd", "files": ["*.py"], "command": ["no-such-linter", "{file}"]}
    async with harness.mounted("linter_feedback", {"linters": [linter]}):
        first = await edit(harness, tmp_path / "a.py", "x = 1\n")
        second = await edit(harness, tmp_path / "b.py", "x = 2\n")
    assert first.action == "continue"
    assert "odd could not check a.py: Cannot run 'no-such-linter'" in str(first.user_message)
    assert second.user_message is None


async def test_a_linter_that_hangs_is_ended(harness: Harness, tmp_path: Path) -> None:
    """Commands run asynchronously with a time limit."""
    linter = {"name": "slow", "files": ["*.py"], "command": "sleep 50", "timeout": 0.5}
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    started = time.monotonic()
    async with harness.mounted("linter_feedback", {"linters": [linter]}):
        result = await edit(harness, tmp_path / "a.py", "x = 1\n")
    ticking.cancel()
    assert time.monotonic() - started < 40
    assert ticks > 1
    assert "slow could not check a.py: took longer than 0.5 s" in str(result.user_message)


async def test_a_huge_file_is_not_checked(harness: Harness, tmp_path: Path) -> None:
    """`max_file_bytes`: a generated file is nobody's handwriting."""
    async with harness.mounted("linter_feedback", {"max_file_bytes": 10}):
        assert (await edit(harness, tmp_path / "big.py", BAD)).action == "continue"


async def test_memory_of_what_was_said_is_bounded(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session of many files forgets the oldest."""
    monkeypatch.setattr("amplifier_hooks.guards.linter_feedback._REMEMBERED_FILES", 2)
    linter = {"name": "no", "files": ["*"], "command": "echo {file}:1: bad; exit 1"}
    async with harness.mounted("linter_feedback", {"linters": [linter]}):
        first = [await edit(harness, tmp_path / f"{number}.txt", "x") for number in range(3)]
        again = [await edit(harness, tmp_path / f"{number}.txt") for number in (2, 0)]
    assert [result.action for result in first] == ["inject_context"] * 3
    assert [result.action for result in again] == ["continue", "inject_context"]


def outcome(code: int, stdout: str = "", stderr: str = "") -> CommandOutcome:
    return CommandOutcome(code, stdout, stderr, False, False, 1)


@pytest.mark.parametrize(
    ("linter", "code", "kind"),
    [
        ("ruff", 0, "clean"),
        ("ruff", 1, "findings"),
        ("ruff", 2, "trouble"),
        ("any", 2, "findings"),
        ("any", 127, "trouble"),
        ("any", -9, "trouble"),
    ],
)
def test_exit_codes_tell_findings_from_trouble(linter: str, code: int, kind: str) -> None:
    """A linter that cannot read its configuration has found nothing."""
    anything = Linter(name="any", files=("*",), command="x")
    report = read_outcome(PRESETS.get(linter, anything), outcome(code, "a.py:1: bad", "why"))
    found = "findings" if report.findings else "trouble" if report.trouble else "clean"
    assert found == kind


def test_eslints_indented_places_are_counted() -> None:
    """Counted are the places, not the frame around them."""
    text = "/p/a.js\n  1:10  error  'x' is defined\n  2:1  error  no\n\n✖ 2 problems"
    assert Report("eslint", findings=text).count == 2


def test_a_flood_of_findings_is_cut() -> None:
    """Findings fit into an injection, and say how many more there are."""
    flood = "\n".join(f"a.py:{line}:1: F401 unused" for line in range(5000))
    result = build_answer([Report("ruff", findings=flood)], "a.py", 4000)
    assert len(str(result.context_injection).encode()) < 4100
    assert "more lines" in str(result.context_injection)
    assert result.user_message == "ruff: 5000 issues in a.py"


@pytest.mark.parametrize(
    ("linters", "sentence"),
    [
        ("ruff", "option 'linters' cannot be 'ruff'"),
        (["rufff"], "unknown linter 'rufff'; have eslint, mypy, ruff"),
        ([{"name": "x", "files": ["*.py"]}], "option 'linters.0.command' is required"),
        ([{"name": "x", "files": [], "command": "x"}], "linters.0.files"),
        ([{"name": "x", "files": [""], "command": "x"}], "path pattern is empty"),
        ([{"name": "x", "files": ["*"], "command": ""}], "must be a command line"),
    ],
)
async def test_bad_options_are_explained(harness: Harness, linters: Any, sentence: str) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError) as caught:
        await mount(harness.coordinator, {"linters": linters})
    assert sentence in str(caught.value)
