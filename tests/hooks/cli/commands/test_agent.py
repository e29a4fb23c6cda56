"""The agent at the command line: turns, their outcome, what is saved, how it is stopped."""

from __future__ import annotations

import asyncio
import io
import os
import signal
from pathlib import Path

import pytest

from amplifier_hooks import SessionStore
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.agent import (
    EMPTY,
    STOPPED,
    Agent,
    AgentOptions,
    open_agent,
)
from amplifier_hooks.cli.commands.plan import NoModel
from amplifier_hooks.cli.display.line_display import LineDisplay
from tests.hooks.cli.conftest import Project
from tests.support.ecosystem import THEIR_LOOPS, entry
from tests.support.modules import imports_undone
from tests.support.sessions import calls
from tests.support.waiting import wait_until

HELLO = {"text": "Hello to you."}
DENY = """
from amplifier_core.models import HookResult

async def on_prompt_submit(event, data):
    return HookResult(action="deny", reason="not today")
"""


class Screen(LineDisplay):
    """A display whose lines can be read."""

    def __init__(self) -> None:
        self.answers, self.notes = io.StringIO(), io.StringIO()
        super().__init__(self.answers, self.notes)


async def test_a_turn_is_shown_counted_and_saved(project: Project) -> None:
    """Reply on the display, session in the store, with its facts."""
    project(HELLO)
    screen = Screen()
    async with open_agent(AgentOptions(), screen) as agent:
        assert await agent.run_turn("hi") == "Hello to you."
        assert (agent.turns, agent.status, agent.exit_code) == (1, "done", exit_codes.DONE)
        assert agent.make_remark("Hello to you.") is None
    assert screen.answers.getvalue() == "Hello to you.\n"
    (info,) = SessionStore().list()
    assert (info.turns, info.messages, info.working_dir) == (1, 2, str(Path.cwd()))


@pytest.mark.parametrize("loop", THEIR_LOOPS)
async def test_loops_of_the_ecosystem_are_shown_too(project: Project, loop: str) -> None:
    """The reply once, whatever they tell of it, and a turn that has ended well."""
    project(HELLO, session={"orchestrator": entry(loop)})
    screen = Screen()
    with imports_undone():
        async with open_agent(AgentOptions(), screen) as agent:
            for _ in range(2):
                await agent.run_turn("hi")
                assert (agent.status, agent.exit_code) == ("done", exit_codes.DONE)
    assert screen.answers.getvalue() == "Hello to you.\n" * 2


async def test_a_session_without_a_turn_is_not_saved(project: Project) -> None:
    """Neither is one that must not be."""
    project(HELLO)
    async with open_agent(AgentOptions(), Screen()):
        pass
    async with open_agent(AgentOptions(save=False), Screen()) as agent:
        await agent.run_turn("hi")
    assert SessionStore().list() == []


async def test_a_resumed_session_goes_on_counting(project: Project) -> None:
    """Under the same id, with the name that it was given."""
    project(HELLO)
    async with open_agent(AgentOptions(), Screen()) as agent:
        await agent.run_turn("one")
        agent.rename("My talk", "about things")
    (info,) = SessionStore().list()
    assert (info.name, info.description) == ("My talk", "about things")
    async with open_agent(AgentOptions(resume="My talk"), Screen()) as agent:
        assert agent.session.is_resumed
        await agent.run_turn("two")
    (again,) = SessionStore().list()
    assert (again.id, again.turns, again.name) == (info.id, 2, "My talk")


async def test_a_name_that_a_person_gave_stays(project: Project) -> None:
    """Neither a hook that names sessions nor going on another day changes it."""
    project(HELLO)
    for turns in (1, 5):
        resume = "My talk" if turns > 1 else None
        async with open_agent(AgentOptions(resume=resume), Screen()) as agent:
            if not resume:
                agent.rename("My talk")
            for number in range(turns):
                await agent.run_turn(f"give the talk another name, part {number}")
    (info,) = SessionStore().list()
    assert (info.name, info.turns) == ("My talk", 6)


async def test_no_hook_renames_what_a_person_named(project: Project) -> None:
    """Not one that asks nobody, and not ours where the person kept its name."""
    project(HELLO)
    async with open_agent(AgentOptions(), Screen()) as agent:
        await agent.run_turn("fix the parser")
        await wait_until(lambda: bool(agent.info.name))
        agent.rename(agent.info.name)
        kept = agent.info.name
        agent.session.coordinator.get_capability("session.rename")("Better", "by a hook")
        for number in range(5):
            await agent.run_turn(f"write the documentation, part {number}")
    (info,) = SessionStore().list()
    assert info.name == kept


