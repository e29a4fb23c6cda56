"""Where the guard is installed: for a project, over HTTP, in another agent's file, and no more."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from typing import Any

import pytest

from amplifier_hooks.coding_agents.installing.places import find_settings
from tests.agents.cases import ALL, run_with, run_with_all
from tests.agents.programs import PROGRAMS, Program
from tests.agents.trails import read_trail
from tests.agents.world import World
from tests.support.waiting import wait_until

pytestmark = pytest.mark.agents

DONE = {"text": "Done."}
DENIED = "echo deny-me >> out.txt"


@run_with(*ALL, "opencode")
async def test_a_project_is_guarded_for_itself(bare_world: World, program: Program) -> None:
    """With the settings of the project instead of the person's."""
    bare_world.set_up(program)
    bare_world.write_bundle()
    bare_world.guard(program, "--project")
    script = [{"tool_calls": [program.call_shell(DENIED)]}]
    script += [{"tool_calls": [program.call_shell("echo fine >> out.txt")]}]
    outcome = await bare_world.run(program, [*script, DONE])
    assert bare_world.read() == ["fine"], outcome.output
    assert "the-judge-refuses" in outcome.asked[1]


@run_with(*ALL, "opencode")
async def test_the_status_and_the_check_say_that_the_guard_stands(
    world: World, program: Program
) -> None:
    """Both end with 0, before the agent has run at all."""
    assert str(find_settings(program.name, "user", world.project, world.env)) in world.guard(
        program, "--status"
    )
    world.amplifier("guard", "check", program.name)


@run_with_all
async def test_after_removal_the_command_runs(world: World, program: Program) -> None:
    """And the person's home has no line of ours any more."""
    world.guard(program, "--remove", "--user")
    outcome = await world.run(program, [{"tool_calls": [program.call_shell(DENIED)]}, DONE])
    assert world.read() == ["deny-me"], outcome.output


@run_with_all
async def test_a_bundle_that_nobody_trusts_denies(world: World, program: Program) -> None:
    """Somebody has changed the hook: nothing of it runs, and nothing passes."""
    hook = world.project / "judge.py"
    hook.write_text(hook.read_text() + "\n# changed\n")
    shell = program.call_shell("echo fine >> out.txt")
    outcome = await world.run(program, [{"tool_calls": [shell]}, DONE])
    assert world.read() == [], outcome.output


@run_with_all
async def test_the_agent_cannot_change_its_own_guard(world: World, program: Program) -> None:
    """Neither the settings that call us, nor what is called."""
    targets = [
        world.guests / "launch.json",
        find_settings(program.name, "user", world.project, world.env),
    ]
    before = [one.read_bytes() for one in targets]
    calls = [program.call_shell(f"echo '{{}}' > {one}") for one in targets]
    await world.run(program, [*({"tool_calls": [call]} for call in calls), DONE])
    assert [one.read_bytes() for one in targets] == before


@run_with("codex")
async def test_a_shell_that_would_be_typed_into_is_denied(world: World, program: Program) -> None:
    """Codex has nobody judge what it types into a program that runs already."""
    shell = {"name": "exec_command", "input": {"cmd": "bash", "tty": True}}
    outcome = await world.run(program, [{"tool_calls": [shell]}, DONE])
    assert "would wait for input" in outcome.asked[1], outcome.output
    trail = await asyncio.to_thread(read_trail, world)
    assert trail.list_calls() == [("bash", "deny")]


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
@run_with("copilot")
async def test_copilot_heeds_what_is_installed_for_claude(
    bare_world: World, program: Program, name: str
) -> None:
    """It runs the hooks of both files in a project's `.claude`, and none of those in the home."""
    world = bare_world
    world.set_up(program)
    world.write_bundle()
    world.guard(PROGRAMS["claude"], "--project")
    settings = world.project / ".claude" / "settings.local.json"
    shutil.move(settings, settings.with_name(name))
    script = [{"tool_calls": [program.call_shell(DENIED)]}]
    script += [{"tool_calls": [program.call_shell("echo rewrite-me >> out.txt")]}]
    outcome = await world.run(program, [*script, DONE])
    assert world.read() == ["rewritten"], outcome.output
    assert "the-judge-refuses" in outcome.asked[1]


@run_with("copilot")
async def test_copilot_with_both_installations_is_judged(world: World, program: Program) -> None:
    """It calls us twice for each event, which is judged once; what is allowed runs once."""
    world.guard(PROGRAMS["claude"], "--project")
    fine = "echo fine >> out.txt"
    calls = [program.call_shell(one) for one in (DENIED, fine, "echo rewrite-me >> out.txt")]
    outcome = await world.run(program, [*({"tool_calls": [one]} for one in calls), DONE])
    assert world.read() == ["fine", "rewritten"], outcome.output
    trail = await asyncio.to_thread(read_trail, world)
    assert [one for one, _ in trail.list_calls()][:2] == [DENIED, fine]
    assert len(trail.list_calls()) == len(calls)
    assert [trail.list_types().count(f"session_{one}") for one in ("started", "ended")] == [1, 1]


@run_with("claude")
async def test_claude_is_guarded_over_http(bare_world: World, program: Program) -> None:
    """The same answers without a process for each event."""
    world = bare_world
    world.set_up(program)
    world.write_bundle()
    world.guard(program, "--user", "--http")
    words = ("deny-me", "rewrite-me", "inject-me")
    calls = [program.call_shell(f"echo {word} >> out.txt") for word in words]
    outcome = await world.run(program, [*({"tool_calls": [call]} for call in calls), DONE])
    assert world.read() == ["rewritten", "inject-me"], outcome.output
    assert "the-judge-refuses" in outcome.asked[1]
    assert "the-judge-adds-this" in outcome.asked[3]
    trail = await asyncio.to_thread(read_trail, world)
    assert [action == "deny" for _, action in trail.list_calls()] == [True, False, False]
    assert {"session_started", "session_ended"} <= set(trail.list_types())


@run_with("claude")
async def test_a_call_over_http_is_denied_when_the_resident_process_dies(
    bare_world: World, program: Program
) -> None:
    """Nobody answers, so the agent itself closes the door."""
    world = bare_world
    world.set_up(program)
    world.write_bundle()
    world.guard(program, "--user", "--http")
    calls = [program.call_shell(f"echo {word} >> out.txt") for word in ("wait-me", "fine")]
    script: list[dict[str, Any]] = [*({"tool_calls": [call]} for call in calls), DONE]
    running = asyncio.create_task(world.run(program, script))
    await wait_until(lambda: bool(world.read("judging")) or running.done())
    os.kill(world.ask_resident("status")["pid"], signal.SIGKILL)
    world.let_go()
    outcome = await running
    assert world.read() == [], outcome.output
