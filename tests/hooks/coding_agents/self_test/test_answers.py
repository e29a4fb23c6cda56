"""The lines of a check that are about answers: each with a guard that works, and with one that
does not."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.self_test import check
from amplifier_hooks.coding_agents.self_test.context import CheckContext, Finding
from tests.hooks.coding_agents.self_test.guarded import (
    break_line,
    change_entries,
    pass_through,
    play,
    read_guard,
)

Line = Callable[[CheckContext, str], Finding]

ALWAYS: tuple[Line, ...] = (
    check.deny_call,
    check.deny_prompt,
    check.rewrite_call,
    check.inject_text,
    check.replace_result,
)


def obey(agent: str, project: Path) -> list[Finding]:
    """How it goes with one agent."""
    with play(agent, project) as context:
        return [line(context, f"{agent} {line.__name__}") for line in ALWAYS]


def test_every_agent_obeys(project: Path) -> None:
    """Denials, changes and texts come through the real command and the real process."""
    with ThreadPoolExecutor(len(AGENTS)) as pool:
        findings = [one for found in pool.map(obey, AGENTS, repeat(project)) for one in found]
    assert len(findings) == len(AGENTS) * len(ALWAYS)
    assert [one for one in findings if one.state != "ok"] == []


WRONG: tuple[tuple[Line, str, str, str], ...] = (
    (check.deny_call, "PreToolUse", "s/deny/allow/", "LET THROUGH"),
    (check.deny_prompt, "UserPromptSubmit", "s/block/approve/", "LET THROUGH"),
    (check.rewrite_call, "PreToolUse", "s/updatedInput/input/", "check:rewrite 0"),
    (check.inject_text, "PreToolUse", "s/additionalContext/context/", "LET THROUGH"),
    (check.ask_person, "PreToolUse", 's/"ask"/"allow"/', "does not read one"),
    (check.replace_result, "PostToolUse", "s/updatedToolOutput/output/", "the model reads"),
    (check.replace_result, "PostToolUse", 's/"stdout"/"text"/', "the model reads"),
)
"""A line, an event, what is wrong with the answer there, and what the line says."""


def test_an_answer_that_is_not_obeyed_is_found(project: Path) -> None:
    """One word of an answer is wrong, and the line says what that does."""
    entries = read_guard("claude", project)
    with play("claude", project) as context:
        for line, native, script, said in WRONG:
            broken = break_line(entries, native, pass_through(script))
            found = line(change_entries(context, broken), "line")
            assert found.state == "broken", (script, found)
            assert said in found.detail


def test_the_agent_asks_its_person(project: Path) -> None:
    """Where it has a prompt of its own."""
    with play("claude", project) as context:
        assert check.ask_person(context, "line") == Finding(
            "line", "ok", "Claude Code asks its person"
        )
