"""tool-todo: the agent's list of steps.

Keeps       coordinator.todo_state, a list of {"content", "status", "activeForm"}; it is saved
Configure   max_items
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar, Literal, Protocol, cast

from pydantic import BaseModel, Field, PositiveInt

from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import ToolResult
from amplifier_hooks.agent.tools.base import InputTool, Refused, mount_tools
from amplifier_hooks.modules.options import parse_known

NAME = "tool-todo"
Status = Literal["pending", "in_progress", "completed"]

_SAVED = "todo_state"
_MARKS: dict[str, str] = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


class TodoHost(Host, Protocol):
    """A session with a list: this tool puts it there, hooks-todo-display reads it."""

    todo_state: list[dict[str, str]]


class TodoConfig(BaseModel):
    """Options of tool-todo."""

    max_items: PositiveInt = 200


class Item(BaseModel):
    """One thing to do."""

    content: str = Field(min_length=1, max_length=1000, description="What is to be done: Run tests")
    status: Status = Field("pending", description="Where it stands")
    activeForm: str = Field(  # noqa: N815 - the specified key
        "", max_length=1000, description="The same while it is being done: Running tests"
    )


class TodoInput(BaseModel):
    """What Todo is told."""

    todos: list[Item] | None = Field(
        None, description="The whole new list; leave it out to see the present one"
    )


class Todo(InputTool[TodoInput]):
    """Replaces or shows the list."""

    name = "Todo"
    description = (
        "Keep a list of the steps of a larger task. `todos` is the whole list, which replaces the "
        "former one; without it the present list is shown. Mark a step in_progress when you begin "
        "it (one at a time) and completed as soon as it is done. Not needed for a task of one step."
    )
    input_model: ClassVar[type[BaseModel]] = TodoInput

    def __init__(self, host: TodoHost, config: TodoConfig) -> None:
        self._host = host
        self._config = config

    async def run(self, given: TodoInput) -> ToolResult:
        """Replace the list if there is a new one, and show it."""
        if given.todos is not None:
            self._replace(given.todos)
        return ToolResult(output=_format_list(self._host.todo_state))

    def _replace(self, items: list[Item]) -> None:
        if len(items) > self._config.max_items:
            raise Refused(f"{len(items)} items are too many; at most {self._config.max_items}")
        active = [item.content for item in items if item.status == "in_progress"]
        if len(active) > 1:
            raise Refused(f"Only one item can be in_progress, not {len(active)}: {active[:5]}")
        state = [
            {**item.model_dump(), "activeForm": item.activeForm or item.content} for item in items
        ]
        self._host.todo_state = state
        _get_saved_state(self._host)[_SAVED] = [dict(item) for item in state]


def _format_list(state: list[dict[str, str]]) -> str:
    if not state:
        return "The list is empty."
    counts = Counter(item["status"] for item in state)
    summary = f"{counts['completed']} of {len(state)} done"
    return "\n".join([f"{_MARKS[item['status']]} {item['content']}" for item in state] + [summary])


def _get_saved_state(host: Host) -> dict[str, Any]:
    """What is saved with the session; a coordinator of the ecosystem saves nothing."""
    state = getattr(host, "session_state", None)
    return state if isinstance(state, dict) else {}


def _restore(coordinator: Host) -> TodoHost:
    """The list of the saved session, or an empty one, unless there is a list already."""
    host = cast(TodoHost, coordinator)
    if not getattr(host, "todo_state", None):
        host.todo_state = [dict(item) for item in _get_saved_state(host).get(_SAVED, [])]
    return host


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Mount Todo with the list of the saved session, or an empty one."""
    options = await parse_known(coordinator, TodoConfig, config, NAME)
    tool = Todo(_restore(coordinator), options)
    return await mount_tools(coordinator, [tool], None, NAME)


async def on_session_ready(coordinator: Host) -> None:
    """A resumed session may get its state after the mounts."""
    _restore(coordinator)