async def test_a_session_that_nobody_named_is_named(project: Project) -> None:
    """By a hook, after its first turn."""
    project(HELLO)
    async with open_agent(AgentOptions(), Screen()) as agent:
        await agent.run_turn("fix the parser")
    (info,) = SessionStore().list()
    assert info.name


async def test_a_denied_prompt_is_an_outcome(project: Project, home: Path) -> None:
    """The reason is shown as an error, and the shell gets its code."""
    (home / "deny.py").write_text(DENY)
    project(HELLO, hooks=[{"module": "./deny.py"}])
    async with open_agent(AgentOptions(), Screen()) as agent:
        reply = await agent.run_turn("hi")
        assert (agent.status, agent.exit_code) == ("denied", exit_codes.DENIED)
        assert agent.make_remark(reply) == (reply, "error")
        assert "not today" in reply


async def test_a_limit_makes_a_turn_stopped(project: Project) -> None:
    """Not done: half the work is not all of it."""
    project(calls("Bash", command="echo on"), session={"max_turns": 1})
    async with open_agent(AgentOptions(), Screen()) as agent:
        await agent.run_turn("hi")
        assert (agent.status, agent.exit_code) == ("stopped", exit_codes.FAILED)


async def test_an_empty_reply_gets_a_remark(project: Project) -> None:
    """Nobody should wait for more."""
    project({})
    async with open_agent(AgentOptions(), Screen()) as agent:
        assert agent.make_remark(await agent.run_turn("hi")) == (EMPTY, "warning")


async def wait_for_tool(agent: Agent) -> None:
    async with asyncio.timeout(20):
        while agent.display.state.doing != "running Bash":
            await asyncio.sleep(0.01)


async def test_ctrl_c_stops_at_once(project: Project, home: Path) -> None:
    """What is running is ended with it; afterwards the signal is as it was."""
    before = signal.getsignal(signal.SIGINT)
    project(calls("Bash", command="sleep 30; echo through > sub/done.txt"), HELLO)
    (home / "sub").mkdir()  # commands make nothing new beside a folder that is hidden from them
    async with open_agent(AgentOptions(), Screen()) as agent:
        turn = asyncio.create_task(agent.run_turn("go"))
        await wait_for_tool(agent)
        os.kill(os.getpid(), signal.SIGINT)
        async with asyncio.timeout(20):
            reply = await turn
        assert (agent.status, agent.exit_code) == ("interrupted", exit_codes.INTERRUPTED)
        assert agent.make_remark(reply) == (STOPPED, "warning")
        assert agent.display.state.doing == "stopping"
        assert await agent.run_turn("and now?") == "Hello to you."
    assert not (home / "sub" / "done.txt").exists()
    assert signal.getsignal(signal.SIGINT) == before


FAILS = """
async def on_tool_pre(event, data):
    raise KeyError("path")
"""


async def test_failed_hooks_are_counted_for_each_turn(project: Project, home: Path) -> None:
    """A turn's last line says how many there were."""
    (home / "fails.py").write_text(FAILS)
    twice = [{"name": "Bash", "input": {"command": "true"}}] * 2
    project({"tool_calls": twice}, HELLO, {"text": "Fine."}, hooks=["./fails.py"])
    screen = Screen()
    async with open_agent(AgentOptions(), screen) as agent:
        await agent.run_turn("go")
        agent.display.show_result()
        assert agent.display.state.hook_failures == 2
        assert "2 hook failures" in screen.notes.getvalue()
        await agent.run_turn("again")
        assert agent.display.state.hook_failures == 0


async def test_flags_choose_the_model_before_the_session_starts(project: Project) -> None:
    """A model that is not there is said before anything runs."""
    project(HELLO)
    with pytest.raises(NoModel, match="provider-anthropic needs ANTHROPIC_API_KEY"):
        async with open_agent(AgentOptions(provider="anthropic"), Screen()):
            pass


async def test_a_message_of_the_command_names_no_hook(project: Project) -> None:
    """It is the command's own."""
    project(HELLO)
    screen = Screen()
    async with open_agent(AgentOptions(), screen) as agent:
        agent.notify("just so you know")
        agent.notify("careful", "warning")
    assert screen.notes.getvalue().endswith("\n· just so you know\n! careful\n")
