"""hooks-todo-display: remind the agent of its todo list, and show it to the user.

Listens to  provider:request, tool:post, orchestrator:complete
Answers     inject_context (ephemeral) for the agent, a user message when the list changed
Configure   inject, append_to_last_tool_result, role, show, hide_when_done, max_items, priority
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.events import ORCHESTRATOR_COMPLETE, PROVIDER_REQUEST, TOOL_POST
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult, Role
from amplifier_hooks.machine.text import to_one_line
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import Handler, is_own_event, subscribe

NAME = "hooks-todo-display"
Status = Literal["pending", "in_progress", "completed"]
_LONGEST_ITEM = 200
_BAR = 10
_FOR_AGENT = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
_FOR_USER = {"pending": "○", "in_progress": "▶", "completed": "✓"}


class Config(BaseModel):
    """The options of hooks-todo-display."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    inject: bool = True
    append_to_last_tool_result: bool = False
    role: Role = "system"
    show: bool = True
    hide_when_done: bool = True
    max_items: int = Field(30, ge=1, le=200)
    priority: int = 60


@dataclass(frozen=True, slots=True)
class Todo:
    """One task, readable whatever the list held."""

    text: str
    status: Status


def read_todos(state: Any) -> tuple[Todo, ...]:
    """The tasks of a todo state; entries that are none are left out."""
    if not isinstance(state, Sequence) or isinstance(state, str | bytes):
        return ()
    todos = (_read_todo(entry) for entry in list(state))
    return tuple(todo for todo in todos if todo is not None)


def _read_todo(entry: Any) -> Todo | None:
    if not isinstance(entry, Mapping):
        return None
    status = _read_status(entry.get("status"))
    content = entry.get("content")
    if status == "in_progress":
        content = entry.get("activeForm") or content
    text = to_one_line(content or "", _LONGEST_ITEM)
    return Todo(text, status) if text else None


def _read_status(value: Any) -> Status:
    """An unknown status is work still to do."""
    return value if value in ("in_progress", "completed") else "pending"


def count_done(todos: Sequence[Todo]) -> int:
    """How many are completed."""
    return sum(todo.status == "completed" for todo in todos)


def select_items(todos: Sequence[Todo], limit: int) -> tuple[list[Todo], int]:
    """What fits: when there are too many, the oldest completed ones give way, then the last."""
    surplus = max(len(todos) - limit, 0)
    kept: list[Todo] = []
    left_out = 0
    for todo in todos:
        if todo.status == "completed" and left_out < surplus:
            left_out += 1
        else:
            kept.append(todo)
    return kept[:limit], len(todos) - len(kept[:limit])


def format_lines(todos: Sequence[Todo], limit: int, marks: Mapping[str, str]) -> list[str]:
    """One line per task, and one for those left out."""
    kept, left_out = select_items(todos, limit)
    shown = [f"{marks[todo.status]} {todo.text}" for todo in kept]
    return [*shown, f"… {left_out} more"] if left_out else shown


def format_reminder(todos: Sequence[Todo], limit: int) -> str:
    """What the agent reads."""
    head = f"Your todo list ({count_done(todos)} of {len(todos)} done):"
    foot = "This is a reminder, not a message from the user. Keep the list up to date as you work."
    return "\n".join([head, *format_lines(todos, limit, _FOR_AGENT), foot])


def format_display(todos: Sequence[Todo], limit: int) -> str:
    """What the user reads."""
    finished = count_done(todos)
    total = len(todos)
    if not total:
        return "Todo list: empty"
    filled = _BAR * finished // total
    bar = "█" * filled + "░" * (_BAR - filled)
    return "\n".join([f"Todo {bar} {finished}/{total}", *format_lines(todos, limit, _FOR_USER)])


class TodoDisplay:
    """Reads `coordinator.todo_state`, which the Todo tool keeps."""

    def __init__(self, coordinator: Host, config: Config) -> None:
        self._coordinator = coordinator
        self._config = config
        self._shown = self._read_todos()

    def _read_todos(self) -> tuple[Todo, ...]:
        return read_todos(getattr(self._coordinator, "todo_state", None))

    async def on_request(self, event: str, data: dict[str, Any]) -> HookResult:
        todos = self._read_todos() if is_own_event(self._coordinator, data) else ()
        if not todos or (self._config.hide_when_done and count_done(todos) == len(todos)):
            return HookResult(action="continue")
        return HookResult(
            action="inject_context",
            context_injection=format_reminder(todos, self._config.max_items),
            context_injection_role=self._config.role,
            ephemeral=True,
            append_to_last_tool_result=self._config.append_to_last_tool_result,
        )

    async def on_change(self, event: str, data: dict[str, Any]) -> HookResult:
        todos = self._read_todos()
        if todos == self._shown:
            return HookResult(action="continue")
        self._shown = todos
        return HookResult(user_message=format_display(todos, self._config.max_items))


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen."""
    settings = await parse_known(coordinator, Config, config, NAME)
    todos = TodoDisplay(coordinator, settings)
    handlers: list[tuple[str, Handler]] = []
    if settings.inject:
        handlers += [(PROVIDER_REQUEST, todos.on_request)]
    if settings.show:
        handlers += [(TOOL_POST, todos.on_change), (ORCHESTRATOR_COMPLETE, todos.on_change)]
    return subscribe(coordinator, NAME, settings.priority, handlers)
