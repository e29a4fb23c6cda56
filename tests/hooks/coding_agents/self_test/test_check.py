"""The whole check."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_hooks.approvals.models import ApprovalFilter
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.coding_agents.daemon.control import read_status, stop_resident
from amplifier_hooks.coding_agents.daemon.folder import choose_folder
from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.installing.guard import GuardOptions, install_guard
from amplifier_hooks.coding_agents.installing.installation import Target
from amplifier_hooks.coding_agents.self_test import check as checking
from amplifier_hooks.coding_agents.self_test.check import FIRST, LINES, Check
from amplifier_hooks.coding_agents.self_test.entry import Entry
from tests.hooks.coding_agents.self_test.guarded import break_line, make_entry, read_guard
from tests.support.agent_homes import empty_home


def get_pid() -> int:
    """The process that serves all agents of this home."""
    status = read_status(choose_folder())
    assert status is not None
    return int(status["pid"])


def test_everything_works_with_a_guard_that_works(project: Path) -> None:
    """Every line, in order; and the process that serves others is not the one that is killed."""
    check = Check("gemini", read_guard("gemini", project), project)
    running = check.run()
    first = next(running)
    pid = get_pid()
    others = list(running)
    assert (first.name, first.state) == (FIRST, "ok")
    assert [one.name for one in others] == list(LINES)
    assert [one for one in others if one.state != "ok"] == []
    details = {one.name: one.detail for one in others}
    assert "asked elsewhere" in details["a question is put to a person"]
    assert "the next process judged" in details["the death of the resident process blocks"]
    assert check.milliseconds is not None
    assert get_pid() == pid
    assert asyncio.run(read_told()) == ([], [], [], True)


async def read_told() -> tuple[object, object, object, bool]:
    """What the page has: sessions, figures of hooks, answers of people; and whether it asked."""
    store = await open_store(None)
    sessions, _ = await store.sessions.list()
    approvals, _ = await store.approvals.list(ApprovalFilter())
    figures = await store.statistics.read(0)
    told = sessions, figures, await store.statistics.overrulings(0), bool(approvals)
    await store.close()
    return told


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS)
def test_everything_works_with_every_agent(agent: str, project: Path) -> None:
    """All lines through the real command."""
    found = list(Check(agent, read_guard(agent, project), project).run())
    assert [one for one in found if one.state != "ok"] == []


@pytest.mark.slow
def test_everything_works_by_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no command to kill; everything else holds."""
    with empty_home(monkeypatch) as home:
        install_guard(Target("claude", "user", home), GuardOptions(http=True))
        found = list(Check("claude", read_guard("claude", home), home).run())
        stop_resident(choose_folder())
    assert [one.name for one in found if one.state != "ok"] == ["a crash of the command blocks"]
    assert not any(one.fails for one in found)


BREAKS: tuple[Callable[[str], str], ...] = (
    lambda line: line.replace("command.py", "missing.py"),
    lambda line: "true # amplifier-guest",
)


@pytest.mark.parametrize("change", BREAKS)
def test_a_guard_that_does_not_answer_is_not_tried_further(
    project: Path, change: Callable[[str], str]
) -> None:
    """One line says what is wrong, and the others that they were left out."""
    entries = break_line(read_guard("claude", project), "PreToolUse", change)
    first, *others = Check("claude", entries, project).run()
    assert first.state == "broken"
    assert {one.state for one in others} == {"untried"}
    assert all(one.fails for one in others)


def test_lines_that_cannot_be_read_are_no_guard(project: Path) -> None:
    """Nothing is fired."""
    entries: dict[str, Entry] = {"PreToolUse": make_entry("claude", "PreToolUse", "true")}
    first, *others = Check("claude", entries, project).run()
    assert (first.state, len(others)) == ("broken", len(LINES))


def test_a_line_that_is_missing_is_found(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other lines are tried."""
    names = ("a denied tool call does not run", "a tool's result is replaced", "a time-out blocks")
    monkeypatch.setattr(checking, "LINES", {name: LINES[name] for name in names})
    entries = read_guard("claude", project)
    del entries["PostToolUse"], entries["UserPromptSubmit"]
    first, denied, replaced, late = Check("claude", entries, project).run()
    assert (first.state, denied.state) == ("ok", "ok")
    assert (replaced.state, late.state) == ("broken", "broken")
    assert "installed at PostToolUse" in replaced.detail
    assert "installed at UserPromptSubmit" in late.detail


def test_an_agent_that_does_not_call_its_hooks_is_found(project: Path) -> None:
    """A switch in its settings turns all of them off."""
    target = Target("claude", "user", project)
    check = Check("claude", read_guard("claude", project), project)
    found, version, *_ = check.ask_agent(project)  # then what stands above, for all tests here
    assert (found.state, version.state) == ("ok", "cannot")
    text = target.path.read_text()
    target.path.write_text(text.replace("{", '{"disableAllHooks": true,', 1))
    try:
        found, *_ = check.ask_agent(project)
    finally:
        target.path.write_text(text)
    assert found.state == "broken"
    assert "disableAllHooks" in found.detail
    assert (version.state, "no claude on the PATH" in version.detail) == ("cannot", True)


def test_the_version_and_what_runs_beside_the_guard_are_shown(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name, and how many of the events that this version knows are covered."""
    programs = project.parent / "programs"
    programs.mkdir()
    program = programs / "claude"
    program.write_text("#!/bin/sh\necho 2.1.197\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    (project / ".claude" / "skills" / "deploy").mkdir(parents=True)
    (project / ".claude" / "skills" / "deploy" / "SKILL.md").touch()
    check = Check("claude", read_guard("claude", project), project)
    _, version, beside = check.ask_agent(project)
    assert (version.state, version.detail.split(",")[0]) == ("ok", "2.1.197")
    assert "skill deploy" in beside.detail


def test_without_codex_nobody_knows_whether_it_trusts_us(project: Path) -> None:
    """That is no failure of the guard."""
    check = Check("codex", read_guard("codex", project), project)
    assert [one.state for one in check.ask_agent(project)] == ["cannot", "cannot"]
