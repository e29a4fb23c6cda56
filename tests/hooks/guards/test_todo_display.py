"""hooks-todo-display: the todo list for the agent and for the user."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.todo_display import (
    Todo,
    format_reminder,
    mount,
    read_todos,
    select_items,
)

LIST = [
    {"content": "Read the code", "status": "completed", "activeForm": "Reading the code"},
    {"content": "Fix the bug", "status": "in_progress", "activeForm": "Fixing the bug"},
    {"content": "Run the tests", "status": "pending", "activeForm": "Running the tests"},
]


async def test_the_agent_sees_the_list_and_it_is_never_stored(harness: Any) -> None:
    """Todo list as ephemeral context for the agent on provider:request."""
    harness.coordinator.todo_state = LIST
    async with harness.mounted("todo_display"):
        result = await harness.emit("provider:request", messages=[])
    assert result.action == "inject_context"
    assert result.ephemeral
    assert str(result.context_injection).splitlines()[:4] == [
        "Your todo list (1 of 3 done):",
        "[x] Read the code",
        "[>] Fixing the bug",
        "[ ] Run the tests",
    ]


@pytest.mark.parametrize("placed", [True, False])
async def test_where_the_reminder_goes_is_configured(harness: Any, placed: bool) -> None:
    """append_to_last_tool_result by config."""
    harness.coordinator.todo_state = LIST
    async with harness.mounted("todo_display", {"append_to_last_tool_result": placed}):
        result = await harness.emit("provider:request", messages=[])
    assert result.append_to_last_tool_result is placed


async def test_the_user_sees_the_list_when_it_changes_and_only_then(harness: Any) -> None:
    """As a progress display for the user when it changes."""
    async with harness.mounted("todo_display"):
        assert (await harness.call("Read", {}))[-1].user_message is None
        harness.coordinator.todo_state = [dict(todo) for todo in LIST]
        shown = (await harness.call("Todo", {}))[-1].user_message
        assert (await harness.call("Read", {}))[-1].user_message is None
        harness.coordinator.todo_state[1]["status"] = "completed"
        changed = (await harness.call("Todo", {}))[-1].user_message
    assert shown == "Todo ███░░░░░░░ 1/3\n✓ Read the code\n▶ Fixing the bug\n○ Run the tests"
    assert str(changed).startswith("Todo ██████░░░░ 2/3")


@pytest.mark.parametrize("state", [None, [], "text", [1, None], [{"content": ""}], {"a": 1}])
async def test_no_list_is_no_reminder(harness: Any, state: Any) -> None:
    """Whatever todo_state holds, an empty list says nothing."""
    harness.coordinator.todo_state = state
    async with harness.mounted("todo_display"):
        assert (await harness.emit("provider:request", messages=[])).action == "continue"


async def test_a_finished_list_is_no_reminder_unless_wanted(harness: Any) -> None:
    """When all is done there is nothing to remember."""
    harness.coordinator.todo_state = [{"content": "x", "status": "completed"}]
    async with harness.mounted("todo_display"):
        assert (await harness.emit("provider:request")).action == "continue"
    async with harness.mounted("todo_display", {"hide_when_done": False}):
        assert (await harness.emit("provider:request")).action == "inject_context"


async def test_a_sub_agent_does_not_get_its_parents_list(harness: Any) -> None:
    """A child has a list of its own."""
    harness.coordinator.todo_state = LIST
    async with harness.mounted("todo_display"):
        assert (await harness.emit("provider:request", session_id="child")).action == "continue"


async def test_either_half_can_be_turned_off(harness: Any) -> None:
    """`inject` and `show` are separate."""
    harness.coordinator.todo_state = LIST
    async with harness.mounted("todo_display", {"inject": False}):
        assert (await harness.emit("provider:request")).action == "continue"
    async with harness.mounted("todo_display", {"show": False}):
        harness.coordinator.todo_state = []
        assert (await harness.call("Todo", {}))[-1].user_message is None


statuses = st.sampled_from(["pending", "in_progress", "completed", "odd", None])
entries = st.fixed_dictionaries({"content": st.text(max_size=400), "status": statuses})


@given(st.lists(entries, max_size=300), st.integers(1, 40))
def test_the_reminder_stays_below_the_injection_limit(todos: list[Any], limit: int) -> None:
    """However long the list, what is injected fits and the open tasks come first."""
    read = read_todos(todos)
    kept, left_out = select_items(read, limit)
    assert len(kept) <= limit
    assert len(kept) + left_out == len(read)
    still_open = [todo for todo in read if todo.status != "completed"]
    assert [todo for todo in kept if todo.status != "completed"] == still_open[:limit]
    assert len(format_reminder(read, 12)) < 10_240


def test_controls_in_a_task_cannot_touch_the_terminal() -> None:
    """What a model writes into a task is shown, not obeyed."""
    assert read_todos([{"content": "a\x1b[2J\nb\u202e"}]) == (Todo("a[2J b", "pending"),)


async def test_a_wrong_role_is_refused(harness: Any) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError, match="hooks-todo-display: option 'role' cannot be 'boss'"):
        await mount(harness.coordinator, {"role": "boss"})
