"""Todo keeps the list that hooks-todo-display shows."""

from __future__ import annotations

import pytest

from amplifier_hooks.agent.tools import todo

STEPS = [
    {"content": "Read it", "status": "completed", "activeForm": "Reading it"},
    {"content": "Fix it", "status": "in_progress", "activeForm": "Fixing it"},
    {"content": "Test it", "status": "pending", "activeForm": "Testing it"},
]


@pytest.fixture
async def call(coordinator):
    await todo.mount(coordinator, {"max_items": 5})

    async def execute(**given):
        return await coordinator.tools["Todo"].execute(given)

    return execute


async def test_the_list_is_replaced_as_a_whole(call, coordinator):
    """It stands on the coordinator, where hooks find it, and is shown."""
    result = await call(todos=STEPS)
    assert coordinator.todo_state == STEPS
    assert result.output == "[x] Read it\n[>] Fix it\n[ ] Test it\n1 of 3 done"
    await call(todos=STEPS[:1])
    assert coordinator.todo_state == STEPS[:1]
    await call(todos=[])
    assert coordinator.todo_state == []


async def test_without_a_list_the_present_one_is_shown(call, coordinator):
    """Looking changes nothing."""
    assert (await call()).output == "The list is empty."
    await call(todos=STEPS)
    assert "[>] Fix it" in (await call()).output
    assert coordinator.todo_state == STEPS


async def test_what_is_left_out_is_filled_in(call, coordinator):
    """Only the content is needed."""
    await call(todos=[{"content": "Fix it"}])
    expected = {"content": "Fix it", "status": "pending", "activeForm": "Fix it"}
    assert coordinator.todo_state == [expected]


@pytest.mark.parametrize(
    ("todos", "word"),
    [
        ([{"content": ""}], "at least 1 character"),
        ([{"content": "x", "status": "done"}], "'todos.0.status' cannot be 'done'"),
        ([{"content": "x", "state": "pending"}], "did you mean 'status'?"),
        ([STEPS[1], STEPS[1]], "Only one item can be in_progress"),
        ([STEPS[0]] * 6, "at most 5"),
        ("Fix it", "'todos' cannot be 'Fix it'"),
    ],
)
async def test_a_wrong_list_changes_nothing(call, coordinator, todos, word):
    """A refused input is a sentence, and the former list stays."""
    await call(todos=STEPS)
    result = await call(todos=todos)
    assert not result.success
    assert word in result.error
    assert coordinator.todo_state == STEPS


async def test_the_list_is_saved_with_the_session(call, coordinator, work):
    """A resumed session has its list again."""
    await call(todos=STEPS)
    saved = coordinator.session_state
    del coordinator.todo_state
    coordinator.session_state = {}
    await todo.mount(coordinator, None)
    assert coordinator.todo_state == []
    coordinator.session_state = saved
    await todo.on_session_ready(coordinator)
    assert coordinator.todo_state == STEPS


async def test_what_is_saved_is_a_copy(call, coordinator):
    """Changing the live list does not reach into the saved one."""
    await call(todos=STEPS)
    coordinator.todo_state[0]["content"] = "changed"
    assert coordinator.session_state["todo_state"] == STEPS


async def test_a_coordinator_that_saves_nothing_has_a_list_all_the_same(call, coordinator):
    """It is gone with the session."""
    coordinator.session_state = None
    await call(todos=STEPS)
    assert coordinator.todo_state == STEPS
    await todo.on_session_ready(coordinator)
    assert coordinator.todo_state == STEPS
