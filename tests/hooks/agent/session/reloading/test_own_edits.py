"""Whose edits the changes of a session's files are."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import ORCHESTRATOR_COMPLETE, TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_hooks.agent.session.reloading.own_edits import OwnEdits
from amplifier_hooks.agent.session.reloading.watched_files import Stamp
from amplifier_hooks.agent.tools.todo import mount


class Wall:
    """A wall that ends the processes of these tools."""

    def __init__(self, *tools: str) -> None:
        self.tools = tools

    def ends_processes_of(self, tool: str) -> bool:
        return tool in self.tools


class Watched:
    """A session whose files change when `now` does."""

    def __init__(self, wall: Wall | None = None) -> None:
        self.now = 0
        self.host = SessionCoordinator(config={}, session_id="s")
        self.host.hooks.set_default_fields(session_id="s")
        if wall is not None:
            self.host.register_capability("session.wall", wall)
        self.edits = OwnEdits(self.host, self._stamp)
        self.edits.watch()

    def _stamp(self) -> Stamp:
        return (("file", self.now, 0, 0, 0),)

    async def tell(self, event: str, tool: str = "Todo", call: str = "1", **more: Any) -> None:
        data = {"tool_name": tool, "tool_input": {}, "tool_call_id": call, **more}
        await self.host.hooks.emit(event, data)


@pytest.fixture
async def watched() -> Watched:
    """A session with one tool of ours."""
    found = Watched(Wall("Bash"))
    await mount(found.host, {})
    return found


async def test_an_edit_between_calls_is_the_persons(watched: Watched) -> None:
    """Before the first, between two, and after the last."""
    for _ in range(2):
        watched.now += 1
        await watched.tell(TOOL_PRE)
        await watched.tell(TOOL_POST)
    watched.now += 1
    assert watched.edits.are_all


@pytest.mark.parametrize("end", [TOOL_POST, TOOL_ERROR])
async def test_an_edit_during_a_call_is_a_tools(watched: Watched, end: str) -> None:
    """Until the changes are in use, whoever made them."""
    await watched.tell(TOOL_PRE)
    assert not watched.edits.are_all
    watched.now += 1
    await watched.tell(end, error={"type": "x", "message": "y"})
    assert not watched.edits.are_all
    watched.edits.forget()
    assert watched.edits.are_all


async def test_calls_at_once_are_one_time(watched: Watched) -> None:
    """The last to end counts, and two sessions may use the same ids."""
    await watched.tell(TOOL_PRE, call="1")
    await watched.tell(TOOL_PRE, call="1", session_id="child")
    await watched.tell(TOOL_POST, call="1")
    assert not watched.edits.are_all
    watched.now += 1
    await watched.tell(TOOL_POST, call="1", session_id="child")
    assert not watched.edits.are_all


async def test_a_call_that_never_told_of_its_end_is_over_with_the_turn(watched: Watched) -> None:
    """One that a person refused, for instance; a child's turn is not the end."""
    await watched.tell(TOOL_PRE)
    await watched.tell(ORCHESTRATOR_COMPLETE, session_id="child")
    assert not watched.edits.are_all
    await watched.tell(ORCHESTRATOR_COMPLETE)
    assert watched.edits.are_all
    await watched.tell(TOOL_PRE)
    watched.now += 1
    await watched.edits.settle()
    assert not watched.edits.are_all


@pytest.mark.parametrize(
    ("tool", "wall", "trusted"),
    [
        ("Todo", None, True),
        ("Bash", Wall("Bash"), True),
        ("Bash", Wall(), False),
        ("Bash", None, False),
        ("Mine", Wall("Bash"), False),
        ("Mine", Wall("Mine"), True),
    ],
)
async def test_a_tool_that_may_leave_a_process_behind_ends_it(
    tool: str, wall: Wall | None, trusted: bool
) -> None:
    """From then on nobody can say who made an edit."""
    watched = Watched(wall)
    await mount(watched.host, {})
    await watched.tell(TOOL_PRE, tool)
    await watched.tell(TOOL_POST, tool)
    assert watched.edits.are_all is trusted
