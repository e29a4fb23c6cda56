"""The lines of a check that are about failures: each is found with a guard that is broken there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.client.launch import read_launch
from amplifier_hooks.coding_agents.daemon.folder import choose_folder
from amplifier_hooks.coding_agents.self_test import check
from amplifier_hooks.coding_agents.self_test.context import CheckContext, Finding
from amplifier_hooks.coding_agents.self_test.entry import Entry
from tests.hooks.coding_agents.self_test.guarded import (
    BUNDLE,
    break_line,
    pass_through,
    play,
    read_guard,
)
from tests.support.guests import make_guest_folder, write_launch_text
from tests.support.trust import trust_project

Line = Callable[[CheckContext, str], Finding]

GATE = "PreToolUse"


def lose_end(line: str) -> str:
    """The line without what happens when the command fails."""
    return line.partition(" ||")[0]


def let_through(line: str) -> str:
    """A line that is content with failures."""
    return f"{lose_end(line)} || exit 0"


@pytest.mark.parametrize(
    ("line", "change"),
    [
        (check.crash_client, lose_end),
        (check.crash_client, let_through),
        (check.time_out, pass_through("s/deny/allow/")),
    ],
)
def test_a_crash_or_a_time_out_that_lets_calls_through_is_found(
    project: Path, line: Line, change: Callable[[str], str]
) -> None:
    """The end of the line is gone or says the wrong thing, or the answer is spoiled."""
    entries = break_line(read_guard("claude", project), GATE, change)
    with play("claude", project, entries) as context:
        found = line(context, "line")
    assert found.state == "broken", found
    assert f"{GATE}: " in found.detail
    assert "LET THROUGH" in found.detail


def test_a_crash_at_every_gate_blocks(project: Path) -> None:
    """Copilot's prompts and results need another answer than its tools."""
    with play("copilot", project) as context:
        found = check.crash_client(context, "line")
    natives = "preToolUse, userPromptSubmitted, postToolUse"
    assert found == Finding("line", "ok", f"killed while it waited at {natives}")


def test_an_agent_that_gives_up_before_us_is_found(project: Path) -> None:
    """Somebody has written a short time-out into the settings."""
    entries = read_guard("claude", project)
    short = Entry(replace(entries[GATE].handler, timeout=5.0))
    with play("claude", project, {**entries, GATE: short}) as context:
        found = check.time_out(context, "line")
    assert found.state == "broken"
    assert "gives up after 5 s, and goes on; our own limit is 590 s" in found.detail


def test_calls_that_wait_for_one_another_are_found(project: Path) -> None:
    """Only one command may run at a time."""
    entries = break_line(
        read_guard("claude", project), GATE, lambda line: f"flock {project} {line}"
    )
    with play("claude", project, entries, seconds=0.1) as context:
        found = check.call_twice(context, "line")
    assert found.state == "broken", found


def test_a_death_that_lets_the_call_through_is_found(project: Path) -> None:
    """No second process can be started, and the line is content with that."""
    launch = read_launch(bytes(choose_folder()))
    once = f'mkdir "{project}/started" && exec "$0" "$@"'
    entries = break_line(read_guard("claude", project), GATE, let_through)
    with make_guest_folder() as folder, play("claude", project, entries, folder=folder) as context:
        argv = ["/bin/sh", "-c", once, *launch.argv]
        write_launch_text(folder, json.dumps({"argv": argv, "env": launch.env}))
        found = check.kill_resident(context, "line")
    assert found.state == "broken", found
    assert "LET THROUGH" in found.detail
    (project / "started").rmdir()


def test_a_process_that_cannot_be_started_is_found(project: Path) -> None:
    """What it says when it ends is shown."""
    with make_guest_folder() as folder:
        write_launch_text(folder, json.dumps({"argv": ["/bin/false"], "env": {}}))
        moved = {name: one.move_to(folder) for name, one in read_guard("codex", project).items()}
        found = _answer("codex", project, moved)
    assert "the resident process ended while it started" in found.detail


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [("'", "'/nowhere", "not found"), ("/guests' ", "/nowhere' ", "install the guard again")],
)
def test_a_missing_interpreter_or_folder_is_found(
    project: Path, old: str, new: str, said: str
) -> None:
    """The call is blocked, and still the guard does not answer."""
    entries = break_line(read_guard("codex", project), GATE, lambda line: line.replace(old, new, 1))
    found = _answer("codex", project, entries)
    assert said in found.detail
    assert "(the call is blocked)" in found.detail


def test_a_bundle_that_nobody_trusts_is_found(project: Path) -> None:
    """The check says what a person has to do."""
    other = project.parent / "untrusted"
    other.mkdir()
    (other / "amplifier.yaml").write_text("name: other\n")
    found = _answer("claude", other, read_guard("claude", project))
    assert "amplifier trust" in found.detail


def _answer(agent: str, folder: Path, entries: dict[str, Entry]) -> Finding:
    with play(agent, folder, entries) as context:
        found = check.answer_at_all(context, "line")
    assert found.state == "broken", found
    return found


def test_hooks_of_the_person_may_block_the_check(project: Path) -> None:
    """That is no fault of the guard, and their reason is shown."""
    strict = project.parent / "strict"
    strict.mkdir()
    (strict / "strict.py").write_text(STRICT)
    (strict / "amplifier.yaml").write_text(f"{BUNDLE}  - ./strict.py\n")
    trust_project(strict)
    with play("claude", strict, read_guard("claude", project)) as context:
        found = check.answer_at_all(context, "line")
    assert found == Finding(
        "line", "yours", "your own hooks block it: Operation denied by strict: Not even echo."
    )


STRICT = """
from amplifier_core.models import HookResult

async def mount(coordinator, config=None):
    async def deny(event, data):
        return HookResult(action="deny", reason="Not even echo.")
    coordinator.hooks.register("tool:pre", deny, 0, "strict")
"""
