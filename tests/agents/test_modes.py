"""Every way to start an agent: a denied call does not run, or it is said that nobody judges it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from amplifier_hooks.agent.model_server import ModelServer
from amplifier_hooks.coding_agents.known import MODES
from amplifier_hooks.coding_agents.known.agent import Mode
from tests.agents.programs import PROGRAMS
from tests.agents.starts import (
    DENIED,
    STARTS,
    Start,
    build_command,
    find_port,
    find_program,
    write_script,
)
from tests.agents.trails import Trail, read_trails
from tests.agents.world import Outcome, World

pytestmark = pytest.mark.agents

_LONGEST = 100.0


def list_modes(*, holds: bool, shown: bool = False) -> pytest.MarkDecorator:
    """The ways of a kind."""
    found = [one for one in MODES if one.holds is holds and bool(one.options) is shown]
    return pytest.mark.parametrize("mode", found, ids=lambda mode: mode.start)


@list_modes(holds=True)
async def test_a_denied_call_does_not_run_in_this_mode(bare_world: World, mode: Mode) -> None:
    """The model or the person reads why, and the trail has the call."""
    outcome, trails = await start(bare_world, mode)
    assert bare_world.read() == [], outcome.output
    assert "the-judge-refuses" in "".join((*outcome.asked, outcome.output)), outcome.output
    assert (DENIED, "deny") in [call for trail in trails for call in trail.list_calls()]


@list_modes(holds=False, shown=True)
async def test_no_prompt_is_accepted_in_this_mode(bare_world: World, mode: Mode) -> None:
    """The agent would run tools unasked, and other events show that: nothing reaches its model."""
    outcome, trails = await start(bare_world, mode)
    assert bare_world.read() == [], outcome.output
    assert outcome.asked == []
    refused = [one for trail in trails for one in trail.list_events("prompt:submit")]
    assert [one["action"] for one in refused] == ["deny"]
    assert mode.start in str(refused)
    assert mode.start in outcome.output  # which editors keep as the log of the agent
    assert mode.start in bare_world.guard(find_program(STARTS[mode.start]), "--status")


@list_modes(holds=False)
async def test_what_nobody_is_asked_about_is_named_by_the_status(
    bare_world: World, mode: Mode
) -> None:
    """Nothing of ours is called before, so nothing can be refused: a person has to know."""
    outcome, trails = await start(bare_world, mode)
    assert bare_world.read() == ["deny-me"], outcome.output
    assert [call for trail in trails for call in trail.list_calls()] == []
    said = " ".join(bare_world.guard(find_program(STARTS[mode.start]), "--status").split())
    assert mode.start in said.partition("not guarded: ")[2]


async def start(world: World, mode: Mode) -> tuple[Outcome, list[Trail]]:
    """Guard the agent and start it in this way, behind another session if the way needs one."""
    chosen = STARTS[mode.start]
    program = PROGRAMS[mode.agent]
    world.set_up(program)
    world.write_bundle()
    world.guard(program, "--user")
    chosen.prepare(world)
    async with ModelServer(write_script(chosen), per_conversation=True) as server:
        if chosen.first:
            await _run(world, chosen, chosen.first, server.url)
        server.requests.clear()
        output = await _run(world, chosen, chosen.words, server.url)
        outcome = Outcome(None, output, list(server.requests))
    return outcome, await asyncio.to_thread(read_trails, world)


async def _run(world: World, chosen: Start, words: tuple[str, ...], url: str) -> str:
    if "SERVER" in words:
        return await _run_attached(world, chosen, words, url)
    program = find_program(chosen)
    command = build_command(chosen, words, world, url)
    log = world.home / "log.txt"
    process = await world.start_command(program, command, url, chosen.env, log=log)
    talk = chosen.talk if words is chosen.words else None
    try:
        async with asyncio.timeout(_LONGEST):
            if talk is not None:
                await talk(process, world)
            assert process.stdin is not None
            process.stdin.close()
            output, _ = await process.communicate() if talk is None else (b"", b"")
            await _wait_for_end(process)
    finally:
        await world.end(process)
    return output.decode(errors="replace") + log.read_text(errors="replace")


async def _wait_for_end(process: asyncio.subprocess.Process) -> None:
    """Some servers stay when their input ends."""
    with suppress(TimeoutError):
        await asyncio.wait_for(process.communicate(), 10)


async def _run_attached(world: World, chosen: Start, words: tuple[str, ...], url: str) -> str:
    port = find_port()
    program, log = find_program(chosen), world.home / "server.txt"
    serve = build_command(chosen, ("serve", "--port", str(port)), world, url)
    server = await world.start_command(program, serve, url, log=log)
    try:
        assert server.stdout is not None
        await asyncio.wait_for(server.stdout.readuntil(b"listening on"), _LONGEST)
        there = tuple(word.replace("SERVER", f"http://127.0.0.1:{port}") for word in words)
        return await _run(world, chosen, there, url)
    finally:
        await world.end(server)


def test_every_mode_of_the_table_is_tried() -> None:
    """And none is tried that the table does not have."""
    assert sorted(STARTS) == sorted(one.start for one in MODES)
