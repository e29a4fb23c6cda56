"""tool-todo: the agent's own list of what is to be done.

Keeps       coordinator.todo_state, a list of {"content", "status", "activeForm"}; it is saved
Configure   max_items
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field, PositiveInt

from amplifier_core.interfaces import Cleanup
from amplifier_core.models import ToolResult
from amplifier_foundation.modules.options import parse_config
from amplifier_foundation.tools.base import InputTool, Refused, mount_tools

Status = Literal["pending", "in_progress", "completed"]

_SAVED = "todo_state"
_MARKS: dict[str, str] = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


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

    def __init__(self, coordinator: Any, config: TodoConfig) -> None:
        self._coordinator = coordinator
        self._config = config

    async def run(self, given: TodoInput) -> ToolResult:
        if given.todos is not None:
            self._replace(given.todos)
        return ToolResult(output=_shown(self._coordinator.todo_state))

    def _replace(self, items: list[Item]) -> None:
        if len(items) > self._config.max_items:
            raise Refused(f"{len(items)} items are too many; at most {self._config.max_items}")
        active = [item.content for item in items if item.status == "in_progress"]
        if len(active) > 1:
            raise Refused(f"Only one item can be in_progress, not {len(active)}: {active[:5]}")
        state = [
            {**item.model_dump(), "activeForm": item.activeForm or item.content} for item in items
        ]
        self._coordinator.todo_state = state
        _saved(self._coordinator)[_SAVED] = [dict(item) for item in state]


def _saved(coordinator: Any) -> dict[str, Any]:
    """What is saved with the session, where the coordinator has such a thing."""
    state = getattr(coordinator, "session_state", None)
    return state if isinstance(state, dict) else {}


def _shown(state: list[dict[str, str]]) -> str:
    if not state:
        return "The list is empty."
    counts = Counter(item["status"] for item in state)
    summary = f"{counts['completed']} of {len(state)} done"
    return "\n".join([f"{_MARKS[item['status']]} {item['content']}" for item in state] + [summary])


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> Cleanup:
    """Mount Todo with the list of the saved session, or an empty one."""
    options = parse_config(TodoConfig, config, "tool-todo")
    _restore(coordinator)
    return await mount_tools(coordinator, [Todo(coordinator, options)], None, "tool-todo")


async def on_session_ready(coordinator: Any) -> None:
    """A resumed session may get its state after the mounts."""
    _restore(coordinator)


def _restore(coordinator: Any) -> None:
    if not getattr(coordinator, "todo_state", None):
        coordinator.todo_state = [dict(item) for item in _saved(coordinator).get(_SAVED, [])]
