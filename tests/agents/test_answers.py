"""What a hook says is what happens: files on disk and requests to the model, not words."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_core.testing import wait_for
from tests.agents.cases import ALL, run_with, run_with_all
from tests.agents.programs import Program
from tests.agents.trails import read_trail
from tests.agents.world import World

pytestmark = pytest.mark.agents

DONE = {"text": "Done."}


@run_with(*ALL, "opencode")
async def test_without_a_guard_the_command_runs(bare_world: World, program: Program) -> None:
    """The control: what the other tests forbid would happen without us."""
    bare_world.set_up(program)
    shell = program.call_shell("echo deny-me >> out.txt")
    outcome = await bare_world.run(program, [{"tool_calls": [shell]}, DONE])
    assert bare_world.read() == ["deny-me"]
    assert len(outcome.asked) == 2


@run_with(*ALL, "opencode")
async def test_a_call_without_objections_runs_once(world: World, program: Program) -> None:
    """A guard that has nothing to say is not noticed."""
    shell = program.call_shell("echo fine >> out.txt")
    outcome = await world.run(program, [{"tool_calls": [shell]}, DONE])
    assert world.read() == ["fine"], outcome.output
    assert len(outcome.asked) == 2


@run_with(*ALL, "opencode")
async def test_a_denied_command_does_not_run(world: World, program: Program) -> None:
    """And the model reads why."""
    shell = program.call_shell("echo deny-me >> out.txt")
    outcome = await world.run(program, [{"tool_calls": [shell]}, DONE])
    assert world.read() == [], outcome.output
    assert "the-judge-refuses" in outcome.asked[1]
    assert "the-judge-refuses" not in outcome.asked[0]


@run_with(*ALL, "opencode")
async def test_a_rewritten_command_runs_instead(world: World, program: Program) -> None:
    """The original never does."""
    shell = program.call_shell("echo rewrite-me >> out.txt")
    outcome = await world.run(program, [{"tool_calls": [shell]}, DONE])
    assert world.read() == ["rewritten"], outcome.output


@run_with_all
async def test_an_injected_text_is_in_the_next_request(world: World, program: Program) -> None:
    """The command runs, and the model learns more than its output."""
    shell = program.call_shell("echo inject-me >> out.txt")
    outcome = await world.run(program, [{"tool_calls": [shell]}, DONE])
    assert world.read() == ["inject-me"], outcome.output
    assert "the-judge-adds-this" in outcome.asked[1]


@run_with(*ALL, "opencode")
async def test_a_replaced_result_is_what_the_model_reads(world: World, program: Program) -> None:
    """The command runs, and the model never sees what it printed."""
    shell = program.call_shell("echo replace-''this | tee out.txt")
    outcome = await world.run(program, [{"tool_calls": [shell]}, DONE])
    assert world.read() == ["replace-this"], outcome.output
    assert "the-judge-replaced-it" in outcome.asked[1]
    assert "replace-this" not in outcome.asked[1]


@run_with_all
async def test_a_hook_that_raises_denies(world: World, program: Program) -> None:
    """A guard with a fault is a closed door."""
    shell = program.call_shell("echo crash-me >> out.txt")
    outcome = await world.run(program, [{"tool_calls": [shell]}, DONE])
    assert world.read() == [], outcome.output
    assert len(outcome.asked) == 2
    trail = await asyncio.to_thread(read_trail, world)
    assert trail.list_calls() == [("echo crash-me >> out.txt", "deny")]


@run_with_all
async def test_a_hook_that_takes_too_long_denies(world: World, program: Program) -> None:
    """Our own deadline comes before that of the agent, after which it would run the command."""
    # With everything loaded, so that the limit is about the hook alone, also on a busy machine.
    await world.run(program, [DONE])
    shell = program.call_shell("echo hang-me >> out.txt")
    short = {"AMPLIFIER_GUEST_SECONDS": "15"}
    outcome = await world.run(program, [{"tool_calls": [shell]}, DONE], env=short)
    assert world.read("judging") == ["judging"]
    assert world.read() == [], outcome.output
    assert len(outcome.asked) == 2


@run_with_all
async def test_a_denied_prompt_never_reaches_the_model(world: World, program: Program) -> None:
    """Nothing is asked, so nothing can be called."""
    (world.project / "refuse-prompts").touch()
    shell = program.call_shell("echo ran >> out.txt")
    outcome = await world.run(program, [{"tool_calls": [shell]}, DONE])
    assert outcome.asked == [], outcome.output
    assert world.read() == []


@run_with_all
async def test_a_text_added_to_a_prompt_is_in_the_first_request(
    world: World, program: Program
) -> None:
    """The model reads it before it does anything."""
    (world.project / "explain-prompts").touch()
    outcome = await world.run(program, [DONE])
    assert "the-judge-explains" in outcome.asked[0], outcome.output


@run_with_all
async def test_a_denied_end_of_a_turn_has_the_agent_go_on(world: World, program: Program) -> None:
    """With the reason for the model to read, and not for ever: Codex and Gemini have no limit."""
    (world.project / "keep-working").touch()
    outcome = await world.run(program, [DONE])
    reasons = ["the-judge-wants-more" in one for one in outcome.asked]
    assert reasons[:2] == [False, True], outcome.output
    assert len(reasons) == 9  # once, and eight times more
    trail = await asyncio.to_thread(world.amplifier, "audit", "show", "--json")
    assert '"answer_ignored"' in trail


@run_with("claude")
async def test_refused_settings_do_not_switch_the_guard_off(world: World, program: Program) -> None:
    """A project that gets `disableAllHooks` while the agent works keeps its guard."""
    (world.project / "refuse-settings").touch()
    calls = (
        program.call_shell("touch started; sleep 6"),
        program.call_shell("echo deny-me >> out.txt"),
    )
    script: list[dict[str, object]] = [{"tool_calls": [one]} for one in calls]
    run = asyncio.create_task(world.run(program, [*script, DONE]))
    assert await wait_for((world.project / "started").exists, 60)
    (world.project / ".claude").mkdir()
    (world.project / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    outcome = await run
    assert world.read() == [], outcome.output
    assert len(outcome.asked) == 3
